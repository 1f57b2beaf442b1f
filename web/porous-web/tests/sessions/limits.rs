//! What one machine can take.

use core::time::Duration;

use porous_web::proto::prelude::*;
use tokio::time::{sleep, timeout};

use crate::page::{Failure, Page, host_of, open, serve};

#[tokio::test]
async fn one_address_opens_no_more_sessions_than_it_may() -> Result<(), Failure> {
    let mut server = host_of(|web| web.sessions_per_ip(2)).await?;
    let (at, hash) = (server.web_addr()?, server.certificate_hash());
    let opening = async {
        let first = open(at, hash).await?;
        let second = open(at, hash).await?;
        assert!(open(at, hash).await.is_err());
        drop(first);
        // The place is free when QUIC has told the server of the end.
        loop {
            if let Ok(third) = open(at, hash).await {
                return Ok((second, third));
            }
        }
    };
    let (_open, _) = serve(&mut server, opening).await?;
    let stats = server.web_stats();
    assert_eq!(stats.sessions_opened, 3);
    assert!(stats.sessions_refused >= 1, "{stats:?}");
    Ok(())
}

#[tokio::test]
async fn a_session_in_which_nobody_connects_is_closed() -> Result<(), Failure> {
    let mut server = host_of(|web| web.handshake_timeout(Duration::from_millis(500))).await?;
    let (at, hash) = (server.web_addr()?, server.certificate_hash());
    let mut page = Page::open(&server).await?;
    let waiting = async {
        let (_endpoint, connection) = open(at, hash).await?;
        let closed = connection.closed();
        tokio::pin!(closed);
        // The page, which has connected, stays.
        loop {
            page.turn().await?;
            if timeout(Duration::ZERO, &mut closed).await.is_ok() {
                return Ok(());
            }
        }
    };
    let (((), _events), page) = (serve(&mut server, waiting).await?, page);
    assert_eq!(server.web_stats().sessions, 1);
    assert_eq!(server.peers().count(), 1);
    assert!(page.host.peer(page.peer).is_some());
    Ok(())
}

#[tokio::test]
async fn a_page_that_is_closed_is_disconnected_at_once() -> Result<(), Failure> {
    let mut server = host_of(|web| web).await?;
    let mut page = Page::open(&server).await?;
    let connecting = async {
        loop {
            page.turn().await?;
            if matches!(page.host.poll_event(), Some(Event::Connected { .. })) {
                return Ok(page);
            }
        }
    };
    let (page, _) = serve(&mut server, connecting).await?;
    drop(page);
    let begin = server.now();
    loop {
        server.wait(Duration::from_millis(20)).await?;
        let state = server.peers().next().map(|(_, peer)| peer.state());
        if state != Some(PeerState::Connected) {
            break;
        }
        // The timeout of a silent peer is 10 s.
        assert!(server.now() < begin + Duration::from_secs(3), "{state:?}");
    }
    Ok(())
}

#[tokio::test]
async fn handshakes_that_go_on_for_too_long_make_room() -> Result<(), Failure> {
    let limit = Duration::from_millis(300);
    let mut server = host_of(|web| web.handshakes(4).handshake_timeout(limit)).await?;
    let (at, hash) = (server.web_addr()?, server.certificate_hash());
    // A client that answers nothing after its first datagram, as its task has ended.
    for _ in 0..8 {
        let silent = tokio::spawn(async move { open(at, hash).await.map(drop).map_err(|_| ()) });
        server.wait(Duration::from_millis(5)).await?;
        silent.abort();
    }
    let opening = async {
        loop {
            if let Ok(open) = open(at, hash).await {
                return Ok(open);
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    serve(&mut server, opening).await?;
    Ok(())
}
