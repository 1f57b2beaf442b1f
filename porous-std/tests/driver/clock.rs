//! The time of day, by which tokens expire.

pub(crate) fn unix_seconds() -> u64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed();
    since.unwrap().as_secs()
}
