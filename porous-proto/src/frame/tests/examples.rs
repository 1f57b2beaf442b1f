//! The examples of `docs/wire.md` decode in their contexts, and encode to the same bytes.

use super::*;
#[cfg(feature = "seal")]
use crate::hooks::sealing::SealedShort;

const DOCUMENT: &str = include_str!("../../../../docs/wire.md");

/// An example: the line that names its context, and its bytes.
#[derive(Debug)]
struct Example {
    head: &'static str,
    bytes: Vec<u8>,
}

impl Example {
    fn parse(block: &'static str) -> Self {
        let (head, lines) = block.split_once('\n').unwrap();
        let code = lines.lines().map(|line| line.split('#').next().unwrap());
        let words = code.flat_map(str::split_whitespace);
        let bytes = words.flat_map(|word| {
            let (byte, times) = word.split_once('*').unwrap_or((word, "1"));
            let byte = u8::from_str_radix(byte, 16).unwrap();
            core::iter::repeat_n(byte, times.parse().unwrap())
        });
        Self {
            head,
            bytes: bytes.collect(),
        }
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.head
            .split(' ')
            .find_map(|part| part.strip_prefix(key)?.strip_prefix('='))
    }

    /// Whether it is of a sealed connection.
    fn is_sealed(&self) -> bool {
        self.head.ends_with(" sealed")
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.text(key).map(|value| value.parse().unwrap())
    }

    fn size(&self, key: &str) -> usize {
        usize::try_from(self.number(key).unwrap()).unwrap()
    }

    fn context(&self) -> Context {
        let id_bytes = u8::try_from(self.size("ids")).unwrap();
        Context {
            id_bytes,
            window: 4096,
            tag: self.size("tag"),
        }
    }

    /// Calls back with the messages, if it is a short form.
    fn messages<T>(&self, then: impl FnOnce(&Body, &[Message<&[u8]>]) -> T) -> Option<T> {
        let Rest::Short(form) = decode(&self.bytes, self.size("cid")).unwrap().rest else {
            return None;
        };
        let mut messages = ArrayVec::new();
        let body = form.decode_body(self.context(), &mut messages).unwrap();
        Some(then(&body, &messages))
    }
}

/// The examples that every host understands.
fn examples() -> Vec<Example> {
    let mut examples = all_examples();
    examples.retain(|example| !example.is_sealed());
    examples
}

fn all_examples() -> Vec<Example> {
    let blocks = DOCUMENT.split("```hex\n").skip(1);
    blocks
        .map(|block| Example::parse(block.split("```").next().unwrap()))
        .collect()
}

/// T25.
#[test]
fn every_example_encodes_to_the_same_bytes() {
    let examples = examples();
    assert!(
        examples.len() >= 24,
        "only {} examples found",
        examples.len()
    );
    for example in examples {
        let again = reencode(&example.bytes, example.size("cid"), example.context());
        assert_eq!(again.as_ref(), Ok(&example.bytes), "{example:02x?}");
    }
}

/// Of sealed connections. The last bytes are those of the tag or MAC, and what is sealed stays as it is.
#[cfg(feature = "seal")]
#[test]
fn every_sealed_example_encodes_to_the_same_bytes() {
    let mut forms = Vec::new();
    for example in all_examples().iter().filter(|example| example.is_sealed()) {
        let connection_id_len = example.size("cid");
        let again = if example.bytes[0] & 0xC0 == 0x40 {
            let short = SealedShort::decode(&example.bytes, connection_id_len);
            short.map(|short| short.encode())
        } else {
            reencode(&example.bytes, connection_id_len, example.context())
        };
        assert_eq!(again.as_ref(), Ok(&example.bytes), "{example:02x?}");
        forms.push(example.bytes[0]);
    }
    assert_eq!(forms, [0xD2, 0xD2, 0x44, 0x58, 0xF8, 0xF9]);
}

/// They have a decoder of their own, so that the one of plain forms is the same with all features.
#[test]
fn long_forms_of_sealed_connections_are_refused() {
    let mut causes = Vec::new();
    for example in all_examples().iter().filter(|example| example.is_sealed()) {
        if example.bytes[0] >= 0xC0 {
            causes.push(decode(&example.bytes, 4).unwrap_err());
        }
    }
    let (reserved, unknown) = (Malformed::Reserved, Malformed::UnknownType);
    assert_eq!(causes, [reserved, reserved, unknown, unknown]);
}

#[test]
fn the_version_is_the_one_that_the_document_names() {
    let row = alloc::format!("| 3 | 4 | version | `{:08X}` ", VERSION);
    assert!(DOCUMENT.contains(&row), "{row}");
}

/// T25.
#[test]
fn the_check_of_an_example_matches() {
    let mut checked = Vec::new();
    for example in examples().iter().filter(|example| example.size("tag") > 0) {
        let (sender, receiver) = example.text("nonces").unwrap().split_once(',').unwrap();
        let [theirs, ours] =
            [sender, receiver].map(|nonce| u64::from_str_radix(nonce, 16).unwrap());
        let integrity = match example.text("check") {
            Some("crc") => Integrity::Crc32c,
            _ => Integrity::Header,
        };
        let ids = Ids {
            frame: example.number("id").unwrap(),
            acked: example.number("acked"),
        };
        let check = Check {
            integrity,
            ours,
            theirs,
        };
        assert_eq!(check.verify(&example.bytes, ids), Ok(()), "{example:02x?}");
        checked.push((integrity, ids.acked.is_some()));
    }
    assert!(checked.contains(&(Integrity::Header, true)));
    assert!(checked.contains(&(Integrity::Crc32c, false)));
}

#[test]
fn there_is_an_example_of_every_form_and_every_message() {
    let (mut longs, mut controls, mut modes) = (Vec::new(), Vec::new(), Vec::new());
    for example in examples() {
        longs.push(example.bytes[0]);
        example.messages(|_, messages| {
            for message in messages {
                match message {
                    Message::Control(control) => controls.push(core::mem::discriminant(control)),
                    Message::Packet(packet) => {
                        modes.push((packet.mode, packet.fragment.is_some()));
                    }
                }
            }
        });
    }
    for form in [0xC0, 0xC1, 0xD0, 0xE0, 0xF0, 0xF1, 0xF2] {
        assert!(longs.contains(&form), "{form:02x}");
    }
    for mode in [Mode::Unreliable, Mode::Reliable, Mode::Passive] {
        assert!(modes.contains(&(mode, false)), "{mode:?}");
    }
    assert!(modes.contains(&(Mode::Reliable, true)) && modes.contains(&(Mode::Passive, true)));
    let mut kinds = Vec::new();
    controls.into_iter().for_each(|kind| {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    });
    assert_eq!(kinds.len(), 12, "kinds of control messages");
}

#[test]
fn the_example_with_three_channels_means_what_its_comments_say() {
    let examples = examples();
    let example = examples
        .iter()
        .find(|e| e.head.starts_with("cid=0 ids=3"))
        .unwrap();
    let told = example.messages(|_, messages| {
        let packets = messages.iter().filter_map(|message| match message {
            Message::Packet(p) => Some((p.channel, p.mode, p.id, p.dependency, p.payload)),
            Message::Control(_) => None,
        });
        let expected = [
            (0, Mode::Reliable, 0xFF_FFFF, 1, &b"ab"[..]),
            (0, Mode::Unreliable, 0, 1, b"cd"),
            (3, Mode::Passive, 100, 0, b"e"),
            (3, Mode::Unreliable, 101, 0, b"f"),
            (7, Mode::Unreliable, 5, 4, b"gh"),
        ];
        assert!(packets.eq(expected));
    });
    assert!(told.is_some());
}

#[test]
fn the_example_with_ranges_means_what_its_comments_say() {
    let examples = examples();
    let mut blocks = examples
        .iter()
        .filter_map(|e| e.messages(|body, _| body.ack.clone())?);
    let block = blocks.find(|block| !block.ranges.is_empty()).unwrap();
    assert_eq!((block.largest_low, block.largest_width), (1234, 2));
    assert_eq!((block.delay, block.nonce), (Some(8), true));
    let missing: Vec<_> = (0..32)
        .filter(|i| block.map >> i & 1 == 0)
        .map(|i| block.largest_low - 1 - i)
        .collect();
    assert_eq!(missing, [1233, 1230, 1218]);
    let ranges = [
        AckRange { gap: 0, length: 5 },
        AckRange {
            gap: 128,
            length: 3,
        },
    ];
    assert_eq!(block.ranges[..], ranges);
}
