//! The folder that `--out` names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use porous_sim::lab::{self, Row};

use crate::later::Later;

use super::{Run, csv, plot, readme, told};

/// A folder in which files can be written. Nothing is written anywhere else.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

/// All numbers.
const NUMBERS: &str = "results.csv";

impl Folder {
    /// Makes the folder, and opens the first file in it, so that one that cannot be written is known before anything
    /// runs.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let made = fs::create_dir_all(path);
        made.map_err(|error| format!("cannot write --out {}: {error}", path.display()))?;
        let folder = Self(path.to_owned());
        match Later::open(&folder.0.join(NUMBERS)) {
            Ok(_) => Ok(folder),
            Err(error) => Err(folder.cannot(NUMBERS, &error)),
        }
    }

    /// Writes the tables, the pictures of the rows that are drawn, and the CSV.
    pub(super) fn write(
        &self,
        runs: &[Run],
        is_drawn: impl Fn(&Row) -> bool,
    ) -> Result<(), String> {
        self.put(NUMBERS, &csv::results(runs))?;
        if let Some(told) = told::text(runs) {
            self.put("told.md", &told)?;
        }
        let mut drawn = Vec::new();
        for row in lab::rows().filter(|row| is_drawn(row)) {
            let of = runs.iter().filter(|run| run.row.name == row.name);
            let of: Vec<&Run> = of.filter(|run| run.controller.plot).collect();
            if of.is_empty() {
                continue;
            }
            let svg = plot::svg(row, &of);
            let svg = svg.map_err(|error| format!("cannot draw {}: {error}", row.name))?;
            self.put(&format!("{}.svg", row.name), &svg)?;
            drawn.push(row.name);
        }
        let text = readme::text(runs, |row| drawn.contains(&row.name));
        self.put("README.md", &text)
    }

    fn put(&self, name: &str, text: &str) -> Result<(), String> {
        let written = fs::write(self.0.join(name), text);
        written.map_err(|error| self.cannot(name, &error))
    }

    fn cannot(&self, name: &str, error: &io::Error) -> String {
        let path = self.0.join(name);
        format!("cannot write --out {}: {error}", path.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_earlier_run_has_left_stays_until_there_is_more() {
        let name = format!("porous-{}-lab", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join(NUMBERS), "of before").unwrap();
        let folder = Folder::open(&path).unwrap();
        assert_eq!(fs::read(path.join(NUMBERS)).unwrap(), b"of before");
        folder.put(NUMBERS, "new").unwrap();
        assert_eq!(fs::read(path.join(NUMBERS)).unwrap(), b"new");
        fs::remove_dir_all(path).unwrap();
    }
}
