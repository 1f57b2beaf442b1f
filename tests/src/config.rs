//! The configurations that scenarios begin with: the library's own, but that ids may begin
//! at another number than 0, and that all may follow the paper's policy.

use std::sync::OnceLock;

use porous_proto::congestion::Congestion;
use porous_proto::{Config, Policy};

/// The environment variable that says where ids begin.
pub const FIRST_ID: &str = "POROUS_FIRST_ID";

fn first_id() -> u64 {
    static FIRST: OnceLock<u64> = OnceLock::new();
    let read = || match std::env::var(FIRST_ID) {
        Ok(id) => id.parse().expect("a number"),
        Err(_) => 0,
    };
    *FIRST.get_or_init(read)
}

/// The environment variable that, if it is there, makes the paper's policy that of all hosts.
pub const PAPER: &str = "POROUS_PAPER";

fn policy() -> Policy {
    static PAPER_IS_SET: OnceLock<bool> = OnceLock::new();
    match PAPER_IS_SET.get_or_init(|| std::env::var_os(PAPER).is_some()) {
        true => Policy::Paper,
        false => Policy::Modern,
    }
}

/// The environment variable that names the controller of all hosts, by its number in
/// [`Congestion::BUILT_IN`].
pub const CONTROLLER: &str = "POROUS_CONTROLLER";

/// The controller that all hosts have, if one is set.
pub fn controller() -> Option<Congestion> {
    static SET: OnceLock<Option<usize>> = OnceLock::new();
    let read = || match std::env::var(CONTROLLER) {
        Ok(number) => Some(number.parse().expect("a number")),
        Err(_) => None,
    };
    SET.get_or_init(read)
        .map(|number| Congestion::BUILT_IN[number])
}

/// Whether all hosts have a congestion window. [`Congestion::Fixed`] and [`Congestion::Binary`] know
/// rates alone: what a peer that acknowledges nothing is sent is bounded by its transfer window then.
pub fn has_window() -> bool {
    !matches!(
        controller(),
        Some(Congestion::Fixed { .. } | Congestion::Binary { .. })
    )
}

fn with_all(config: Config) -> Config {
    let config = config.policy(policy()).first_id(first_id());
    match controller() {
        Some(congestion) => config.congestion(congestion),
        None => config,
    }
}

/// [`Config::new`].
pub fn new() -> Config {
    with_all(Config::new())
}

/// [`Config::client`].
pub fn client() -> Config {
    with_all(Config::client())
}

/// [`Config::paper`].
pub fn paper() -> Config {
    Config::paper().first_id(first_id())
}

/// What holds under the modern policy, or under the paper's, if that is what all hosts follow.
pub fn by_policy<T>(modern: T, paper: T) -> T {
    match policy() {
        Policy::Modern => modern,
        Policy::Paper => paper,
    }
}
