//! What a host keeps to admit the bearers of tokens: the time, and the tokens that were used.

use alloc::boxed::Box;
use core::net::IpAddr;

use crate::seal::gate::Admission;
use crate::seal::used::UsedTokens;
use crate::seal::{Claims, Psk, Security, TokenRefusal};
use crate::time::Instant;

/// The door of a host.
#[derive(Debug)]
pub(super) struct Door<A> {
    /// The Unix second that it was at some time, and that time.
    clock: Option<(Instant, u64)>,
    ip_of: Option<fn(&A) -> IpAddr>,
    /// There once a token of one use has come: the table is large.
    used: Option<Box<UsedTokens>>,
}

/// The bearer of a token, who has not yet proved to have its secret.
#[derive(Debug)]
pub(super) struct Bearer {
    admission: Admission,
    /// The Unix second.
    now: u64,
}

impl Bearer {
    /// What the bearer has to have.
    pub(super) const fn psk(&self) -> &Psk {
        &self.admission.psk
    }
}

impl<A> Default for Door<A> {
    fn default() -> Self {
        Self {
            clock: None,
            ip_of: None,
            used: None,
        }
    }
}

impl<A> Door<A> {
    pub(super) const fn set_unix_time(&mut self, now: Instant, seconds: u64) {
        self.clock = Some((now, seconds));
    }

    pub(super) const fn set_ip_of(&mut self, ip_of: fn(&A) -> IpAddr) {
        self.ip_of = Some(ip_of);
    }

    /// Looks at a token that came from this address. Nothing is used by that.
    pub(super) fn look(
        &mut self,
        token: &[u8],
        (from, now): (&A, Instant),
        security: &Security,
        application: u64,
    ) -> Result<Bearer, TokenRefusal> {
        let unix = self.clock.map(|(at, seconds)| {
            let since = now.saturating_duration_since(at);
            seconds.saturating_add(since.as_secs())
        });
        let ip = self.ip_of.map(|ip_of| mapped(ip_of(from)));
        let admission = security.check_token(application, token, unix, ip)?;
        if admission.claims.is_single_use() {
            let limit = security.used_limit();
            let used = self
                .used
                .get_or_insert_with(|| Box::new(UsedTokens::new(limit)));
            used.check(&admission.id, admission.until)?;
        }
        let now = unix.unwrap_or_default(); // known, as the gate wants it to be
        Ok(Bearer { admission, now })
    }

    /// Lets in a bearer who has proved to have the secret. A token of one use is used by that.
    pub(super) fn admit(&mut self, bearer: Bearer) -> Result<Claims, TokenRefusal> {
        let Bearer { admission, now } = bearer;
        let used = self
            .used
            .as_mut()
            .filter(|_| admission.claims.is_single_use());
        if let Some(used) = used {
            used.spend(&admission.id, admission.until, now)?;
        }
        Ok(admission.claims)
    }
}

/// As IPv6: an address of IPv4 is mapped to it.
const fn mapped(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
        IpAddr::V6(ip) => ip.octets(),
    }
}
