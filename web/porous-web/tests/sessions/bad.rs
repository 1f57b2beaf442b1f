//! What no honest page sends.

use core::time::Duration;

use porous_web::proto::Peer;
use porous_web::proto::prelude::*;
use porous_web::{Certificate, WebConfig, WebHost};
use tokio::net::UdpSocket;
use tokio::time::sleep;

use crate::page::{Failure, Page, host, open, serve};

/// Goes on with a page until it has heard an echo.
async fn echoed(page: &mut Page) -> Result<(), Failure> {
    let mut is_sent = false;
    loop {
        page.turn().await?;
        if page.host.peer(page.peer).map(Peer::state) == Some(PeerState::Connected) && !is_sent {
            page.host
                .send(page.peer, ChannelId(0), "still there?", Mode::Reliable)?;
            is_sent = true;
        }
        if page.receive().is_some() {
            return Ok(());
        }
    }
}

#[tokio::test]
async fn garbage_and_datagrams_of_four_kilobytes_change_nothing() -> Result<(), Failure> {
    let mut server = host().await?;
    let (at, hash) = (server.web_addr()?, server.certificate_hash());
    let udp = server.udp_addr().ok_or("no socket")?;
    let mut page = Page::open(&server).await?;
    let bad = async {
        let (_endpoint, stranger) = open(at, hash).await?;
        let socket = UdpSocket::bind("127.0.0.1:0").await?;
        for length in [0, 1, 7, 512, 1024, 1100] {
            stranger.send_datagram(vec![0xA5; length])?;
        }
        // QUIC has no room for it: it never leaves, as in a browser.
        assert!(stranger.send_datagram(vec![0xA5; 4096]).is_err());
        for to in [at, udp] {
            for length in [0, 1, 1200, 4096, 60_000] {
                socket.send_to(&vec![0xA5; length], to).await?;
            }
        }
        echoed(&mut page).await
    };
    serve(&mut server, bad).await?;
    assert_eq!(server.peers().count(), 1);
    assert!(server.stats().datagrams_received > 10);
    Ok(())
}

#[tokio::test]
async fn a_session_that_floods_does_not_silence_another() -> Result<(), Failure> {
    let mut server = host().await?;
    let (at, hash) = (server.web_addr()?, server.certificate_hash());
    let mut page = Page::open(&server).await?;
    let (_endpoint, stranger) = open(at, hash).await?;
    let flood = tokio::spawn(async move {
        loop {
            for _ in 0..50 {
                let _lost = stranger.send_datagram([0xA5; 1000]);
            }
            sleep(Duration::from_millis(1)).await;
        }
    });
    for _ in 0..20 {
        serve(&mut server, echoed(&mut page)).await?;
    }
    flood.abort();
    Ok(())
}

#[tokio::test]
async fn a_session_that_closes_in_the_handshake_leaves_nothing_behind() -> Result<(), Failure> {
    let mut server = host().await?;
    let (at, hash) = (server.web_addr()?, server.certificate_hash());
    let mut page = Page::open(&server).await?;
    let closing = async {
        for after in 0..20 {
            let opening =
                tokio::spawn(async move { open(at, hash).await.map(drop).map_err(|_| ()) });
            sleep(Duration::from_millis(after)).await;
            opening.abort();
        }
        echoed(&mut page).await
    };
    serve(&mut server, closing).await?;
    // Each session that was opened is told to be closed.
    for _ in 0..100 {
        if server.web_stats().sessions == 1 {
            break;
        }
        server.wait(Duration::from_millis(100)).await?;
    }
    assert_eq!(server.web_stats().sessions, 1);
    Ok(())
}

#[tokio::test]
async fn another_certificate_is_for_new_sessions_and_open_ones_go_on() -> Result<(), Failure> {
    let mut server = host().await?;
    let (at, old) = (server.web_addr()?, server.certificate_hash());
    let mut page = Page::open(&server).await?;
    serve(&mut server, echoed(&mut page)).await?;
    server
        .set_certificate(Certificate::self_signed(["localhost"]))
        .await?;
    let new = server.certificate_hash();
    assert_ne!(new, old);
    let opening = async {
        assert!(open(at, old).await.is_err());
        echoed(&mut page).await?;
        open(at, new).await
    };
    serve(&mut server, opening).await?;
    Ok(())
}

#[tokio::test]
async fn a_host_without_a_certificate_says_which_file_is_missing() {
    let certificate = Certificate::pem_files("no/chain.pem", "no/key.pem");
    let web = WebConfig::new(([127, 0, 0, 1], 0).into(), certificate);
    let error = WebHost::bind(web, Config::new()).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    assert!(error.to_string().contains("no/chain.pem"), "{error}");
}
