//! The page of errors is complete: each public error, and each reason for which something ends, is refused or is
//! given up, has a section in `docs/errors.md`, and each of its variants has a row there. Nothing else has one.
#![expect(clippy::unwrap_used, reason = "a test")]

extern crate alloc;

use alloc::collections::{BTreeMap, BTreeSet};

use porous_tests::sources::files;

const PAGE: &str = "docs/errors.md";

/// The crates whose errors an application of Rust meets.
const CRATES: [&str; 7] = [
    "porous-message",
    "porous-proto",
    "porous-std",
    "porous-token",
    "porous-tokio",
    "porous-trace",
    "porous-udp",
];

/// Types that tell what became of something and are no `Error`.
const REASONS: [&str; 5] = [
    "BadAddress",
    "DisconnectReason",
    "Ignored",
    "Outcome",
    "Refusal",
];

/// Ends of names that only an error or a reason has.
const ENDS: [&str; 3] = ["Error", "Reason", "Refusal"];

/// A type that the page has to tell: its crate, as code names it, its name and its variants, of which a `struct`
/// has none.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    module: String,
    name: String,
    variants: BTreeSet<String>,
}

/// The identifier that a text begins with.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// The names of the types that implement `Error` in this code.
fn errors(code: &str) -> BTreeSet<&str> {
    let implemented = code
        .split("error::Error for ")
        .skip(1)
        .chain(code.split("\ndescribe!(").skip(1));
    implemented
        .map(identifier)
        .filter(|name| !name.is_empty())
        .collect()
}

/// The variants of the `enum` whose body begins here, as rustfmt writes them.
fn variants(body: &str) -> BTreeSet<String> {
    let lines = body.lines().take_while(|line| *line != "}");
    let own = lines.filter_map(|line| line.strip_prefix("    "));
    let names = own.filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()));
    names.map(|line| identifier(line).to_owned()).collect()
}

/// The public types of this code that are errors or reasons.
fn told(module: &str, code: &str) -> Vec<Told> {
    let errors = errors(code);
    let is_told = |name: &str, is_enum: bool| {
        let is_reason = REASONS.contains(&name) || ENDS.iter().any(|end| name.ends_with(end));
        errors.contains(name) || is_enum && is_reason
    };
    let mut all = Vec::new();
    for (keyword, is_enum) in [("\npub enum ", true), ("\npub struct ", false)] {
        for rest in code.split(keyword).skip(1) {
            let name = identifier(rest);
            if is_told(name, is_enum) {
                let (_, body) = rest.split_once('\n').unwrap_or_default();
                let variants = if is_enum {
                    variants(body)
                } else {
                    BTreeSet::new()
                };
                let (module, name) = (module.into(), name.into());
                all.push(Told {
                    module,
                    name,
                    variants,
                });
            }
        }
    }
    all
}

/// All that the page has to tell.
fn all_told() -> Vec<Told> {
    let mut all = Vec::new();
    for file in files(&["rs"]) {
        let Some((folder, _)) = file.path.split_once("/src/") else {
            continue;
        };
        if CRATES.contains(&folder) && !file.is_test() {
            let code = file.text.split("\nmod tests {").next().unwrap();
            all.extend(told(&folder.replace('-', "_"), code));
        }
    }
    all
}

/// The sections of a page whose titles are types, and the names in the first cells of the rows of their tables.
fn sections(page: &str) -> BTreeMap<&str, BTreeSet<String>> {
    let mut all = BTreeMap::new();
    for section in page.split("\n### `").skip(1) {
        let (title, text) = section.split_once("`\n").unwrap();
        let text = text.split("\n#").next().unwrap();
        let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
        let names = rows.map(|row| identifier(row).to_owned());
        assert!(
            all.insert(title, names.collect()).is_none(),
            "{title} twice"
        );
    }
    all
}

/// What the page leaves out, or tells although it is not there.
fn complaints(all: &[Told], page: &str) -> Vec<String> {
    let mut sections = sections(page);
    let mut found = Vec::new();
    for Told {
        module,
        name,
        variants,
    } in all
    {
        let is_alone = all.iter().filter(|other| other.name == *name).count() == 1;
        let whole = format!("{module}::{name}");
        let alone = is_alone.then(|| sections.remove(name.as_str())).flatten();
        let Some(rows) = alone.or_else(|| sections.remove(whole.as_str())) else {
            found.push(format!("no section: {whole}"));
            continue;
        };
        let missing = variants.difference(&rows);
        found.extend(missing.map(|variant| format!("no row: {whole}::{variant}")));
        let gone = rows.difference(variants);
        found.extend(gone.map(|row| format!("there is no {whole}::{row}")));
    }
    found.extend(sections.keys().map(|title| format!("there is no {title}")));
    found
}

#[test]
fn every_error_and_every_reason_has_a_row() {
    let all = all_told();
    let variants: usize = all.iter().map(|told| told.variants.len()).sum();
    assert!(all.len() > 25 && variants > 130, "where are they? {all:#?}");
    let mut pages = files(&["md"]);
    pages.retain(|file| file.path == PAGE);
    let found = complaints(&all, &pages.pop().unwrap().text);
    assert!(found.is_empty(), "{PAGE}: {found:#?}");
}

const CODE: &str = "
pub enum SendError {
    /// Full.
    Full,
    Bad(BadAddress),
}

describe!(Weak { Self => \"\" });

pub enum Mode {
    Reliable,
}

pub struct Weak;

enum HiddenError {
    Full,
}

pub enum Refusal {
    Version {
        /// A Field.
        oldest: u32,
    },
}

impl<M> core::error::Error for Unsent<M> {}

pub struct Unsent<M> {
    Field: M,
}
";

fn of(name: &str, variants: &[&str]) -> Told {
    Told {
        module: "a".into(),
        name: name.into(),
        variants: variants.iter().map(|name| (*name).into()).collect(),
    }
}

#[test]
fn errors_and_reasons_are_found() {
    let expected = [
        of("SendError", &["Bad", "Full"]),
        of("Refusal", &["Version"]),
        of("Weak", &[]),
        of("Unsent", &[]),
    ];
    assert_eq!(told("a", CODE), expected);
}

#[test]
fn what_is_left_out_and_what_is_not_there_are_found() {
    let all = [of("SendError", &["Full", "Zero"]), of("Weak", &[])];
    let page = |rows: &str| {
        format!(
            "\n### `SendError`\n\n| error |\n|---|\n{rows}\n## More\n\n### `a::Weak`\n\nA key.\n"
        )
    };
    let right = page("| `Full` | why |\n| `Zero` | why |\n");
    assert_eq!(complaints(&all, &right), [""; 0]);
    let without = page("| `Full` | why |\n");
    assert_eq!(complaints(&all, &without), ["no row: a::SendError::Zero"]);
    let too_many = page("| `Full` | |\n| `Zero` | |\n| `One` | |\n");
    assert_eq!(
        complaints(&all, &too_many),
        ["there is no a::SendError::One"]
    );
    assert_eq!(complaints(&all[..1], &right), ["there is no a::Weak"]);
    let other = [of("Other", &[])];
    let [first, ..] = &complaints(&other, &right)[..] else {
        panic!("nothing was found");
    };
    assert_eq!(first, "no section: a::Other");
}
