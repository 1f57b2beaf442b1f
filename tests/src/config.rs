//! The configurations that scenarios begin with: the library's own, but that ids may begin
//! elsewhere than at 0.

use std::sync::OnceLock;

use porous_proto::Config;

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

/// [`Config::new`].
pub fn new() -> Config {
    Config::new().first_id(first_id())
}

/// [`Config::client`].
pub fn client() -> Config {
    Config::client().first_id(first_id())
}

/// [`Config::paper`].
pub fn paper() -> Config {
    Config::paper().first_id(first_id())
}
