//! `porous`: shows and measures the protocol. `porous help` lists its commands.

extern crate alloc;

mod args;
mod clock;
mod demo;
mod echo;
mod exit;
mod json;
mod latency;
mod later;
mod minute;
mod net;
mod out;
mod ping;
mod plot;
mod record;
mod replay;
mod screen;
mod serve;
mod sim;
mod stop;
mod token;
mod trace;
mod transfer;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command, SimCommand};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return args::explain(&error),
    };
    match cli.command {
        Command::Demo(args) => demo::main(&args),
        Command::Serve(args) => serve::main(&args),
        Command::Ping(args) => ping::main(&args),
        Command::Send(args) => transfer::send::main(&args),
        Command::Recv(args) => transfer::recv::main(&args),
        Command::Sim(SimCommand::Lab(args)) => sim::lab::main(&args),
        Command::Sim(SimCommand::Road(args)) => sim::road::main(&args),
        Command::Sim(SimCommand::Table(args)) => sim::lab::table::main(&args),
        Command::Sim(SimCommand::Swarm(args)) => sim::main(&args),
        Command::Sim(SimCommand::Explore(args)) => sim::explore::main(&args),
        Command::Trace(args) => trace::main(&args),
        Command::Replay(args) => replay::main(&args),
        Command::Token(command) => token::main(&command),
    }
}
