//! Two endpoints exchange a message without std.

use porous_message::{Endpoint, Message, MessageChannel, MessageConfig};
use porous_proto::Instant;

/// The messages of both endpoints.
#[derive(Message, PartialEq)]
enum Greeting {
    Silence,
    Hello(#[message(range = 0..=9)] u8),
}

/// True if the greeting arrives, and its sender knows that.
pub fn exchange() -> bool {
    greet().unwrap_or(false)
}

fn greet() -> Option<bool> {
    let config = MessageConfig::new(&[MessageChannel::reliable()]).ok()?;
    let mut sender = Endpoint::new(config.clone());
    let mut receiver = Endpoint::new(config);
    let mut buffer = [0; 100];
    sender.send(0, Greeting::Silence).ok()?;
    sender.send(0, Greeting::Hello(7)).ok()?;
    let packet = sender.write_packet(Instant::ZERO, 0, &mut buffer).ok()??;
    receiver.read_packet(packet).ok()?;
    sender.packet_acked(0);
    let first = receiver.receive()?.message;
    let second = receiver.receive()?.message;
    let told = receiver
        .write_packet(Instant::ZERO, 0, &mut buffer)
        .ok()??;
    sender.read_packet(told).ok()?;
    let all = (first, second) == (Greeting::Silence, Greeting::Hello(7));
    Some(all && sender.queued(0) == 0)
}
