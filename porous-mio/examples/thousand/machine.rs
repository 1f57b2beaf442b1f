//! The limits of a process, and its memory.

/// Lets this process open `sockets` sockets, which count as files, and some more files. An error if the
/// administrator would have to allow that first.
#[cfg(unix)]
pub(crate) fn open_files(sockets: usize) -> Result<(), String> {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let needed = u64::try_from(sockets)
        .unwrap_or(u64::MAX)
        .saturating_add(64);
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    limit.current = Some(needed);
    setrlimit(Resource::Nofile, limit).map_err(|error| {
        format!("a process needs {needed} open files here, see `ulimit -Hn` for its limit: {error}")
    })
}

#[cfg(not(unix))]
pub(crate) fn open_files(_: usize) -> Result<(), String> {
    Ok(())
}

/// The memory that this process has in use, where the system tells it as Linux does: "12345 kB".
pub(crate) fn memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().to_owned())
}
