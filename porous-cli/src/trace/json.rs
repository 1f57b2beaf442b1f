//! A JSON object a line. The fields of datagrams have the names of `docs/vectors/README.md`.

use porous_trace::{Entry, Read, Talk, Value, fields};
use serde_json::{Value as Fields, json};

use super::pcap::Packet;
use super::{Show, View};

/// For programs.
pub(super) struct Json;

fn value(value: &Value) -> Fields {
    match value {
        Value::None => Fields::Null,
        Value::Bool(yes) => (*yes).into(),
        Value::Number(number) => (*number).into(),
        Value::Text(text) => text.clone().into(),
        Value::Bytes(bytes) => fields::hex(bytes).into(),
        Value::List(values) => values.iter().map(self::value).collect(),
        Value::Fields(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, value)| ((*name).to_owned(), self::value(value)));
            Fields::Object(fields.collect())
        }
    }
}

fn add(object: &mut Fields, read: &Read, datagram: &[u8]) {
    object["forms"] = fields::forms(&read.forms, datagram, read.at).into();
    if let Some(why) = read.unread {
        object["unread"] = why.to_string().into();
    }
}

fn line(object: &Fields) -> String {
    format!("{object}\n")
}

impl Show for Json {
    fn entry(&self, entry: &Entry, view: &mut View) -> String {
        let record = &entry.record;
        let mut object = json!({ "record": entry.number, "kind": record.name() });
        for (name, field) in record.fields() {
            object[name] = value(&field);
        }
        if let Some((read, bytes)) = view.read(record) {
            add(&mut object, &read, bytes);
        }
        line(&object)
    }

    fn packet(&self, packet: &Packet, talk: &mut Talk) -> String {
        let read = talk.read(packet.from, packet.to, &packet.datagram);
        let mut object = json!({
            "kind": "datagram",
            "now": packet.time.as_micros(),
            "from": packet.from.to_string(),
            "to": packet.to.to_string(),
            "bytes": fields::hex(&packet.datagram),
        });
        add(&mut object, &read, &packet.datagram);
        line(&object)
    }
}
