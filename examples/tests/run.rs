//! The examples run, and the pages about them quote them as they are.

use std::process::Command;

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
