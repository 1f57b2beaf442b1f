//! A file on its way, at the receiver.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::digits;
use super::message::{Hash, Refused};
use super::name::is_safe;

/// Bytes that are hashed at once of what is there, so that the connection is served between.
const PIECE: usize = 1 << 20;

/// The digits of the hash in the name of a part: parts of other files with the same name are others.
const DIGITS: usize = 16;

/// Why a file cannot be received.
#[derive(Debug)]
pub(crate) enum Failure {
    /// By the rules of this program.
    Refused(Refused),
    /// By the system.
    System(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// A part of a file, which gets the name of the file when all of it is there and right.
#[derive(Debug)]
pub(crate) struct Partial {
    file: File,
    path: PathBuf,
    target: PathBuf,
    may_replace: bool,
    pub(crate) name: String,
    pub(crate) len: u64,
    pub(crate) hash: Hash,
    hasher: Sha256,
    /// Bytes that are there and hashed.
    pub(crate) at: u64,
    /// Bytes that were there at first.
    pub(crate) begun: u64,
}

impl Partial {
    /// Opens the part, or makes one. `may_replace`: a file that has the name may be replaced.
    pub(crate) fn open(
        folder: &Path,
        name: &str,
        (len, hash): (u64, Hash),
        may_replace: bool,
    ) -> Result<Self, Failure> {
        let path = place(folder, name, &hash)?;
        let target = folder.join(name);
        check_target(&target, may_replace)?;
        // What has the name and is no file may be a way out of the folder.
        if path.symlink_metadata().is_ok_and(|data| !data.is_file()) {
            let text = format!("{} is no regular file", path.display());
            return Err(Failure::System(io::Error::other(text)));
        }
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let file = options.open(&path).map_err(named)?;
        let mut begun = file.metadata()?.len();
        if begun > len {
            file.set_len(0)?;
            begun = 0;
        }
        Ok(Self {
            file,
            path,
            target,
            may_replace,
            name: name.to_owned(),
            len,
            hash,
            hasher: Sha256::new(),
            at: 0,
            begun,
        })
    }

    /// Whether this is the part at a [place].
    pub(crate) fn is_at(&self, place: &Path) -> bool {
        self.path == place
    }

    /// Hashes the next piece of what was there at first. Returns true when all is hashed.
    pub(crate) fn recall(&mut self) -> io::Result<bool> {
        let rest = usize::try_from(self.begun - self.at).unwrap_or(PIECE);
        let mut piece = vec![0; rest.min(PIECE)];
        self.file.seek(SeekFrom::Start(self.at))?;
        self.file.read_exact(&mut piece)?;
        self.hasher.update(&piece);
        self.at += piece.len() as u64;
        Ok(self.at == self.begun)
    }

    /// Writes the next bytes. More than the file has are nonsense.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if bytes.len() as u64 > self.len - self.at {
            return Err(Failure::Refused(Refused::Nonsense));
        }
        self.file.write_all(bytes)?;
        self.hasher.update(bytes);
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Whether all bytes are there.
    pub(crate) const fn is_complete(&self) -> bool {
        self.at == self.len
    }

    /// Gives the file its name, if its hash is right; else the part is removed, as it is of no use.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        if self.hasher.clone().finalize()[..] != self.hash {
            std::fs::remove_file(&self.path)?;
            return Err(Failure::Refused(Refused::Hash));
        }
        self.file.sync_all()?;
        // Somebody else may have made one since the offer.
        check_target(&self.target, self.may_replace)?;
        std::fs::rename(&self.path, &self.target)?;
        Ok(())
    }
}

/// Where the part of a file is, or will be. Nothing is made. Its name begins with a dot, so that no sender can choose
/// it as that of a file, and put other bytes in the place of what was hashed.
pub(crate) fn place(folder: &Path, name: &str, hash: &Hash) -> Result<PathBuf, Failure> {
    if !is_safe(name) {
        return Err(Failure::Refused(Refused::Name));
    }
    Ok(folder.join(format!(".{name}.{}.part", &digits(hash)[..DIGITS])))
}

/// Checks what has the name of a file to be.
fn check_target(target: &Path, may_replace: bool) -> Result<(), Failure> {
    let there = target.symlink_metadata();
    let is_free = there
        .as_ref()
        .map_or_else(|error| error.kind() == io::ErrorKind::NotFound, |_| false);
    let is_file = there.as_ref().is_ok_and(Metadata::is_file);
    if is_free || is_file && may_replace {
        return Ok(());
    }
    match there {
        Ok(_) => Err(Failure::Refused(Refused::Exists)),
        Err(error) => Err(Failure::System(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(test: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("porous-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn hash(bytes: &[u8]) -> Hash {
        Sha256::digest(bytes)[..].try_into().unwrap()
    }

    fn files(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let name = |entry: io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<_> = entries
            .map(|entry| name(entry).into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_part_goes_on_where_it_ended_and_gets_its_name_when_it_is_right() {
        let folder = folder("goes-on");
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| n.to_le_bytes()[1]).collect();
        let file = (3_000_000, hash(&bytes));
        let mut part = Partial::open(&folder, "a", file, false).unwrap();
        assert!(part.recall().unwrap());
        part.write(&bytes[..2_500_000]).unwrap();
        assert!(!part.is_complete());
        drop(part);
        assert_eq!(files(&folder).len(), 1);
        let name = &files(&folder)[0];
        assert!(name.ends_with(".part"));
        // Nobody else may replace it.
        let failed = Partial::open(&folder, name, (3, hash(b"abc")), true);
        assert!(
            matches!(failed, Err(Failure::Refused(Refused::Name))),
            "{failed:?}"
        );
        let mut part = Partial::open(&folder, "a", file, false).unwrap();
        while !part.recall().unwrap() {}
        assert_eq!((part.at, part.begun), (2_500_000, 2_500_000));
        part.write(&bytes[2_500_000..]).unwrap();
        assert!(part.is_complete());
        part.finish().unwrap();
        assert_eq!(files(&folder), ["a"]);
        assert_eq!(std::fs::read(folder.join("a")).unwrap(), bytes);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_part_with_another_hash_never_gets_the_name() {
        let folder = folder("hash");
        let mut part = Partial::open(&folder, "a", (3, hash(b"abc")), false).unwrap();
        part.write(b"abd").unwrap();
        let failed = part.finish();
        assert!(
            matches!(failed, Err(Failure::Refused(Refused::Hash))),
            "{failed:?}"
        );
        assert!(files(&folder).is_empty());
        let mut part = Partial::open(&folder, "a", (3, hash(b"abc")), false).unwrap();
        let failed = part.write(b"abcd");
        assert!(
            matches!(failed, Err(Failure::Refused(Refused::Nonsense))),
            "{failed:?}"
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_is_replaced_by_force_alone_and_nothing_else_ever() {
        let folder = folder("force");
        std::fs::write(folder.join("a"), "old").unwrap();
        std::fs::create_dir(folder.join("b")).unwrap();
        let open = |name, may_replace| Partial::open(&folder, name, (0, hash(b"")), may_replace);
        for (name, may_replace) in [("a", false), ("b", false), ("b", true)] {
            let failed = open(name, may_replace);
            assert!(
                matches!(failed, Err(Failure::Refused(Refused::Exists))),
                "{failed:?}"
            );
        }
        open("a", true).unwrap().finish().unwrap();
        assert_eq!(std::fs::read(folder.join("a")).unwrap(), b"");
        let failed = open("../c", true);
        assert!(
            matches!(failed, Err(Failure::Refused(Refused::Name))),
            "{failed:?}"
        );
        // It has come meanwhile.
        let late = open("d", false).unwrap();
        std::fs::write(folder.join("d"), "first").unwrap();
        let failed = late.finish();
        assert!(
            matches!(failed, Err(Failure::Refused(Refused::Exists))),
            "{failed:?}"
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_place_of_a_part_is_no_way_out() {
        let folder = folder("link");
        let digits = digits(&hash(b"abc"));
        let part = folder.join(format!(".a.{}.part", &digits[..DIGITS]));
        let outside = folder.join("outside");
        std::os::unix::fs::symlink(&outside, part).unwrap();
        let failed = Partial::open(&folder, "a", (3, hash(b"abc")), true);
        assert!(matches!(failed, Err(Failure::System(_))), "{failed:?}");
        assert!(!outside.exists());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
