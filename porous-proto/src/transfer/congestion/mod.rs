//! How much may be in flight (§3.1.4): the controllers.

mod paper;

pub(crate) use paper::Paper;
