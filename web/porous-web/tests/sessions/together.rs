//! Pages and programs in one host.

use core::time::Duration;

use porous_udp::LinkConditioner;
use porous_udp::sim::{LinkConfig, Seed};
use porous_web::proto::ConfigError;
use porous_web::proto::prelude::*;
use porous_web::{WebAddress, WebHost};

use crate::page::{Failure, Page, host, host_with, serve};

/// Packets of each mode and each way.
const PACKETS: u32 = 1000;

const MODES: [Mode; 3] = [Mode::Unreliable, Mode::Reliable, Mode::Passive];

/// A channel for each mode.
fn channels(config: Config) -> Result<Config, ConfigError> {
    config.channels(&[Priority::High; 3])
}

#[tokio::test]
async fn a_page_and_a_program_meet_in_one_host() -> Result<(), Failure> {
    let mut server = host().await?;
    let mut page = Page::open(&server).await?;
    let udp = server.udp_addr().ok_or("no socket")?;
    let both = async {
        let program = porous_tokio::connect(&[udp], Config::client()).await?;
        program.send(0, "from a program", Mode::Reliable)?;
        let mut heard = None;
        while heard.is_none() {
            page.turn().await?;
            if matches!(page.host.poll_event(), Some(Event::Connected { .. })) {
                page.host
                    .send(page.peer, ChannelId(0), "from a page", Mode::Reliable)?;
            }
            heard = page.receive();
        }
        assert_eq!(heard.unwrap().payload, "from a page");
        assert_eq!(program.recv().await?.payload, "from a program");
        Ok(program)
    };
    let (_program, events) = serve(&mut server, both).await?;
    let mut came = Vec::new();
    for event in &events {
        if let Event::Connected { address, .. } = event {
            came.push(matches!(address, WebAddress::Session(_)));
        }
    }
    assert!(came.contains(&true) && came.contains(&false), "{events:?}");
    assert_eq!(server.peers().count(), 2);
    Ok(())
}

/// Sends all packets both ways, and counts those that come: down and up, by mode.
async fn exchange(server: &mut WebHost, page: &mut Page) -> Result<[[u32; 3]; 2], Failure> {
    let mut peer = None;
    let (mut sent, mut got) = ([[0; 3]; 2], [[0; 3]; 2]);
    let mut quiet = 0;
    while quiet < 400 {
        server.step()?;
        page.turn().await?;
        while let Some(event) = server.poll_event() {
            if let Event::Connected { peer: new, .. } = event {
                peer = Some(new);
            }
        }
        while page.host.poll_event().is_some() {}
        let Some(peer) = peer else { continue };
        quiet += 1;
        for (n, mode) in MODES.into_iter().enumerate() {
            let channel = ChannelId::from(u8::try_from(n)?);
            // In bursts of ten, as a game would: unreliable packets that wait for long are thrown away.
            for _ in 0..10 {
                let down = format!("{mode:?} {}", sent[0][n]);
                if sent[0][n] < PACKETS && server.send(peer, channel, down, mode).is_ok() {
                    (sent[0][n], quiet) = (sent[0][n] + 1, 0);
                }
                let up = format!("{mode:?} {}", sent[1][n]);
                let to = page.peer;
                if sent[1][n] < PACKETS && page.host.send(to, channel, up, mode).is_ok() {
                    (sent[1][n], quiet) = (sent[1][n] + 1, 0);
                }
            }
        }
        while let Some(packet) = page.receive() {
            got[0][usize::from(packet.channel.0)] += 1;
            quiet = 0;
        }
        while let Some(packet) = server.receive(peer) {
            got[1][usize::from(packet.channel.0)] += 1;
            quiet = 0;
        }
    }
    assert_eq!(sent, [[PACKETS; 3]; 2]);
    Ok(got)
}

#[tokio::test]
async fn a_thousand_packets_each_way_in_every_mode_survive_five_percent_loss() -> Result<(), Failure>
{
    let mut server = host_with(channels(Config::new())?).await?;
    let seed = Seed::new(29);
    let line = LinkConfig::new().loss(5.0).delay(Duration::from_millis(10));
    server.set_conditioners(
        LinkConditioner::between(line, seed.child("out", 0)),
        LinkConditioner::between(line, seed.child("back", 0)),
    );
    let mut page = Page::with(&server, channels(Config::client())?).await?;
    let got = exchange(&mut server, &mut page).await?;
    for [unreliable, reliable, passive] in got {
        assert_eq!(reliable, PACKETS, "{got:?}");
        assert!((800..PACKETS).contains(&unreliable), "{got:?}");
        assert!((800..=PACKETS).contains(&passive), "{got:?}");
    }
    Ok(())
}
