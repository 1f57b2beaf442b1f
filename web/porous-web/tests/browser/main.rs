//! Hosts and pages in a real browser, on loopback. Needs Chromium, or the browser that `POROUS_BROWSER` names.

extern crate alloc;

#[path = "../../examples/play/bots.rs"]
mod bots;
mod browser;
#[path = "../../examples/play/http.rs"]
mod http;
#[path = "../../examples/play/table.rs"]
mod table;

use core::net::SocketAddr;
use core::time::Duration;

use porous_udp::LinkConditioner;
use porous_udp::sim::{LinkConfig, Seed};
use porous_web::proto::prelude::*;
use porous_web::wtransport::Identity;
use porous_web::wtransport::tls::self_signed::time;
use porous_web::{Certificate, WebAddress, WebConfig, WebHost};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::browser::{Failure, Pages, Running, UNSEEN, View, browser, picture, pictures, show};
use crate::table::{Place, Table};

/// No step of a test takes longer.
const LIMIT: Duration = Duration::from_secs(60);

/// Packets of each mode and each way.
const PACKETS: u32 = 1000;

const MODES: [Mode; 3] = [Mode::Unreliable, Mode::Reliable, Mode::Passive];

const LOCAL: SocketAddr = SocketAddr::new(core::net::IpAddr::V4(core::net::Ipv4Addr::LOCALHOST), 0);

/// A host that lets everybody in.
async fn host(certificate: Certificate) -> Result<WebHost, Failure> {
    let config = Config::new()
        .channels(&[Priority::High; 3])?
        .timeout(Duration::from_secs(3))?;
    let mut host = WebHost::bind(WebConfig::new(LOCAL, certificate), config).await?;
    host.listen(Listen::Open)?;
    Ok(host)
}

fn signed() -> Certificate {
    Certificate::self_signed(["127.0.0.1"])
}

/// A host, the pages that find it, and a browser that shows one of them.
async fn shown(
    name: &str,
    case: &str,
    certificate: Certificate,
) -> Result<(WebHost, Pages, Running), Failure> {
    let host = host(certificate).await?;
    let pages = Pages::serve(Place::of(&host)?).await?;
    let running = show(name, &pages.url(&format!("case.html?{case}")), &UNSEEN)?;
    Ok((host, pages, running))
}

/// Serves until the other future is done.
async fn serve<T>(
    host: &mut WebHost,
    until: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let serving = async {
        loop {
            if let Err(error) = host.next_event().await {
                return error;
            }
        }
    };
    tokio::select! {
        done = until => done,
        error = serving => Err(error.into()),
        () = sleep(LIMIT) => Err(format!("not done in {LIMIT:?}").into()),
    }
}

/// Sends all packets to the page, and counts those that come, by mode, until the page is done.
async fn exchange(
    host: &mut WebHost,
    pages: &mut Pages,
) -> Result<([u32; 3], serde_json::Value), Failure> {
    let (mut peer, mut sent, mut got) = (None, 0, [0; 3]);
    let begin = host.now();
    loop {
        host.wait(Duration::from_millis(10)).await?;
        while let Some(event) = host.poll_event() {
            if let Event::Connected { peer: new, .. } = event {
                peer = Some(new);
            }
        }
        let Some(peer) = peer else { continue };
        // In bursts, as a game would: unreliable packets that wait for long are thrown away.
        if sent < PACKETS {
            for (channel, mode) in (0..).zip(MODES) {
                let packet = format!("{} {sent}", name_of(mode));
                host.send(peer, ChannelId(channel), packet, mode)?;
            }
            sent += 1;
        }
        while let Some(packet) = host.receive(peer) {
            got[usize::from(packet.channel.0)] += 1;
        }
        let told = tokio::time::timeout(Duration::ZERO, pages.next()).await;
        match told {
            Ok(told) => {
                let told = told?;
                if told.get("got").is_some() {
                    return Ok((got, told));
                }
            }
            Err(_) if host.now() > begin + LIMIT => {
                return Err(format!("not done in {LIMIT:?}: {sent} sent, {got:?} came").into());
            }
            Err(_) => {}
        }
    }
}

const fn name_of(mode: Mode) -> &'static str {
    match mode {
        Mode::Unreliable => "unreliable",
        Mode::Reliable => "reliable",
        Mode::Passive => "passive",
    }
}

#[tokio::test]
async fn a_thousand_packets_each_way_in_every_mode_survive_five_percent_loss() -> Result<(), Failure>
{
    let Some((name, _turn)) = browser().await else {
        return Ok(());
    };
    let mut host = host(signed()).await?;
    let (line, seed) = (LinkConfig::new().loss(5.0), Seed::new(29));
    host.set_conditioners(
        LinkConditioner::between(line, seed.child("out", 0)),
        LinkConditioner::between(line, seed.child("back", 0)),
    );
    let mut pages = Pages::serve(Place::of(&host)?).await?;
    let _running = show(&name, &pages.url("case.html?thousand"), &UNSEEN)?;
    let (up, told) = exchange(&mut host, &mut pages).await?;
    eprintln!("{name}: {up:?} came up; {told}");
    let down = MODES.map(|mode| told["got"][name_of(mode)].as_u64().unwrap_or(0));
    for [unreliable, reliable, passive] in [up.map(u64::from), down] {
        assert_eq!(reliable, u64::from(PACKETS));
        // Less 5 %, give or take what chance does.
        assert!((900..990).contains(&unreliable), "{unreliable}");
        assert!((900..=1000).contains(&passive), "{passive}");
    }
    assert_eq!(told["in_order"], true);
    Ok(())
}

#[tokio::test]
async fn a_page_connects_again_when_the_server_was_restarted() -> Result<(), Failure> {
    let Some((name, _turn)) = browser().await else {
        return Ok(());
    };
    let (mut first, mut pages, _running) = shown(&name, "open", signed()).await?;
    serve(&mut first, pages.until("connected")).await?;
    drop(first);
    let words = pages.until("lost").await?;
    assert!(words.contains("Reconnecting"), "{words}");
    // Not at once: a page finds nobody, too.
    let words = pages.until("lost").await?;
    assert!(words.contains("cannot be reached"), "{words}");
    let mut second = host(signed()).await?;
    pages.place.send_replace(Place::of(&second)?);
    serve(&mut second, pages.until("connected")).await?;
    Ok(())
}

#[tokio::test]
async fn a_certificate_that_has_run_out_is_told_in_words() -> Result<(), Failure> {
    let Some((name, _turn)) = browser().await else {
        return Ok(());
    };
    let now = time::OffsetDateTime::now_utc();
    let ended = Identity::self_signed_builder()
        .subject_alt_names(["127.0.0.1"])
        .validity_period(
            now - time::Duration::days(10),
            now - time::Duration::days(1),
        )
        .build()?;
    let (mut host, mut pages, _running) = shown(&name, "open", Certificate::ready(ended)).await?;
    let words = serve(&mut host, pages.until("lost")).await?;
    assert!(words.contains("certificate has run out"), "{words}");
    host.set_certificate(signed()).await?;
    pages.place.send_replace(Place::of(&host)?);
    serve(&mut host, pages.until("connected")).await?;
    Ok(())
}

#[tokio::test]
async fn a_browser_without_web_transport_is_told_in_words() -> Result<(), Failure> {
    let Some((name, _turn)) = browser().await else {
        return Ok(());
    };
    let (mut host, mut pages, _running) = shown(&name, "missing", signed()).await?;
    let words = serve(&mut host, pages.until("unsupported")).await?;
    assert!(
        words.contains("This browser has no WebTransport"),
        "{words}"
    );
    Ok(())
}

#[tokio::test]
async fn sessions_that_close_in_the_handshake_and_four_kilobytes_change_nothing()
-> Result<(), Failure> {
    let Some((name, _turn)) = browser().await else {
        return Ok(());
    };
    let (mut host, mut pages, _running) = shown(&name, "bad", signed()).await?;
    let told = serve(&mut host, pages.next()).await?;
    let most = told["most"].as_u64().unwrap_or(0);
    assert!(most >= u64::from(porous_web::REQUEST_SIZE), "{most}");
    serve(&mut host, pages.until("connected")).await?;
    assert_eq!(host.peers().count(), 1);
    Ok(())
}

#[tokio::test]
async fn a_page_that_sleeps_is_told_that_the_connection_is_lost_and_connects_again()
-> Result<(), Failure> {
    let Some((name, _turn)) = browser().await else {
        return Ok(());
    };
    let (mut host, mut pages, _running) = shown(&name, "sleep", signed()).await?;
    let sleeping = async {
        pages.until("connected").await?;
        let words = pages.until("lost").await?;
        assert!(words.contains("Connection lost"), "{words}");
        pages.until("connected").await
    };
    serve(&mut host, sleeping).await?;
    Ok(())
}

/// Plays until the other future is done.
async fn played<T>(
    table: &mut Table,
    pages: &watch::Sender<Place>,
    until: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        done = until => done,
        played = table.play(pages) => Err(format!("the game is over: {played:?}").into()),
        () = sleep(LIMIT) => Err(format!("not done in {LIMIT:?}").into()),
    }
}

/// The sessions and the sockets among the peers.
fn kinds(table: &Table) -> [usize; 2] {
    let host = &table.host;
    let is_session = |peer| matches!(host.address(peer), Some(WebAddress::Session(_)));
    let (sessions, sockets): (Vec<_>, Vec<_>) = host
        .peers()
        .map(|(peer, _)| peer)
        .partition(|peer| is_session(*peer));
    [sessions.len(), sockets.len()]
}

/// The body of the player in a browser.
fn body(table: &Table) -> Option<porous_arena::Body> {
    let is_session = |peer| matches!(table.host.address(peer), Some(WebAddress::Session(_)));
    let mut peers = table.host.peers().map(|(peer, _)| peer);
    let player = table.net.player(peers.find(|peer| is_session(*peer))?)?;
    let game = &table.net.game;
    game.bodies_at(game.tick())?[usize::from(player)]
}

#[tokio::test]
async fn a_player_walks_by_keys() -> Result<(), Failure> {
    /// The direction of the key A, of sixteen from east by south.
    const WEST: u8 = 8;
    let Some((name, _turn)) = browser().await else {
        return Ok(());
    };
    let web = WebConfig::new(LOCAL, signed());
    let mut table = Table::bind(web, LinkConfig::new(), Seed::new(3)).await?;
    let pages = Pages::serve(Place::of(&table.host)?).await?;
    let _running = show(&name, &pages.url("keys.html"), &UNSEEN)?;
    let begin = table.host.now();
    while body(&table).map(|body| body.walk) != Some(WEST) {
        assert!(table.host.now() < begin + LIMIT, "{:?}", body(&table));
        table.turn().await?;
    }
    Ok(())
}

#[tokio::test]
async fn players_in_a_browser_and_on_a_desktop_meet_in_one_game() -> Result<(), Failure> {
    let Some((name, _turn)) = browser().await else {
        return Ok(());
    };
    let web = WebConfig::new(LOCAL, signed()).udp(LOCAL);
    let line = LinkConfig::new().loss(3.0).delay(Duration::from_millis(20));
    let mut table = Table::bind(web, line, Seed::new(3)).await?;
    let pages = Pages::serve(Place::of(&table.host)?).await?;
    let udp = table.host.udp_addr().ok_or("no socket")?;
    std::thread::spawn(move || bots::play(udp, 11, Seed::new(4)));
    let place = pages.place.clone();
    let running = show(&name, &pages.url("?bot"), &UNSEEN)?;
    let begin = table.host.now();
    while table.net.players() < 12 || kinds(&table) != [1, 11] {
        assert!(table.host.now() < begin + LIMIT, "{:?}", kinds(&table));
        table.turn().await?;
    }
    // The bot of the page walks: what the page sends is heard.
    let at = |table: &Table| body(table).map(|body| body.at);
    let (begin, mut first) = (table.host.now(), None);
    while first.is_none() || at(&table) == first {
        assert!(table.host.now() < begin + LIMIT, "it stands");
        first = first.or_else(|| at(&table));
        table.turn().await?;
    }
    drop(running);
    let Some(folder) = pictures() else {
        return Ok(());
    };
    for (file, size, is_dark) in [
        ("wide-light.png", [1400, 900], false),
        ("wide-dark.png", [1400, 900], true),
        ("narrow-light.png", [400, 1300], false),
        ("narrow-dark.png", [400, 1300], true),
    ] {
        // A Firefox without a screen knows no dark system.
        if is_dark && name.starts_with("firefox") {
            continue;
        }
        let path = folder.join(file);
        let view = View {
            size,
            is_dark,
            picture: Some(&path),
        };
        let shot = picture(&name, &pages, &view, Duration::from_secs(12));
        played(&mut table, &place, shot).await?;
    }
    Ok(())
}
