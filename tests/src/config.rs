//! The configurations that scenarios begin with: the library's own, but that ids may begin
//! elsewhere than at 0, and that all may follow the paper's policy.

use std::sync::OnceLock;

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

/// [`Config::new`].
pub fn new() -> Config {
    Config::new().policy(policy()).first_id(first_id())
}

/// [`Config::client`].
pub fn client() -> Config {
    Config::client().policy(policy()).first_id(first_id())
}

/// [`Config::paper`].
pub fn paper() -> Config {
    Config::paper().first_id(first_id())
}
