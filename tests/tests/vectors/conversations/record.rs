//! Makes a conversation, and the lines of its file.

use alloc::collections::BTreeMap;
use core::net::SocketAddr;

use porous_proto::Ecn;
use porous_trace::{Talk, fields};
use serde_json::{Value, json};

use super::HOSTS;
use super::actor::{Actor, Arrival, Told};
use super::scripts::{Act, CLIENT, Fate, SERVER, Script, places};
use crate::vector::{Context, Vector};

/// How long a datagram takes, in microseconds.
const DELAY: u64 = 20_000;

/// A datagram that was sent.
#[derive(Clone, Debug)]
struct Sent {
    by: usize,
    at: u64,
    /// When it came, if it did, and with what mark.
    came: Option<u64>,
    from: SocketAddr,
    to: SocketAddr,
    ecn: Ecn,
    bytes: Vec<u8>,
}

/// A conversation, as it was recorded.
pub(crate) struct Recording {
    script: &'static str,
    about: &'static str,
    sent: Vec<Sent>,
    told: [Told; 2],
}

/// The line between the hosts.
struct Line<'s> {
    script: &'s Script,
    /// Where the hosts are.
    places: [SocketAddr; 2],
    sent: Vec<Sent>,
    counts: [usize; 2],
    /// What is on its way: the time at which it comes, and its place in `sent`.
    flying: BTreeMap<(u64, usize), usize>,
}

impl Line<'_> {
    fn take(&mut self, now: u64, by: usize, departure: super::actor::Departure) {
        let number = self.counts[by];
        self.counts[by] += 1;
        let fates = self.script.fates.iter();
        let fate = fates.filter(|(host, nth, _)| (*host, *nth) == (by, number));
        let fate = fate.map(|(.., fate)| *fate).next();
        let mut ecn = departure.ecn;
        let mut came = Some(now + DELAY);
        match fate {
            Some(Fate::Lost) => came = None,
            Some(Fate::Late(ms)) => came = Some(now + DELAY + 1000 * ms),
            Some(Fate::Marked) if ecn == Ecn::Ect0 => ecn = Ecn::Ce,
            Some(Fate::Marked) | None => {}
        }
        // Nobody is at an address that a router has taken back.
        if departure.to != self.places[1 - by] {
            came = None;
        }
        let place = self.sent.len();
        if let Some(at) = came {
            self.flying.insert((at, place), 1 - by);
        }
        self.sent.push(Sent {
            by,
            at: now,
            came,
            from: self.places[by],
            to: departure.to,
            ecn,
            bytes: departure.bytes,
        });
    }

    /// Moves hosts whose router gives them another address by now.
    fn route(&mut self, now: u64) {
        for (at, host, act) in &self.script.acts {
            if let Act::Move(to) = act {
                if at * 1000 <= now {
                    self.places[*host] = *to;
                }
            }
        }
    }
}

/// Lets two hosts of today talk.
pub(crate) fn record(script: &Script) -> Recording {
    let mut actors = [CLIENT, SERVER].map(|place| Actor::new(script, place));
    let mut line = Line {
        script,
        places: places(),
        sent: Vec::new(),
        counts: [0; 2],
        flying: BTreeMap::new(),
    };
    loop {
        let due = actors.iter().filter_map(Actor::next);
        let comes = line.flying.keys().next().map(|(at, _)| *at);
        let Some(now) = due.chain(comes).min().filter(|now| *now <= script.until) else {
            break;
        };
        line.route(now);
        let mut called = actors
            .each_ref()
            .map(|actor| actor.next().is_some_and(|at| at <= now));
        while let Some(entry) = line
            .flying
            .first_entry()
            .filter(|entry| entry.key().0 <= now)
        {
            let ((at, place), host) = entry.remove_entry();
            let sent = &line.sent[place];
            actors[host].handle(&Arrival {
                at,
                from: sent.from,
                ecn: sent.ecn,
                bytes: sent.bytes.clone(),
            });
            called[host] = true;
        }
        for (host, actor) in actors.iter_mut().enumerate() {
            if called[host] {
                for departure in actor.turn(now) {
                    line.take(now, host, departure);
                }
            }
        }
    }
    Recording {
        script: script.name,
        about: script.about,
        sent: line.sent,
        told: actors.map(Actor::told),
    }
}

const MARKS: [(Ecn, &str); 3] = [
    (Ecn::Ect0, "ECT(0)"),
    (Ecn::Ect1, "ECT(1)"),
    (Ecn::Ce, "CE"),
];

/// The datagram of a line of a file.
pub(crate) fn arrival(line: &Value) -> Arrival {
    let mark = MARKS.iter().find(|(_, name)| line["ecn"] == *name);
    Arrival {
        at: line["came"].as_u64().unwrap(),
        from: line["from"].as_str().unwrap().parse().unwrap(),
        ecn: mark.map_or(Ecn::NotEct, |(mark, _)| *mark),
        bytes: super::bytes(line),
    }
}

/// What this host has told, as it stands in a file.
pub(crate) fn told(host: &str, told: &Told) -> Value {
    let packets = told.packets.iter().map(|(channel, packets)| {
        let packets = packets.iter().map(|packet| {
            json!({ "mode": packet.mode.to_string(), "payload": fields::hex(&packet.payload) })
        });
        (channel.to_string(), packets.collect::<Value>())
    });
    json!({
        "host": host,
        "packets": packets.collect::<serde_json::Map<_, _>>(),
        "events": told.events,
        "receipts": told.receipts,
        "ignored": told.ignored,
    })
}

/// What the receivers of short forms know, as the handshake tells.
#[derive(Default)]
struct Known {
    nonces: [u64; 2],
    log2_n_q: Option<u64>,
    checks_all: bool,
    is_sealed: bool,
}

impl Known {
    fn learn(&mut self, by: usize, form: &Value) {
        let offer = &form["offer"];
        if let Some(log2) = offer["log2_n_q"].as_u64() {
            self.log2_n_q = Some(self.log2_n_q.map_or(log2, |other| other.min(log2)));
        }
        self.checks_all |= offer["check"] == "all";
        self.is_sealed |= form["form"] == "ACK with AUTH";
        let is_ack = form["form"]
            .as_str()
            .is_some_and(|form| form.starts_with("ACK"));
        if let Some(nonce) = form["nonce_self"].as_str().filter(|_| is_ack) {
            self.nonces[by] = u64::from_str_radix(nonce.trim_start_matches("0x"), 16).unwrap();
        }
    }
}

fn vectors(recording: &Recording) -> Vec<Vector> {
    let (mut talk, mut known) = (Talk::default(), Known::default());
    let vectors = recording.sent.iter().enumerate().map(|(number, sent)| {
        let read = talk.read(sent.from, sent.to, &sent.bytes);
        let forms = fields::forms(&read.forms, &sent.bytes, read.at);
        let mut id = None;
        for form in &forms {
            known.learn(sent.by, form);
            if form["form"] == "short form" {
                id = form["connection_id"].as_str().map(|hex| hex.len() / 2);
            }
        }
        let name = format!("{}: datagram {number}", recording.script);
        let Some(connection_id_len) = id else {
            return Vector::long(name, sent.bytes.clone());
        };
        let nonces = [known.nonces[sent.by], known.nonces[1 - sent.by]];
        let context = Context {
            connection_id_len,
            window: 1 << known.log2_n_q.unwrap(),
            is_crc: known.checks_all,
            is_sealed: known.is_sealed,
            nonces: if known.is_sealed { [0; 2] } else { nonces },
            next_frame: read.at.next_frame,
            next_acknowledged: read.at.next_acknowledged,
        };
        Vector::short(name, context, sent.bytes.clone())
    });
    vectors.collect()
}

/// The file: a line for each datagram, in the order in which they were sent, and one for what each host has told.
pub(crate) fn text(recording: &Recording) -> String {
    let mut lines = vec![json!({ "conversation": recording.script, "about": recording.about })];
    for (vector, sent) in vectors(recording).iter().zip(&recording.sent) {
        let mut line = vector.json();
        line["by"] = HOSTS[sent.by].into();
        line["sent"] = sent.at.into();
        if let Some(came) = sent.came {
            line["came"] = came.into();
        }
        line["from"] = sent.from.to_string().into();
        line["to"] = sent.to.to_string().into();
        if let Some((_, name)) = MARKS.iter().find(|(mark, _)| *mark == sent.ecn) {
            line["ecn"] = (*name).into();
        }
        lines.push(line);
    }
    let told = HOSTS.iter().zip(&recording.told);
    lines.extend(told.map(|(host, told)| self::told(host, told)));
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}
