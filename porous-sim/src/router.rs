//! The behaviour of a router that hides a host, in the words of RFC 4787.

use alloc::vec::Vec;
use core::time::Duration;

use crate::SimAddress;

/// The part of a remote address that a router looks at (RFC 4787 §4.1, §5).
///
/// ```
/// use porous_sim::NatRule;
///
/// assert_eq!(NatRule::ALL.len(), 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NatRule {
    /// None: the rule is the same for all remote addresses.
    EndpointIndependent,
    /// The machine.
    AddressDependent,
    /// The machine and the port.
    AddressAndPortDependent,
}

impl NatRule {
    /// All rules, the most permissive first.
    ///
    /// ```
    /// use porous_sim::NatRule;
    ///
    /// assert_eq!(NatRule::ALL[0], NatRule::EndpointIndependent);
    /// ```
    pub const ALL: [Self; 3] = [
        Self::EndpointIndependent,
        Self::AddressDependent,
        Self::AddressAndPortDependent,
    ];
}

/// A router for [`World::add_router`](crate::World::add_router). A new one is like most routers at home:
/// it shows its host under one address to all remotes, lets in only machines and ports that the host has
/// sent to, shuts a way in after 2 min, and does not hairpin.
///
/// ```
/// use core::time::Duration;
/// use porous_sim::{NatRule, Router};
///
/// const fn same_machine(a: u32, b: u32) -> bool {
///     a / 10 == b / 10
/// }
/// let symmetric = Router::new(&[100, 101, 102])
///     .mapping(NatRule::AddressAndPortDependent)
///     .filtering(NatRule::AddressDependent)
///     .machines(same_machine)
///     .timeout(Duration::from_secs(30));
/// # let _ = symmetric;
/// ```
#[derive(Clone, Debug)]
pub struct Router<A> {
    pub(crate) outside: Vec<A>,
    pub(crate) mapping: NatRule,
    pub(crate) filtering: NatRule,
    pub(crate) same_machine: fn(A, A) -> bool,
    pub(crate) timeout: Duration,
    pub(crate) hairpins: bool,
    pub(crate) forwards: bool,
}

impl<A: SimAddress> Router<A> {
    /// A router that shows its host under these addresses, the next one for each new mapping.
    ///
    /// # Panics
    ///
    /// If `outside` is empty.
    ///
    /// ```
    /// use porous_sim::Router;
    ///
    /// let router = Router::new(&[100]);
    /// # let _ = router;
    /// ```
    #[must_use]
    pub fn new(outside: &[A]) -> Self {
        assert!(!outside.is_empty(), "a router has an address");
        Self {
            outside: outside.to_vec(),
            mapping: NatRule::EndpointIndependent,
            filtering: NatRule::AddressAndPortDependent,
            same_machine: |a, b| a == b,
            timeout: Duration::from_secs(120),
            hairpins: false,
            forwards: false,
        }
    }

    /// Which address of the router is shown to a remote: the same to all remotes, the same to all ports
    /// of a machine, or another one to each port. At first: the same to all.
    ///
    /// ```
    /// use porous_sim::{NatRule, Router};
    ///
    /// let symmetric = Router::new(&[100, 101]).mapping(NatRule::AddressAndPortDependent);
    /// # let _ = symmetric;
    /// ```
    #[must_use]
    pub const fn mapping(mut self, rule: NatRule) -> Self {
        self.mapping = rule;
        self
    }

    /// Which remotes get in at an address that was shown to one: all, all ports of a machine that the
    /// host has sent to, or only the ports that the host has sent to. At first: only these ports.
    ///
    /// ```
    /// use porous_sim::{NatRule, Router};
    ///
    /// let full_cone = Router::new(&[100]).filtering(NatRule::EndpointIndependent);
    /// # let _ = full_cone;
    /// ```
    #[must_use]
    pub const fn filtering(mut self, rule: NatRule) -> Self {
        self.filtering = rule;
        self
    }

    /// A function that is true for two addresses which are ports of one machine. Without it, each address
    /// is a machine of its own.
    ///
    /// ```
    /// use porous_sim::Router;
    ///
    /// let router = Router::new(&[100]).machines(|a, b| a / 10 == b / 10);
    /// # let _ = router;
    /// ```
    #[must_use]
    pub const fn machines(mut self, same: fn(A, A) -> bool) -> Self {
        self.same_machine = same;
        self
    }

    /// How long a way in stays open after the last datagram that left by it.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_sim::Router;
    ///
    /// let router = Router::new(&[100]).timeout(Duration::from_secs(30));
    /// # let _ = router;
    /// ```
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Makes the router send datagrams from its own network back in (RFC 4787 §6).
    ///
    /// ```
    /// use porous_sim::Router;
    ///
    /// let router = Router::new(&[100]).hairpins();
    /// # let _ = router;
    /// ```
    #[must_use]
    pub const fn hairpins(mut self) -> Self {
        self.hairpins = true;
        self
    }

    /// Lets all remotes in at the first address of the router, as if its owner had configured port
    /// forwarding.
    ///
    /// ```
    /// use porous_sim::Router;
    ///
    /// let router = Router::new(&[100]).forwards();
    /// # let _ = router;
    /// ```
    #[must_use]
    pub const fn forwards(mut self) -> Self {
        self.forwards = true;
        self
    }
}
