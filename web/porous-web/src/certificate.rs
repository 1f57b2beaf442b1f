//! The certificates by which browsers know a server.

use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;
use std::io;
use std::path::PathBuf;

use wtransport::Identity;
use wtransport::tls::self_signed::time::OffsetDateTime;

/// The longest life of a certificate that browsers take by its hash: 14 days (WebTransport, "custom certificate
/// requirements"). An hour less, which is how far it begins in the past.
const LONGEST: Duration = Duration::from_secs(14 * 24 * 3600 - 3600);

/// A certificate begins an hour in the past, as the clock of a browser may be behind.
const BEFORE: Duration = Duration::from_secs(3600);

/// How a server proves to browsers that it is itself.
///
/// ```
/// use porous_web::Certificate;
///
/// let for_development = Certificate::self_signed(["localhost", "127.0.0.1"]);
/// let for_production = Certificate::pem_files("fullchain.pem", "privkey.pem");
/// # let _ = (for_development, for_production);
/// ```
#[derive(Clone)]
pub struct Certificate(Kind);

#[derive(Clone)]
enum Kind {
    SelfSigned(Vec<String>),
    Pem { chain: PathBuf, key: PathBuf },
    Ready(Arc<Identity>),
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::SelfSigned(names) => f.debug_tuple("SelfSigned").field(names).finish(),
            Kind::Pem { chain, .. } => f.debug_tuple("Pem").field(chain).finish(),
            // Not its secret key.
            Kind::Ready(_) => f.write_str("Ready"),
        }
    }
}

impl Certificate {
    /// A certificate that the host makes by itself, for these names and IP addresses. A browser takes it if the page
    /// gives its [hash](crate::WebHost::certificate_hash) to `new WebTransport` as `serverCertificateHashes`. It is
    /// valid for 14 days, as no browser takes more, and the host makes another one after half of that: a page asks
    /// for the hash each time before it connects.
    ///
    /// ```
    /// let certificate = porous_web::Certificate::self_signed(["localhost", "127.0.0.1", "::1"]);
    /// # let _ = certificate;
    /// ```
    #[must_use]
    pub fn self_signed<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self(Kind::SelfSigned(
            names.into_iter().map(Into::into).collect(),
        ))
    }

    /// A certificate that an authority has signed, from a file with the chain and one with the secret key, both in
    /// PEM. Browsers take it without a hash. When the files have changed, call
    /// [`WebHost::set_certificate`](crate::WebHost::set_certificate).
    ///
    /// ```
    /// let certificate = porous_web::Certificate::pem_files("fullchain.pem", "privkey.pem");
    /// # let _ = certificate;
    /// ```
    #[must_use]
    pub fn pem_files(chain: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        let (chain, key) = (chain.into(), key.into());
        Self(Kind::Pem { chain, key })
    }

    /// A certificate and its key that the program has made or loaded.
    ///
    /// ```
    /// use porous_web::{Certificate, wtransport::Identity};
    ///
    /// let certificate = Certificate::ready(Identity::self_signed(["localhost"])?);
    /// # let _ = certificate;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn ready(identity: Identity) -> Self {
        Self(Kind::Ready(Arc::new(identity)))
    }

    /// The certificate and its key, and how long the host uses it.
    pub(crate) async fn load(&self) -> io::Result<Loaded> {
        let identity = match &self.0 {
            Kind::SelfSigned(names) => return signed(names),
            Kind::Pem { chain, key } => {
                let loaded = Identity::load_pemfiles(chain, key).await;
                loaded.map_err(|error| {
                    let (chain, key) = (chain.display(), key.display());
                    io::Error::new(
                        io::ErrorKind::InvalidInput,
                        format!("no certificate in {chain} or no key in {key}: {error}"),
                    )
                })?
            }
            Kind::Ready(identity) => identity.clone_identity(),
        };
        Loaded::new(identity, None)
    }

    /// Another one of the same kind, if the host can make it by itself.
    pub(crate) fn renewed(&self) -> Option<io::Result<Loaded>> {
        match &self.0 {
            Kind::SelfSigned(names) => Some(signed(names)),
            Kind::Pem { .. } | Kind::Ready(_) => None,
        }
    }
}

/// A certificate with its key.
pub(crate) struct Loaded {
    pub(crate) identity: Identity,
    pub(crate) hash: [u8; 32],
    /// How long it is used before it is made anew; `None` if the host cannot do that.
    pub(crate) used_for: Option<Duration>,
}

impl Loaded {
    fn new(identity: Identity, used_for: Option<Duration>) -> io::Result<Self> {
        let first = identity.certificate_chain().as_slice().first();
        let first = first.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "the chain has no certificate")
        })?;
        Ok(Self {
            hash: *first.hash().as_ref(),
            identity,
            used_for,
        })
    }
}

fn signed(names: &[String]) -> io::Result<Loaded> {
    let now = OffsetDateTime::now_utc();
    let identity = Identity::self_signed_builder()
        .subject_alt_names(names)
        .validity_period(now - BEFORE, now + LONGEST)
        .build()
        .map_err(|error| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("a certificate cannot be for {names:?}: {error}"),
            )
        })?;
    Loaded::new(identity, Some(LONGEST / 2))
}
