//! A random source that notes what it draws.

use alloc::sync::Arc;
use core::convert::Infallible;
use core::fmt;
use std::sync::Mutex;

use rand_core::{CryptoRng, TryCryptoRng, TryRng};

/// What a source has drawn since it was asked last. All copies are one.
#[derive(Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Vec<u8>>>);

impl fmt::Debug for Notes {
    /// They may be keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Notes(..)")
    }
}

impl Notes {
    pub(crate) fn take(&self) -> Vec<u8> {
        self.0
            .lock()
            .map_or_else(|_| Vec::new(), |mut notes| core::mem::take(&mut *notes))
    }

    fn add(&self, drawn: &[u8]) {
        if let Ok(mut notes) = self.0.lock() {
            notes.extend(drawn);
        }
    }
}

/// A random source that passes on what another draws, and notes it while it is recorded.
///
/// ```
/// # use porous_proto::hooks::doc::example_rng;
/// use porous_trace::TracedHost;
/// use porous_proto::Config;
///
/// // What a host draws from.
/// let host = TracedHost::new(Config::new(), example_rng());
/// # let _ = host;
/// ```
#[derive(Clone, Debug, Default)]
pub struct Noted<R> {
    source: R,
    notes: Option<Notes>,
}

impl<R> Noted<R> {
    /// Notes nothing.
    pub(crate) const fn silent(source: R) -> Self {
        Self {
            source,
            notes: None,
        }
    }

    pub(crate) const fn noting(source: R, notes: Notes) -> Self {
        Self {
            source,
            notes: Some(notes),
        }
    }

    fn note(&self, drawn: &[u8]) {
        if let Some(notes) = &self.notes {
            notes.add(drawn);
        }
    }
}

impl<R: CryptoRng> TryRng for Noted<R> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let drawn = self.source.next_u32();
        self.note(&drawn.to_le_bytes());
        Ok(drawn)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let drawn = self.source.next_u64();
        self.note(&drawn.to_le_bytes());
        Ok(drawn)
    }

    fn try_fill_bytes(&mut self, dst: &mut [u8]) -> Result<(), Infallible> {
        self.source.fill_bytes(dst);
        self.note(dst);
        Ok(())
    }
}

impl<R: CryptoRng> TryCryptoRng for Noted<R> {}
