//! The state machine of an endpoint: a host of the core or, with the feature `trace`, one that can be recorded.

#[cfg(not(feature = "trace"))]
use core::net::SocketAddr;

use getrandom::SysRng;
#[cfg(not(feature = "trace"))]
use porous_proto::ip_source;
use porous_proto::{Config, Host};
#[cfg(feature = "trace")]
use porous_trace::{Noted, TracedHost};
use rand_core::UnwrapErr;

/// The random source of an [`Endpoint`](crate::Endpoint): the operating system's.
/// [`Endpoint::new`](crate::Endpoint::new) fails if the system has none; a source that fails later, as that of no
/// known system does, panics. With the feature `trace` the source notes what it draws while the host is recorded.
#[cfg(not(feature = "trace"))]
pub type OsRng = UnwrapErr<SysRng>;

/// The random source of an [`Endpoint`](crate::Endpoint): the operating system's, which notes what it draws while
/// the host is recorded. [`Endpoint::new`](crate::Endpoint::new) fails if the system has none; a source that fails
/// later, as that of no known system does, panics.
#[cfg(feature = "trace")]
pub type OsRng = Noted<UnwrapErr<SysRng>>;

/// All calls that change the host go through it. A recording misses none, as the host that can be recorded lets
/// nobody else have it mutable.
#[cfg(not(feature = "trace"))]
pub(crate) type Machine = Host<OsRng>;

#[cfg(feature = "trace")]
pub(crate) type Machine = TracedHost<UnwrapErr<SysRng>>;

/// A host whose addresses are those of IP.
#[cfg(not(feature = "trace"))]
pub(crate) fn new(config: Config) -> Machine {
    let mut host = Host::new(config, UnwrapErr(SysRng));
    host.set_same_host(|a: &SocketAddr, b| a.ip() == b.ip());
    host.set_source_of(|from| ip_source(from.ip()));
    #[cfg(feature = "seal")]
    host.set_ip_of(SocketAddr::ip);
    host
}

#[cfg(feature = "trace")]
pub(crate) fn new(config: Config) -> Machine {
    TracedHost::new(config, UnwrapErr(SysRng))
}

/// The same as it is, for questions.
pub(crate) const fn host(machine: &Machine) -> &Host<OsRng> {
    #[cfg(not(feature = "trace"))]
    return machine;
    #[cfg(feature = "trace")]
    return machine.host();
}
