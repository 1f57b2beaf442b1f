//! The kinds of routers through which two players reach each other: the table of `docs/nat.md`, by trying
//! each pair.

use core::fmt::Write;
use core::time::Duration;

use porous_proto::Listen;
use porous_sim::{LinkConfig, NatRule, Router, Seed};
use porous_tests::config;
use porous_tests::players::{PLAYERS, meet, one_between, router};

/// How a router maps, and how it filters.
type Kind = (NatRule, NatRule);

const fn letter(rule: NatRule) -> char {
    match rule {
        NatRule::EndpointIndependent => 'I',
        NatRule::AddressDependent => 'A',
        NatRule::AddressAndPortDependent => 'P',
    }
}

fn name((mapping, filtering): Kind) -> String {
    format!("{}/{}", letter(mapping), letter(filtering))
}

fn kinds() -> Vec<Kind> {
    let with = |mapping| NatRule::ALL.map(|filtering| (mapping, filtering));
    NatRule::ALL.into_iter().flat_map(with).collect()
}

/// True if two players get a connection that connect to the addresses which the server has told them.
fn meets(kinds: [Kind; 2], listen: bool) -> bool {
    let seed = Seed::from_env(Seed::new(7));
    let of = |n: usize| -> Router<u32> {
        let (mapping, filtering) = kinds[n];
        router(PLAYERS[n]).mapping(mapping).filtering(filtering)
    };
    let links = LinkConfig::new().delay(Duration::from_millis(20));
    let (mut world, seen) = meet(seed, links, [of(0), of(1)], config::new);
    let lists = [[PLAYERS[1], seen[1]], [PLAYERS[0], seen[0]]];
    for (player, list) in PLAYERS.into_iter().zip(&lists) {
        if listen {
            assert_eq!(world.host_mut(player).listen(Listen::Open), Ok(()));
        }
        assert!(world.connect_any(player, list).is_ok(), "{kinds:?}");
    }
    world.run_for(Duration::from_secs(3));
    one_between(&mut world, PLAYERS, &format!("{kinds:?}, {listen}")).is_some()
}

fn table() -> String {
    let kinds = kinds();
    let mut table = String::from("| maps/filters |");
    let write = |table: &mut String, text: String| write!(table, " {text} |").expect("memory");
    for &kind in &kinds {
        write(&mut table, name(kind));
    }
    table.push_str("\n|---|");
    table.push_str(&"---|".repeat(kinds.len()));
    for &a in &kinds {
        table.push_str("\n|");
        write(&mut table, format!("**{}**", name(a)));
        for &b in &kinds {
            let result = match (meets([a, b], false), meets([a, b], true)) {
                (true, true) => "yes",
                (false, true) => "listen",
                (false, false) => "no",
                (true, false) => panic!("{a:?}, {b:?}: only if nobody listens"),
            };
            write(&mut table, String::from(result));
        }
    }
    table.push('\n');
    table
}

/// D11.
#[test]
fn the_table_of_kinds_is_what_happens() {
    let table = table();
    let guide = include_str!("../../../docs/nat.md");
    assert!(guide.contains(&table), "docs/nat.md should have:\n{table}");
}
