//! Files for what is known at the end of a run.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// A file that is open and will be written at the end. What it has of an earlier run stays until then: this one may
/// fail.
#[derive(Debug)]
pub(crate) struct Later(File);

impl Later {
    /// Opens a file, so that one that cannot be written is known before anything runs.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(false);
        options.open(path).map(Self)
    }

    /// Writes the file anew.
    pub(crate) fn write(mut self, content: &[u8]) -> io::Result<()> {
        // A device or a pipe has no length.
        if self.0.metadata()?.is_file() {
            self.0.set_len(0)?;
        }
        self.0.write_all(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_an_earlier_run_has_left_stays_until_there_is_more() {
        let name = format!("porous-{}-later", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, "of before").unwrap();
        drop(Later::open(&path).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"of before");
        Later::open(&path).unwrap().write(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        fs::remove_file(&path).unwrap();
        Later::open(&path).unwrap().write(b"made").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"made");
        fs::remove_file(path).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_are_files_as_well() {
        Later::open(Path::new("/dev/null"))
            .unwrap()
            .write(b"gone")
            .unwrap();
        let full = Later::open(Path::new("/dev/full")).unwrap().write(b"x");
        assert_eq!(full.unwrap_err().raw_os_error(), Some(28), "ENOSPC");
        assert!(Later::open(Path::new("/")).is_err());
    }
}
