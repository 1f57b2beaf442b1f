//! Tests of what a host tells the log.

use alloc::sync::Arc;
use core::fmt::{self, Write as _};
use core::time::Duration;
use std::io;
use std::net::UdpSocket;
use std::sync::Mutex;

use getrandom::SysRng;
use porous_proto::{Config, Disconnect, Ecn, Event, Host, Instant, Listen, Mode};
use rand_core::UnwrapErr;
use rustix::io::Errno;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};

use crate::faulty::Faulty;
use crate::log::Ignoring;
use crate::{Clock, Endpoint, SystemSocket, bind};

/// Far longer than any of these tests waits.
const LIMIT: Duration = Duration::from_secs(20);

/// A log in memory: a line for each event.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let written = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
        written.unwrap();
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "porous"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The lines that were logged meanwhile.
fn logged(run: impl FnOnce()) -> Vec<String> {
    let log = Log::default();
    tracing::subscriber::with_default(log.clone(), run);
    let lines = log.0.lock().unwrap();
    lines.clone()
}

fn step<S: SystemSocket>(host: &mut Endpoint<S>) -> io::Result<()> {
    host.receive_datagrams()?;
    host.transmit()
}

/// Drives both until the first has an event that `wanted` accepts.
fn until<S: SystemSocket>(
    host: &mut Endpoint<S>,
    other: &mut Endpoint<UdpSocket>,
    wanted: impl Fn(Event<core::net::SocketAddr>) -> bool,
) {
    let clock = Clock::start();
    while clock.now().saturating_duration_since(Instant::ZERO) < LIMIT {
        step(host).unwrap();
        step(other).unwrap();
        if core::iter::from_fn(|| host.poll_event()).any(&wanted) {
            return;
        }
    }
    panic!("the event did not come");
}

fn server() -> Endpoint<UdpSocket> {
    let mut server = Endpoint::new(bind("127.0.0.1:0").unwrap(), Config::new()).unwrap();
    server.listen(Listen::Open).unwrap();
    server
}

#[test]
fn the_life_of_a_connection_is_told_and_not_its_packets() {
    let mut address = None;
    let lines = logged(|| {
        let mut server = server();
        let to = server.local_addr().unwrap();
        let mut client = Endpoint::new(bind("127.0.0.1:0").unwrap(), Config::client()).unwrap();
        address = Some((to, client.local_addr().unwrap()));
        let peer = client.connect(to).unwrap();
        until(&mut client, &mut server, |event| {
            matches!(event, Event::Connected { .. })
        });
        for n in 0..100_u8 {
            let sent = client.send(peer, porous_proto::ChannelId(0), vec![n], Mode::Reliable);
            sent.unwrap();
            step(&mut client).unwrap();
            step(&mut server).unwrap();
        }
        client
            .disconnect(peer, Disconnect::Now { reason: 7 })
            .unwrap();
        until(&mut server, &mut client, |event| {
            matches!(event, Event::Disconnected { .. })
        });
        until(&mut client, &mut server, |event| {
            matches!(event, Event::Disconnected { .. })
        });
    });
    let (server, client) = address.unwrap();
    let expected = [
        "INFO listen policy=open".to_owned(),
        format!("DEBUG connect peer=0#1 to=[{server}]"),
        format!("INFO connected peer=0#1 address={server}"),
        format!("INFO connected peer=0#1 address={client}"),
        "INFO disconnected peer=0#1 reason=the remote application disconnected, reason 7 \
         undelivered=0"
            .to_owned(),
        "INFO disconnected peer=0#1 reason=this host disconnected, reason 7".to_owned(),
    ];
    for line in &expected {
        assert!(
            lines.iter().any(|told| told.starts_with(line)),
            "{line}: {lines:#?}"
        );
    }
    assert_eq!(lines.len(), expected.len(), "{lines:#?}");
}

#[test]
fn an_error_of_the_socket_is_told() {
    let lines = logged(|| {
        let socket = Faulty::bind("127.0.0.1:0");
        let faults = Arc::clone(&socket.faults);
        let mut host = Endpoint::plain(socket, Config::client()).unwrap();
        host.connect(([127, 0, 0, 1], 9).into()).unwrap();
        faults.send().next.push_back(Errno::BADF.into());
        assert!(step(&mut host).is_err());
    });
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("ERROR socket failed error=")),
        "{lines:#?}"
    );
}

#[test]
fn what_is_ignored_is_told_once_a_second() {
    let mut host = Host::<_, u32>::new(Config::new(), UnwrapErr(SysRng));
    let mut ignoring = Ignoring::new();
    let mut report = |at: u64, host: &Host<UnwrapErr<SysRng>, u32>| {
        let now = Instant::from_micros(at);
        logged(|| ignoring.report(now, || host.stats()))
    };
    let junk = |host: &mut Host<UnwrapErr<SysRng>, u32>, datagrams: u32| {
        for _ in 0..datagrams {
            host.handle_datagram(Instant::ZERO, 1, Ecn::NotEct, &[0x44; 3]);
        }
    };
    assert!(report(0, &host).is_empty());
    junk(&mut host, 1000);
    assert!(report(999_999, &host).is_empty());
    let told = ["DEBUG ignored datagrams=1000 cause=\"malformed\""];
    assert_eq!(report(1_000_000, &host), told);
    assert!(report(2_000_000, &host).is_empty(), "nothing new");
    junk(&mut host, 1);
    let told = ["DEBUG ignored datagrams=1 cause=\"malformed\""];
    assert_eq!(report(3_000_000, &host), told);
    host.handle_datagram(Instant::ZERO, 1, Ecn::NotEct, &[0x40; 30]);
    let told = report(4_000_000, &host);
    assert_eq!(told.len(), 1, "{told:?}");
}
