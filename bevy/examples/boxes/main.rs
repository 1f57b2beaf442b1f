//! Boxes that a server moves and all players see, and that a player pushes.
//!
//! ```sh
//! cargo run --example boxes -- --headless        # a server and a player, without a window: checks itself and ends
//! cargo run --example boxes --features window -- server [::]:5000
//! cargo run --example boxes --features window -- client 127.0.0.1:5000
//! ```

mod game;
mod headless;
#[cfg(feature = "window")]
mod window;

use core::error::Error;

const USAGE: &str = "usage: boxes --headless
       boxes server ADDRESS   # with a window: needs the feature `window`
       boxes client ADDRESS";

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["--headless"] => headless::run(),
        #[cfg(feature = "window")]
        ["server", address] => window::run_server(address),
        #[cfg(feature = "window")]
        ["client", address] => window::run_client(address.parse()?),
        _ => Err(USAGE.into()),
    }
}
