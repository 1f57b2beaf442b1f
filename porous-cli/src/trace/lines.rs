//! Lines of at most 100 columns. Tests and scripts compare them, so their form stays.

use core::fmt::Write;

use porous_std::Instant;
use porous_trace::{Entry, Read, Record, Talk, Value, fields};
use serde_json::Value as Json;

use super::pcap::Packet;
use super::{Show, View};

/// The most columns of a line.
const COLUMNS: usize = 100;

/// Columns in front of what stands below a line.
const INDENT: usize = 15;

/// For people.
pub(super) struct Lines {
    /// Whether records are shown as well that tell little.
    pub(super) all: bool,
}

/// Whether a record tells little: a turn, what was drawn, a look for a packet where none was.
fn is_quiet(record: &Record) -> bool {
    matches!(
        record,
        Record::Draws { .. }
            | Record::Timeout { .. }
            | Record::Idle { .. }
            | Record::Backlog { waits: false, .. }
            | Record::Receive { packet: None, .. }
    )
}

/// Seconds and microseconds, in as many columns as the lines below are indented.
fn time(now: Instant) -> String {
    let (seconds, micros) = (now.as_micros() / 1_000_000, now.as_micros() % 1_000_000);
    format!("{seconds:>6}.{micros:06}  ")
}

/// Breaks words into lines of at most 100 columns. A word that fits no line is cut.
fn wrapped(first: &str, words: &[String]) -> String {
    let (mut text, mut line) = (String::new(), first.to_owned());
    let mut is_begun = false;
    for word in words {
        let room = COLUMNS - INDENT - 2;
        let word = match word.char_indices().nth(room) {
            Some((at, _)) => format!("{}..", &word[..at]),
            None => word.clone(),
        };
        if is_begun && line.chars().count() + 1 + word.chars().count() > COLUMNS {
            let _fits = writeln!(text, "{}", line.trim_end());
            line = " ".repeat(INDENT + 2);
            is_begun = false;
        }
        if is_begun {
            line.push(' ');
        }
        line.push_str(&word);
        is_begun = true;
    }
    let _fits = writeln!(text, "{}", line.trim_end());
    text
}

/// A value of a record, in one word.
fn word(value: &Value) -> Option<String> {
    Some(match value {
        Value::None => return None,
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) if text.is_empty() => return None,
        Value::Text(text) => text.clone(),
        Value::Bytes(bytes) if bytes.len() <= 8 => fields::hex(bytes),
        Value::Bytes(bytes) => format!("{}_bytes", bytes.len()),
        Value::List(values) => {
            let words: Vec<String> = values.iter().filter_map(word).collect();
            words.join(",")
        }
        Value::Fields(fields) => {
            let words = fields.iter().filter_map(|(name, value)| {
                let word = word(value)?;
                Some(format!("{name}:{word}"))
            });
            words.collect::<Vec<_>>().join(",")
        }
    })
}

/// `name=value` of each value that is there.
fn pairs(record: &Record, without: &[&str]) -> Vec<String> {
    let fields = record.fields().into_iter();
    let shown = fields.filter(|(name, _)| !without.contains(name));
    shown
        .filter_map(|(name, value)| Some(format!("{name}={}", word(&value)?)))
        .collect()
}

/// A field of a datagram, in one word. Payloads are told by their length.
fn json_word(name: &str, value: &Json) -> String {
    match value {
        Json::String(digits) if name == "payload" => format!("{}_bytes", digits.len() / 2),
        Json::String(text) if text.len() > 40 => format!("{}_bytes", text.len() / 2),
        Json::String(text) => text.replace(' ', "_"),
        Json::Array(values) => {
            let words: Vec<String> = values.iter().map(|value| json_word("", value)).collect();
            words.join(",")
        }
        Json::Object(map) => {
            let words = map.iter().map(|(name, value)| json_word(name, value));
            words.collect::<Vec<_>>().join(":")
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => value.to_string(),
    }
}

/// A form or a message, and below it what it consists of.
fn part(name: &str, value: &Json) -> String {
    let Json::Object(map) = value else {
        return String::new();
    };
    let mut words = vec![name.to_owned()];
    let mut parts = String::new();
    for (field, value) in map {
        let field = field.as_str();
        if ["form", "message"].contains(&field) && value.is_string() {
            continue;
        }
        match value {
            Json::Object(_) => parts.push_str(&part(field, value)),
            Json::Array(messages) if field == "messages" => {
                for message in messages {
                    let name = message["message"].as_str().unwrap_or("message");
                    parts.push_str(&part(name, message));
                }
            }
            Json::Array(values) if values.is_empty() => {}
            Json::Array(_) | Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {
                words.push(format!("{field}={}", json_word(field, value)))
            }
        }
    }
    wrapped(&" ".repeat(INDENT), &words) + &parts
}

/// What a datagram says, a line for each form and each message.
fn said(read: &Read, datagram: &[u8]) -> String {
    let mut text = String::new();
    for form in fields::forms(&read.forms, datagram, read.at) {
        let name = form["form"].as_str().unwrap_or("form").to_owned();
        text.push_str(&part(&name, &form));
    }
    if let Some(why) = read.unread {
        text.push_str(&wrapped(&" ".repeat(INDENT), &[format!("not read: {why}")]));
    }
    text
}

impl Show for Lines {
    fn entry(&self, entry: &Entry, view: &mut View) -> String {
        let record = &entry.record;
        view.now = record.now().unwrap_or(view.now);
        if !self.all && is_quiet(record) {
            return String::new();
        }
        let begin = time(view.now);
        let Some(wire) = record.wire() else {
            let mut words = vec![record.name().to_owned()];
            words.extend(pairs(record, &["now", "settings"]));
            return wrapped(&begin, &words);
        };
        let arrow = if wire.is_sent { "->" } else { "<-" };
        let mut words = vec![arrow.to_owned(), wire.remote.to_string()];
        words.push(format!("{}_bytes", wire.bytes.len()));
        words.extend(pairs(record, &["now", "from", "to", "bytes"]));
        let below = view.read(record).map(|(read, bytes)| said(&read, bytes));
        wrapped(&begin, &words) + &below.unwrap_or_default()
    }

    fn packet(&self, packet: &Packet, talk: &mut Talk) -> String {
        let Packet {
            time: at,
            from,
            to,
            datagram,
        } = packet;
        let read = talk.read(*from, *to, datagram);
        let words = [
            from.to_string(),
            "->".to_owned(),
            to.to_string(),
            format!("{}_bytes", datagram.len()),
        ];
        wrapped(&time(*at), &words) + &said(&read, datagram)
    }
}
