//! The page by HTTP: a few fixed files, and answers of the program. For one machine: a page for others comes from a web
//! server with https.

use alloc::sync::Arc;
use core::convert::Infallible;
use core::time::Duration;
use std::io;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// Connections at once. A further one waits.
const CONNECTIONS: usize = 64;

/// How long a connection may last. Browsers open another one.
const LASTS: Duration = Duration::from_secs(60);

/// The time until the next connection is taken after one that could not be.
const PAUSE: Duration = Duration::from_millis(50);

/// Bytes that a page may send.
const BODY: usize = 64 << 10;

/// What a page gets: its type and its bytes.
pub(crate) type Answer = (&'static str, Bytes);

/// Answers requests by path, of which those that send something have a body; `None` if there is nothing.
pub(crate) type Answers = dyn Fn(&str, &Bytes) -> Option<Answer> + Send + Sync;

/// The files of the page of the arena.
pub(crate) fn file(path: &str) -> Option<Answer> {
    const SCRIPT: &str = "text/javascript; charset=utf-8";
    macro_rules! file {
        ($kind:expr, $path:literal) => {
            (
                $kind,
                include_bytes!(concat!("../../../", $path)).as_slice(),
            )
        };
    }
    let (kind, bytes) = match path {
        "/" => file!("text/html; charset=utf-8", "play/page/index.html"),
        "/style.css" => file!("text/css; charset=utf-8", "play/page/style.css"),
        "/play.js" => file!(SCRIPT, "play/page/play.js"),
        "/chart.js" => file!(SCRIPT, "play/page/chart.js"),
        "/porous.js" => file!(SCRIPT, "porous-wasm/porous.js"),
        "/pkg/porous_play.js" => file!(SCRIPT, "play/pkg/porous_play.js"),
        "/pkg/porous_play_bg.wasm" => file!("application/wasm", "play/pkg/porous_play_bg.wasm"),
        _ => return None,
    };
    Some((kind, Bytes::from_static(bytes)))
}

/// Serves until the task is aborted.
pub(crate) async fn serve(listener: TcpListener, answers: Arc<Answers>) -> io::Result<()> {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let place = Arc::clone(&places).acquire_owned().await;
        let place = place.map_err(io::Error::other)?;
        let Ok((stream, _)) = listener.accept().await else {
            // It was closed before it was taken, or this program has too many files open for a moment.
            sleep(PAUSE).await;
            continue;
        };
        let answers = Arc::clone(&answers);
        tokio::spawn(async move {
            let answer = service_fn(|request| answer(&*answers, request));
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), answer);
            // A browser that closes a connection does no harm.
            let _ended = timeout(LASTS, served).await;
            drop(place);
        });
    }
}

async fn answer(
    answers: &Answers,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, BODY).collect().await;
    let body = body.map(http_body_util::Collected::to_bytes);
    let found = body.ok().and_then(|body| answers(head.uri.path(), &body));
    let (status, (kind, bytes)) = match found {
        Some(found) => (StatusCode::OK, found),
        None => (StatusCode::NOT_FOUND, ("text/plain", Bytes::new())),
    };
    let response = Response::builder()
        .status(status)
        .header(CONTENT_TYPE, kind)
        .header(CACHE_CONTROL, "no-store")
        .body(Full::new(bytes));
    Ok(response.unwrap_or_default())
}
