//! One vector: a datagram, what its reader has to know, and what the library reads in it.

use porous_proto::hooks::codec::{self, Agreement};
use porous_proto::hooks::sealing::SealedShort;
use porous_proto::{Integrity, Malformed};
use porous_tests::encoder;
use porous_trace::{Anchors, fields};
use serde_json::{Value, json};

/// The causes of refusal and their names in the files.
pub(crate) const CAUSES: [(Malformed, &str); 9] = [
    (Malformed::Truncated, "truncated"),
    (Malformed::UnknownType, "unknown type"),
    (Malformed::Version, "version"),
    (Malformed::Reserved, "reserved"),
    (Malformed::NotCanonical, "not canonical"),
    (Malformed::BadValue, "bad value"),
    (Malformed::TooManyMessages, "too many messages"),
    (Malformed::TrailingBytes, "trailing bytes"),
    (Malformed::Integrity, "integrity"),
];

/// The nonces of the sender and of the receiver of a short form.
pub(crate) const NONCES: [u64; 2] = [0xA7A6_A5A4_A3A2_A1A0, 0xB7B6_B5B4_B3B2_B1B0];

/// What the receiver of a short form knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// Bytes of a connection id.
    pub(crate) connection_id_len: usize,
    /// N_Q.
    pub(crate) window: u32,
    /// True if the check covers all bytes.
    pub(crate) is_crc: bool,
    /// True if the connection is sealed: then there is no check.
    pub(crate) is_sealed: bool,
    /// The nonces of the sender and of the receiver.
    pub(crate) nonces: [u64; 2],
    /// One past the newest frame id that came.
    pub(crate) next_frame: u64,
    /// One past the newest id of an own frame that was acknowledged.
    pub(crate) next_acknowledged: u64,
}

impl Context {
    /// With connection ids of 4 bytes, packet ids of 2 bytes, and a check of the head; at the first frame.
    pub(crate) const PLAIN: Self = Self {
        connection_id_len: 4,
        window: 4096,
        is_crc: false,
        is_sealed: false,
        nonces: NONCES,
        next_frame: 0,
        next_acknowledged: 0,
    };

    /// Bytes of a packet id.
    pub(crate) const fn id_bytes(&self) -> u8 {
        if self.window <= 16384 { 2 } else { 3 }
    }

    /// The shape of short forms before their check is there.
    pub(crate) fn shape(&self) -> encoder::Shape {
        encoder::Shape {
            id_bytes: self.id_bytes().into(),
            window: self.window,
            check: None,
        }
    }

    /// Appends the check to a short form with these full ids.
    pub(crate) fn append_check(&self, id: u64, acked: Option<u64>, short: &mut Vec<u8>) {
        let check = encoder::Check {
            is_crc: self.is_crc,
            nonces: self.nonces,
        };
        check.append(id, acked, short);
    }

    const fn anchors(&self) -> Anchors {
        Anchors {
            next_frame: self.next_frame,
            next_acknowledged: self.next_acknowledged,
        }
    }

    fn agreement(&self) -> Agreement {
        Agreement {
            connection_id_len: self.connection_id_len,
            id_bytes: self.id_bytes(),
            window: self.window,
            check: (!self.is_sealed).then_some(codec::Check {
                integrity: if self.is_crc {
                    Integrity::Crc32c
                } else {
                    Integrity::Header
                },
                nonces: self.nonces,
                next: self.next_frame,
                acked: self.next_acknowledged,
            }),
        }
    }

    /// The context as it stands in a file.
    pub(crate) fn from_json(json: &Value) -> Self {
        let number = |name: &str| json[name].as_u64().unwrap();
        let nonce = |at: usize| {
            let text = json["nonces"][at].as_str();
            text.map_or(0, |text| {
                u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
            })
        };
        Self {
            connection_id_len: usize::try_from(number("connection_id_bytes")).unwrap(),
            window: u32::try_from(number("n_q")).unwrap(),
            is_crc: json["check"] == "all",
            is_sealed: json["sealed"] == true,
            nonces: [0, 1].map(nonce),
            next_frame: number("next_frame"),
            next_acknowledged: number("next_acknowledged"),
        }
    }

    fn json(&self) -> Value {
        let mut json = json!({
            "connection_id_bytes": self.connection_id_len,
            "n_q": self.window,
            "next_acknowledged": self.next_acknowledged,
            "next_frame": self.next_frame,
        });
        if self.is_sealed {
            json["sealed"] = true.into();
        } else {
            json["check"] = if self.is_crc { "all" } else { "head" }.into();
            json["nonces"] = self.nonces.map(fields::id64).to_vec().into();
        }
        json
    }
}

/// A datagram and its name.
#[derive(Clone, Debug)]
pub(crate) struct Vector {
    pub(crate) name: String,
    /// `None` if the datagram is read alike whatever the receiver knows.
    context: Option<Context>,
    bytes: Vec<u8>,
    /// The cause for which the datagram is refused.
    refused: Option<Malformed>,
}

impl Vector {
    /// Long forms.
    pub(crate) fn long(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self {
            name: name.into(),
            context: None,
            bytes,
            refused: None,
        }
    }

    /// A datagram with a short form.
    pub(crate) fn short(name: impl Into<String>, context: Context, bytes: Vec<u8>) -> Self {
        Self {
            context: Some(context),
            ..Self::long(name, bytes)
        }
    }

    /// The same datagram, which has to be refused for this cause.
    pub(crate) fn refused(self, cause: Malformed) -> Self {
        Self {
            refused: Some(cause),
            ..self
        }
    }

    fn context(&self) -> Context {
        self.context.unwrap_or(Context::PLAIN)
    }

    /// A short form of a sealed connection, which stands alone.
    fn sealed_short(&self) -> Option<Result<SealedShort, Malformed>> {
        let context = self.context();
        let is_short = self.bytes.first().is_some_and(|byte0| byte0 >> 6 == 1);
        (context.is_sealed && is_short)
            .then(|| SealedShort::decode(&self.bytes, context.connection_id_len))
    }

    /// What the library reads.
    fn forms(&self) -> Result<Vec<Value>, Malformed> {
        let context = self.context();
        if let Some(short) = self.sealed_short() {
            return Ok(vec![fields::sealed_short(&short?, context.anchors())]);
        }
        let forms = codec::decode(&self.bytes, &context.agreement())?;
        Ok(fields::forms(&forms, &self.bytes, context.anchors()))
    }

    /// A complaint unless the library writes what it reads as the same bytes, or refuses what it must.
    pub(crate) fn complaint(&self) -> Option<String> {
        let agreement = self.context().agreement();
        let again = match self.sealed_short() {
            Some(short) => short.map(|short| short.encode()),
            None => codec::decode(&self.bytes, &agreement)
                .and_then(|_| codec::reencode(&self.bytes, &agreement)),
        };
        let expected = self.refused.map_or(Ok(&self.bytes), Err);
        let again = again.as_ref().map_err(|cause| *cause);
        (again != expected).then(|| format!("{}: {again:02x?}, not {expected:02x?}", self.name))
    }

    /// The vector as it stands in its file.
    pub(crate) fn json(&self) -> Value {
        let mut json = json!({ "name": self.name, "hex": fields::hex(&self.bytes) });
        if let Some(context) = self.context {
            json["context"] = context.json();
        }
        match self.forms() {
            Ok(forms) => json["forms"] = forms.into(),
            Err(cause) => {
                let name = CAUSES.iter().find(|(known, _)| *known == cause);
                json["refused"] = name.expect("a cause with a name").1.into();
            }
        }
        json
    }
}
