//! The chat: a server and its clients as programs, driven by what is typed.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use core::time::Duration;

/// Far longer than any of these tests waits.
const LIMIT: Duration = Duration::from_secs(30);

const SERVER: &str = env!("CARGO_BIN_EXE_chat_server");
const CLIENT: &str = env!("CARGO_BIN_EXE_chat_client");

/// A program that ends with the test.
struct Running {
    child: Child,
    typed: Option<ChildStdin>,
    said: Receiver<String>,
}

impl Running {
    fn start(program: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        let command = command.args(arguments).stdin(Stdio::piped());
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .expect("it was built");
        let out = child.stdout.take().expect("it is piped");
        let (say, said) = channel();
        thread::spawn(move || {
            let lines = BufReader::new(out).lines().map_while(Result::ok);
            for line in lines {
                if say.send(line).is_err() {
                    return;
                }
            }
        });
        let typed = child.stdin.take();
        Self { child, typed, said }
    }

    fn types(&mut self, line: &str) {
        let typed = self.typed.as_mut().expect("the input goes on");
        writeln!(typed, "{line}").expect("it runs");
    }

    /// Waits until it says a line with this in it, and returns the line.
    fn says(&self, part: &str) -> String {
        let mut heard = Vec::new();
        while let Ok(line) = self.said.recv_timeout(LIMIT) {
            if line.contains(part) {
                return line;
            }
            heard.push(line);
        }
        panic!("nothing about {part:?} in {heard:?}");
    }

    /// Waits until it ends, and returns whether that was in order.
    fn ends(&mut self) -> bool {
        // Its output ends with it.
        while self.said.recv_timeout(LIMIT).is_ok() {}
        let ended = self.child.try_wait().expect("it was started");
        ended.map_or_else(
            || self.child.wait().expect("it was started").success(),
            |status| status.success(),
        )
    }

    fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it was started");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A server at this address, whose rooms take two guests.
fn server(address: &str) -> (Running, String) {
    let server = Running::start(SERVER, &[address, "2"]);
    let line = server.says("listening at ");
    let address = line.trim_start_matches("listening at ").to_owned();
    (server, address)
}

fn client(address: &str, name: &str, room: &str) -> Running {
    Running::start(CLIENT, &[address, name, room])
}

#[test]
fn what_one_says_all_in_the_room_hear() {
    let (server, address) = server("127.0.0.1:0");
    let mut ada = client(&address, "Ada", "kitchen");
    ada.says("you are in kitchen");
    let mut eve = client(&address, "Eve", "kitchen");
    ada.says("* Eve has come");
    eve.says("you are in kitchen");
    ada.types("good \u{1b}[31mevening");
    assert_eq!(eve.says("evening"), "Ada: good [31mevening", "no escapes");
    ada.says("Ada: good");

    let bob = client(&address, "Bob", "garden");
    bob.says("you are in garden");
    eve.types("/room garden");
    bob.says("* Eve has come");
    ada.says("* Eve has gone");
    eve.types("/who");
    eve.says("* in garden: Eve, Bob");
    ada.types("/room garden");
    ada.says("* the room is full: garden");

    // One leaves by a word, one by the end of its input, one is killed.
    eve.types("good night");
    eve.types("/quit");
    bob.says("Eve: good night");
    bob.says("* Eve has left");
    assert!(eve.ends());
    ada.types("is anybody there?");
    ada.typed = None;
    assert!(ada.ends());
    server.says("[kitchen] Ada: is anybody there?");
    server.says("* Ada has left");
}

#[test]
fn those_who_are_refused_are_told_why() {
    let (_server, address) = server("127.0.0.1:0");
    let ada = client(&address, "Ada", "kitchen");
    let eve = client(&address, "Eve", "kitchen");
    for guest in [&ada, &eve] {
        guest.says("you are in kitchen");
    }
    let refused = |name: &str, room: &str| {
        let mut command = Command::new(CLIENT);
        let client = command
            .args([address.as_str(), name, room])
            .stdin(Stdio::piped());
        // Its input has not ended, so it would stay if it were let in.
        let mut client = client.stderr(Stdio::piped()).spawn().expect("it was built");
        let typed = client.stdin.take();
        let client = client.wait_with_output().expect("it runs");
        drop(typed);
        assert!(!client.status.success());
        String::from_utf8(client.stderr).expect("text")
    };
    assert!(refused("Ada", "garden").contains("the name is taken"));
    assert!(refused("Bob", "kitchen").contains("the room is full"));
    assert!(refused("\t", "garden").contains("a guest and a room have names"));
}

#[test]
fn a_client_of_another_version_is_told_so() {
    use porous_std::{Config, DisconnectReason, Event, Refusal, UdpHost};

    let (_server, address) = server("127.0.0.1:0");
    let mut host = UdpHost::bind("127.0.0.1:0", Config::client()).expect("a socket");
    let to = [address.parse().expect("an address")];
    host.connect_with(&to, b"chat 7\nAda\nkitchen")
        .expect("the first call");
    let begin = host.now();
    let reason = loop {
        assert!(host.now() < begin + LIMIT);
        host.wait(Duration::from_millis(50)).expect("a socket");
        if let Some(Event::Disconnected { reason, .. }) = host.poll_event() {
            break reason;
        }
    };
    let DisconnectReason::Refused(Refusal::Application(data)) = reason else {
        panic!("{reason:?}");
    };
    assert_eq!(data.as_bytes(), b"wrong version: this server speaks chat 1");
}

/// Another server at the same address: first after one that was stopped, then after one that was killed.
#[test]
fn clients_survive_servers() {
    let (mut first, address) = server("127.0.0.1:0");
    let mut ada = client(&address, "Ada", "kitchen");
    ada.says("you are in kitchen");
    ada.types("/room garden");
    ada.says("you are in garden");
    first.types("stop");
    first.says("stopped");
    assert!(first.ends());
    ada.says("- the server restarts: coming back");
    ada.types("I am still here");

    let (second, _) = server(&address);
    ada.says("you are in garden");
    assert_eq!(ada.says("still"), "Ada: I am still here");
    second.kill();
    let (third, _) = server(&address);
    ada.says(": coming back");
    third.says("[garden] * Ada has come");
    ada.types("/quit");
    third.says("* Ada has left");
    assert!(ada.ends());
}
