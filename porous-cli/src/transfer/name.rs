//! The names of files that the network may choose.

/// The longest name in bytes. Most systems take 255, and the name of a part is longer than that of its file.
const LONGEST: usize = 200;

/// Names that are devices on Windows, whatever follows their first dot.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// Whether a file of this name is a plain file in the folder of the receiver, on every system.
///
/// A name that begins with a dot is none: neither `..`, nor a file such as `.profile`, which changes what other
/// programs do. The rest are separators, streams and devices of Windows, and what would confuse a terminal.
pub(crate) fn is_safe(name: &str) -> bool {
    let is_bad = |c: char| {
        let is_text_direction = matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        c.is_control() || is_text_direction || "/\\:*?\"<>|".contains(c)
    };
    let stem = name.split('.').next().unwrap_or_default().trim_end();
    let is_device = DEVICES
        .iter()
        .any(|device| stem.eq_ignore_ascii_case(device));
    !name.is_empty()
        && name.len() <= LONGEST
        && !name.starts_with(['.', ' '])
        && !name.ends_with(['.', ' '])
        && !name.contains(is_bad)
        && !is_device
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_safe() {
        let long = "x".repeat(LONGEST);
        for name in [
            "a",
            "level 3.dat",
            "a..b",
            "\u{e4}\u{4e2d}",
            "console.log",
            "a.part",
            &long,
        ] {
            assert!(is_safe(name), "{name}");
        }
    }

    #[test]
    fn names_that_leave_the_folder_or_mean_something_are_not() {
        let long = "x".repeat(LONGEST + 1);
        for name in [
            "",
            ".",
            "..",
            "/",
            "/etc/passwd",
            "../a",
            "a/b",
            "a/",
            "a\\b",
            "..\\a",
            "C:",
            "a:b",
            "a\0b",
            "a\nb",
            "\u{1b}[2J",
            ".profile",
            "a.",
            "a ",
            " a",
            "nul",
            "NUL.txt",
            "com1.a.b",
            "a\u{202e}b",
            "aux .c",
            &long,
        ] {
            assert!(!is_safe(name), "{name:?}");
        }
    }
}
