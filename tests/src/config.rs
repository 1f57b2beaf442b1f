//! The configurations that scenarios begin with: those of the library, but ids may begin at another
//! number than 0, and all hosts may follow the paper's policy.

use std::sync::OnceLock;

use porous_proto::congestion::Congestion;
use porous_proto::{Config, Policy};

/// The environment variable that holds the first id.
pub const FIRST_ID: &str = "POROUS_FIRST_ID";

fn first_id() -> u64 {
    static FIRST: OnceLock<u64> = OnceLock::new();
    let read = || match std::env::var(FIRST_ID) {
        Ok(id) => id.parse().expect("a number"),
        Err(_) => 0,
    };
    *FIRST.get_or_init(read)
}

/// The environment variable that, if it is set, makes all hosts follow the paper's policy.
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

/// The controller of all hosts, if the environment names one.
pub fn controller() -> Option<Congestion> {
    static SET: OnceLock<Option<usize>> = OnceLock::new();
    let read = || match std::env::var(CONTROLLER) {
        Ok(number) => Some(number.parse().expect("a number")),
        Err(_) => None,
    };
    SET.get_or_init(read)
        .map(|number| Congestion::BUILT_IN[number])
}

/// True if all hosts have a congestion window. [`Congestion::Fixed`] and [`Congestion::Binary`] know
/// rates alone: with these, only the transfer window bounds what is sent to a peer that acknowledges
/// nothing.
pub fn has_window() -> bool {
    !matches!(
        controller(),
        Some(Congestion::Fixed { .. } | Congestion::Binary { .. })
    )
}

/// The environment variable that, if it is set, has hosts seal what they say to those that can.
pub const SEALED: &str = "POROUS_SEALED";

/// True if hosts are to seal.
pub fn is_sealed() -> bool {
    static IS_SET: OnceLock<bool> = OnceLock::new();
    *IS_SET.get_or_init(|| std::env::var_os(SEALED).is_some())
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

/// The first value under the modern policy, the second if all hosts follow the paper's.
pub fn by_policy<T>(modern: T, paper: T) -> T {
    if policy() == Policy::Paper {
        paper
    } else {
        modern
    }
}
