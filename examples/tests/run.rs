//! The examples run, and the pages about them quote them as they are.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

fn said_by(program: &str) -> String {
    let run = Command::new(program).output().expect("it was built");
    assert!(run.status.success(), "{run:?}");
    String::from_utf8(run.stdout).expect("text")
}

#[test]
fn a_socket_layer_of_ones_own_is_enough() {
    let said = said_by(env!("CARGO_BIN_EXE_own_socket"));
    assert_eq!(said, "100 of 100 shots have hit\n");
}

/// Both are on one machine, for a second or so.
#[test]
fn one_host_serves_players_of_two_carriers() {
    let said = said_by(env!("CARGO_BIN_EXE_own_carrier"));
    let expected = "over UDP: 100 of 100 words of the other\nover a stream: 100 of 100\n";
    assert_eq!(said, expected);
}

#[test]
fn threads_talk_without_sockets() {
    let said = said_by(env!("CARGO_BIN_EXE_channels"));
    assert_eq!(said, "200 of 200 packets arrived\n");
}

#[test]
fn a_driver_for_another_library_is_small() {
    let said = said_by(env!("CARGO_BIN_EXE_async_io"));
    assert_eq!(said, "the server said b\"hello\"\n");
}

/// All three run on one machine, for a second or so.
#[test]
fn two_players_meet_by_a_rendezvous() {
    let said = said_by(env!("CARGO_BIN_EXE_punch"));
    let lines: Vec<&str> = said.lines().collect();
    let met = |line: &&str| line.starts_with("met the other player at 127.0.0.1:");
    assert_eq!((lines.len(), lines.iter().all(met)), (2, true), "{said}");
}

/// All are on one machine, for a second or so.
#[test]
fn players_with_other_ports_stay_with_their_servers() {
    let said = said_by(env!("CARGO_BIN_EXE_balancer"));
    assert_eq!(said, "9 of 9 players have stayed\n");
}

/// A program that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The two of `docs/first.md`. The address of the client is another one each time.
#[test]
fn the_first_program_says_what_its_page_shows() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_first_server"));
    let server = server.arg("127.0.0.1:0").stdout(Stdio::piped()).spawn();
    let mut server = Running(server.expect("it was built"));
    let said = server.0.stdout.take().expect("it is piped");
    let mut lines = BufReader::new(said).lines().map_while(Result::ok);
    let first = lines.next().expect("a line");
    let address = first.strip_prefix("listening at ").expect("an address");
    let mut client = Command::new(env!("CARGO_BIN_EXE_first_client"));
    let client = client.arg(address).output().expect("it was built").stdout;
    let client = String::from_utf8(client).expect("text");

    let page = include_str!("../../docs/first.md");
    let shown = format!("cargo run --bin client\n{client}```");
    assert!(page.contains(&shown), "{client}");
    let heard: Vec<String> = lines.take(3).collect();
    assert!(heard[0].starts_with("127.0.0.1:"), "{heard:?}");
    let shown = format!(" has come\n{}\n```", heard[1..].join("\n"));
    assert!(
        heard[0].ends_with(" has come") && page.contains(&shown),
        "{heard:?}"
    );
}

#[test]
fn the_page_of_the_first_program_shows_the_code_as_it_is() {
    let page = include_str!("../../docs/first.md");
    for code in [
        include_str!("../first/server.rs"),
        include_str!("../first/client.rs"),
    ] {
        let (_, program) = code.split_once("\n\n").expect("a head");
        assert!(
            page.contains(&format!("```rust,no_run\n{program}```")),
            "{program}"
        );
    }
}

#[test]
fn the_guide_quotes_the_recipes_as_they_are() {
    let guide = include_str!("../../docs/scale.md");
    let recipes = [
        include_str!("../../docs/scale/balancer.nft"),
        include_str!("../../docs/scale/nginx.conf"),
    ];
    let blocks = guide.split("```text\n").skip(1);
    let blocks = blocks.filter_map(|rest| rest.split("```").next());
    let quoted = |block| recipes.iter().any(|recipe| recipe.contains(block));
    assert_eq!(blocks.clone().count(), recipes.len());
    for block in blocks {
        assert!(quoted(block), "in no recipe: {block}");
    }
}

#[test]
fn the_page_explains_the_code_as_it_is() {
    let page = include_str!("../../docs/own-socket.md");
    let code = include_str!("../own_socket/main.rs");
    let blocks: Vec<&str> = page.split("```").skip(1).step_by(2).collect();
    assert!(blocks.len() > 4);
    for block in blocks {
        let block = block.strip_prefix("rust\n").expect("Rust");
        for line in block.lines().map(str::trim) {
            assert!(code.contains(line), "not in the example: {line}");
        }
    }
}
