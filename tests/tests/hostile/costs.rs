//! What cases cost, measured, and what `docs/hostile.md` allows them to cost.

use alloc::collections::BTreeMap;
use core::any::type_name;
use core::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use porous_tests::config::{by_policy, controller, is_sealed};

/// How the costs are measured again and the document is written.
pub(crate) const HOW: &str =
    "POROUS_WRITE_CATALOGUE=1 cargo test -p porous-tests --test hostile catalogue::the_document";
/// The environment variable that, if it is there, has the cases write down what they cost. They are
/// not held to their bounds then.
pub(crate) const RECORD: &str = "POROUS_RECORD_COSTS";
/// What a bound may exceed twice the cost by, in bytes and in steps: what is small doubles easily.
pub(crate) const SLACK: Cost = Cost {
    bytes: 512,
    steps: 32,
};

/// What a host held and did in a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// The most bytes that the host held at any moment, beyond those that it held before.
    pub(crate) bytes: u64,
    /// The most steps of one call, as `porous_proto::hooks::work` counts them.
    pub(crate) steps: u64,
}

impl Cost {
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.max(other.bytes),
            steps: self.steps.max(other.steps),
        }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes, {} steps", self.bytes, self.steps)
    }
}

/// The bounds of one case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) modern: Cost,
    /// The same as [`Self::modern`] where that holds under the paper's policy as well.
    pub(crate) paper: Cost,
}

impl Bounds {
    /// The bounds of a case that cost this, where `old` were its bounds. It need not run under the
    /// paper's policy.
    pub(crate) fn of(modern: Cost, paper: Option<Cost>, old: Option<Self>) -> Self {
        let figure = |of: fn(Cost) -> u64, slack| {
            let old_modern = old.map(|old| of(old.modern));
            let bound = keep(old_modern, of(modern), slack);
            let own = |paper: Cost| {
                let old_paper = old.map(|old| of(old.paper));
                let candidates = [Some(bound), old_paper];
                let holds = |&bound: &u64| is_tight(bound, of(paper), slack);
                candidates
                    .into_iter()
                    .flatten()
                    .find(holds)
                    .unwrap_or_else(|| rounded(of(paper)))
            };
            (bound, paper.map_or(bound, own))
        };
        let bytes = figure(|cost| cost.bytes, SLACK.bytes);
        let steps = figure(|cost| cost.steps, SLACK.steps);
        Self {
            modern: Cost {
                bytes: bytes.0,
                steps: steps.0,
            },
            paper: Cost {
                bytes: bytes.1,
                steps: steps.1,
            },
        }
    }
}

/// Whether something that costs this may have that bound: it is at most that, and not far less.
pub(crate) const fn is_tight(bound: u64, cost: u64, slack: u64) -> bool {
    cost <= bound && bound <= 2 * cost + slack
}

/// A new bound: the cost and a quarter of it, rounded up to two significant digits.
pub(crate) fn rounded(cost: u64) -> u64 {
    let bound = cost + cost.div_ceil(4);
    let unit = 10_u64.pow(bound.checked_ilog10().unwrap_or(0).saturating_sub(1));
    bound.next_multiple_of(unit)
}

/// The name of the test in which this closure stands.
pub(crate) fn test_of<F>(_: &F) -> &'static str {
    let path = type_name::<F>().trim_end_matches("::{{closure}}");
    path.rsplit("::").next().unwrap_or(path)
}

/// A case holds its bounds, or writes down what it cost.
#[track_caller]
pub(crate) fn judge(name: &str, cost: Cost) {
    if std::env::var_os(RECORD).is_some() {
        let path = record(by_policy(false, true));
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .unwrap();
        // One call, which no other thread's gets between.
        file.write_all(format!("{name} {} {}\n", cost.bytes, cost.steps).as_bytes())
            .unwrap();
        return;
    }
    static BOUNDS: OnceLock<BTreeMap<String, Bounds>> = OnceLock::new();
    let all = BOUNDS.get_or_init(|| bounds_in(&document()));
    let bounds = all.get(name);
    let bounds = bounds.unwrap_or_else(|| panic!("{name} has no bounds in docs/hostile.md: {HOW}"));
    let bound = by_policy(bounds.modern, bounds.paper);
    // The bounds are those of the default controller and of plain connections. Another controller may have more on
    // its way, and a key that follows another takes memory.
    let is_other = controller().is_some() || is_sealed();
    let times = if is_other { 4 } else { 1 };
    let keys = if is_sealed() { SLACK.bytes } else { 0 };
    assert!(
        cost.bytes <= times * bound.bytes + keys && cost.steps <= times * bound.steps,
        "{name} costs too much: {cost}, but may cost {bound}. If it has to, {HOW}"
    );
    let is_tight = is_tight(bound.bytes, cost.bytes, SLACK.bytes)
        && is_tight(bound.steps, cost.steps, SLACK.steps);
    assert!(
        is_tight || is_other,
        "{name} costs far less than it may: {cost}, but may cost {bound}: {HOW}"
    );
}

/// Where cases write down what they cost, under the paper's policy or the modern one.
pub(crate) fn record(is_paper: bool) -> PathBuf {
    let name = if is_paper {
        "costs-paper"
    } else {
        "costs-modern"
    };
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// What the cases have written down.
pub(crate) fn recorded(is_paper: bool) -> BTreeMap<String, Cost> {
    let mut costs = BTreeMap::new();
    for line in fs::read_to_string(record(is_paper)).unwrap().lines() {
        let [name, bytes, steps] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let (bytes, steps) = (bytes.parse().unwrap(), steps.parse().unwrap());
        costs.insert(String::from(name), Cost { bytes, steps });
    }
    costs
}

/// Where the document is.
pub(crate) fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/hostile.md")
}

pub(crate) fn document() -> String {
    fs::read_to_string(path()).unwrap()
}

/// The bounds in a document, by the names of the cases.
pub(crate) fn bounds_in(document: &str) -> BTreeMap<String, Bounds> {
    let rows = document.lines().filter_map(|line| line.strip_prefix("| `"));
    let bounds = |row: &str| {
        let (name, rest) = row.split_once('`')?;
        let mut cells = rest.rsplit('|').map(figures);
        let (_, steps, bytes) = (cells.next()?, cells.next()??, cells.next()??);
        let cost = |at: usize| Cost {
            bytes: bytes[at],
            steps: steps[at],
        };
        let (modern, paper) = (cost(0), cost(1));
        Some((name.to_owned(), Bounds { modern, paper }))
    };
    rows.filter_map(bounds).collect()
}

/// The figures of a cell, under the modern policy and under the paper's.
fn figures(cell: &str) -> Option<[u64; 2]> {
    let number = |text: &str| text.trim().replace(',', "").parse().ok();
    match cell.split_once('/') {
        Some((modern, paper)) => Some([number(modern)?, number(paper)?]),
        None => number(cell).map(|both| [both; 2]),
    }
}

/// Such a cell.
pub(crate) fn cell([modern, paper]: [u64; 2]) -> String {
    if modern == paper {
        grouped(modern)
    } else {
        format!("{} / {}", grouped(modern), grouped(paper))
    }
}

/// A number with commas.
pub(crate) fn grouped(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1000), number % 1000),
    }
}

fn keep(old: Option<u64>, cost: u64, slack: u64) -> u64 {
    let holds = |&old: &u64| is_tight(old, cost, slack);
    old.filter(holds).unwrap_or_else(|| rounded(cost))
}
