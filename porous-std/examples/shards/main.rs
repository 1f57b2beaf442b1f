//! Measures hosts that share a port: `cargo run -p porous-std --example shards -- 1 2` tells the
//! datagrams that one and two of them take a second, and what a thousand idle clients cost them. Clients and
//! hosts share the cores of one machine, so that the time of the hosts' threads says more than the clock on
//! the wall.
#![cfg_attr(
    target_os = "linux",
    expect(clippy::unwrap_used, reason = "a failed step ends the measurement")
)]

#[cfg(target_os = "linux")]
mod measure;

fn main() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    for count in std::env::args().skip(1) {
        let count = count.parse().unwrap();
        measure::busy(count)?;
        measure::idle(count)?;
    }
    Ok(())
}
