//! The arena in a browser: a server of the game for browsers and programs, its page, and bots, which come by UDP.

#![expect(clippy::print_stdout, reason = "it says where to play")]

extern crate alloc;

mod bots;
mod http;
mod table;

use alloc::sync::Arc;
use core::net::{IpAddr, Ipv4Addr};
use core::time::Duration;
use std::io;

use clap::Parser;
use porous_udp::sim::{LinkConfig, Seed};
use porous_web::{Certificate, WebConfig};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::table::{Place, Table};

/// How long the last packets may take when the program is stopped.
const GOODBYE: Duration = Duration::from_secs(1);

/// The arena in a browser.
#[derive(Parser)]
#[command(name = "play")]
struct Arguments {
    /// The port of the page
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// The address of the page and the game. A browser on another machine plays only if the page comes by https, from
    /// a web server before this one
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    address: IpAddr,
    /// Datagrams that get lost, in percent, each way
    #[arg(long, default_value_t = 0.0, value_parser = percent)]
    loss: f64,
    /// Milliseconds that a round trip takes longer
    #[arg(long, default_value_t = 0)]
    rtt: u32,
    /// Players without players
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u64).range(0..=48))]
    bots: u64,
}

fn percent(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok();
    let value = value.filter(|value| (0.0..=100.0).contains(value));
    value.ok_or_else(|| "give a number from 0 to 100".to_owned())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn core::error::Error>> {
    let arguments = Arguments::parse();
    let at = arguments.address;
    let certificate = Certificate::self_signed(["localhost".to_owned(), at.to_string()]);
    let web = WebConfig::new((at, 0).into(), certificate).udp((at, 0).into());
    let delay = Duration::from_millis(arguments.rtt.into()) / 2;
    let line = LinkConfig::new().loss(arguments.loss).delay(delay);
    let mut table = Table::bind(web, line, Seed::new(1)).await?;

    let listener = TcpListener::bind((at, arguments.port))
        .await
        .map_err(|error| {
            io::Error::new(
                error.kind(),
                format!(
                    "no page at port {}: {error}; give another one by --port",
                    arguments.port
                ),
            )
        })?;
    let page = listener.local_addr()?;
    let (sender, place) = watch::channel(Place::of(&table.host)?);
    let answers = move |path: &str, _: &_| match path {
        "/place" => Some(("application/json", place.borrow().json())),
        path => http::file(path),
    };
    let page_task = tokio::spawn(http::serve(listener, Arc::new(answers)));

    if let Some(udp) = table.host.udp_addr() {
        let bots = arguments.bots;
        std::thread::spawn(move || {
            if let Err(error) = bots::play(udp, bots, Seed::new(2)) {
                eprintln!("the bots are gone: {error}");
            }
        });
        println!("play at http://{page}/, programs at {udp}; ctrl-c ends");
    }
    tokio::select! {
        played = table.play(&sender) => played?,
        served = page_task => served??,
        stopped = tokio::signal::ctrl_c() => stopped?,
    }
    table.host.drain(0, GOODBYE);
    while !table.host.is_empty() {
        table.turn().await?;
    }
    Ok(())
}
