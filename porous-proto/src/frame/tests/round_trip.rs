//! Any datagram that can be written decodes to what was written.

use super::*;
use proptest::prelude::*;

/// A valid datagram, and the agreement by which it is read.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) connection_id_len: usize,
    pub(super) context: Context,
    pub(super) datagram: Vec<u8>,
}

type Owned = Message<Vec<u8>>;

fn contexts() -> impl Strategy<Value = Context> {
    (
        prop_oneof![Just((2, 16)), Just((2, 16_384)), Just((3, 65_536))],
        any::<bool>(),
    )
        .prop_map(|((id_bytes, window), tag)| Context {
            id_bytes,
            window,
            tag: if tag { 4 } else { 0 },
        })
}

/// Ids close to each other, so that predictions are often right, also where ids wrap.
fn id(context: Context) -> impl Strategy<Value = u32> {
    (-4_i32..4).prop_map(move |id| id.cast_unsigned() & context.id_mask())
}

fn dependency(context: Context) -> impl Strategy<Value = u16> {
    let last = u16::try_from(context.window - 1).unwrap();
    prop_oneof![4 => 0_u16..4, 1 => 0..=last]
}

fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![
        Just(Mode::Unreliable),
        Just(Mode::Reliable),
        Just(Mode::Passive)
    ]
}

/// The length of a payload, and the fragment if it is one.
fn payload() -> impl Strategy<Value = (Option<Fragment>, usize)> {
    let least = u32::try_from(LEAST_FRAGMENT).unwrap();
    let offset = || prop_oneof![3 => least..300, 1 => least..u32::MAX - 300];
    prop_oneof![
        // Whole packets, around the length that takes another byte; the ends of packets; and other fragments.
        4 => prop_oneof![3 => 0_usize..4, 1 => 250_usize..260].prop_map(|length| (None, length)),
        1 => (offset(), 1..=300_u32).prop_map(|(offset, length)| {
            (Fragment::new(offset, offset + length), length as usize)
        }),
        1 => (prop_oneof![Just(0), offset()], least..=300, 1..=u32::MAX).prop_map(|(offset, length, rest)| {
            let len = (offset + length).saturating_add(rest);
            (Fragment::new(offset, len), length as usize)
        }),
    ]
}

fn packet(context: Context) -> impl Strategy<Value = Owned> {
    let channel = prop_oneof![3 => 0_u8..2, 1 => any::<u8>()];
    (
        mode(),
        channel,
        id(context),
        dependency(context),
        payload(),
        any::<(u8, bool)>(),
    )
        .prop_map(
            |(mode, channel, id, dependency, (fragment, length), (fill, receipt))| {
                let payload = vec![fill; length];
                Message::Packet(Packet {
                    mode,
                    channel,
                    id,
                    dependency,
                    fragment,
                    receipt,
                    payload,
                })
            },
        )
}

fn control(context: Context) -> impl Strategy<Value = Owned> {
    let position = || (any::<u8>(), id(context), dependency(context));
    prop_oneof![
        Just(Control::Noop),
        any::<u16>().prop_map(Control::Ping),
        any::<u16>().prop_map(Control::Pong),
        any::<(u8, u32)>().prop_map(|(channel, id)| Control::Window { channel, id }),
        position().prop_map(|(channel, id, dependency)| Control::Sentinel(Marker {
            channel,
            id,
            dependency: dependency.into()
        })),
        position().prop_map(|(channel, id, dependency)| Control::Tombstone(Marker {
            channel,
            id,
            dependency: dependency.into()
        })),
        (any::<u16>(), 1..=u32::MAX).prop_map(|(serial, receive_rate)| Control::Limits {
            serial,
            receive_rate
        }),
        any::<u64>().prop_map(Control::PathChallenge),
        any::<u64>().prop_map(Control::PathResponse),
        any::<(u8, u16)>().prop_map(|(channel, number)| Control::Ask { channel, number }),
        any::<(u8, u16, u32)>().prop_map(|(channel, number, next)| Control::Told {
            channel,
            number,
            next
        }),
        (any::<(u8, u32, bool, u64)>(), 1..=Fates::MAX).prop_map(
            |((channel, id, first, bits), count)| Control::Fates {
                channel,
                id,
                fates: Fates {
                    count,
                    first,
                    skipped: bits & Fates::mask(count),
                },
            }
        ),
    ]
    .prop_map(Message::Control)
}

fn ack() -> impl Strategy<Value = AckBlock> {
    let map = prop_oneof![
        Just(u32::MAX),
        any::<u32>(),
        any::<u32>().prop_map(|m| m | !0xFF)
    ];
    let ranges = prop::collection::vec((1_u32.., 1_u32..), 0..=MAX_RANGES);
    let largest = (1_u8..=4, any::<u32>());
    (
        largest,
        any::<Option<u8>>(),
        map,
        any::<bool>(),
        any::<(bool, u32)>(),
        ranges,
        any::<bool>(),
    )
        .prop_map(
            |((largest_width, largest), delay, map, nonce, (newest, count), ranges, adjoins)| {
                let mut ranges: ArrayVec<_, MAX_RANGES> = ranges
                    .into_iter()
                    .map(|(gap, length)| AckRange { gap, length })
                    .collect();
                if let (Some(first), true) = (ranges.first_mut(), adjoins) {
                    first.gap = 0;
                }
                let largest_low = largest >> (32 - 8 * u32::from(largest_width));
                AckBlock {
                    largest_low,
                    largest_width,
                    delay,
                    map,
                    nonce,
                    marks: Marks {
                        newest,
                        count: count >> (largest & 31),
                    },
                    ranges,
                }
            },
        )
}

fn ids() -> impl Strategy<Value = ConnectionId> {
    prop::collection::vec(any::<u8>(), 0..=20).prop_map(|id| ConnectionId::new(&id).unwrap())
}

#[derive(Clone, Debug)]
struct Frame {
    context: Context,
    header: Header,
    ack: Option<AckBlock>,
    messages: Vec<Owned>,
    padding: usize,
}

impl Frame {
    fn borrowed(&self) -> Vec<Message<&[u8]>> {
        self.messages.iter().map(borrow).collect()
    }

    fn encode(&self) -> Vec<u8> {
        let messages = self.borrowed();
        short(
            &self.header,
            self.ack.as_ref(),
            &messages,
            self.padding,
            self.context,
        )
    }

    fn sample(&self) -> Sample {
        let mut datagram = self.encode();
        datagram.extend(&[0xEE; 4][..self.context.tag]);
        let connection_id_len = self.header.connection_id.len();
        Sample {
            connection_id_len,
            context: self.context,
            datagram,
        }
    }
}

fn borrow(message: &Owned) -> Message<&[u8]> {
    match message {
        Message::Control(control) => Message::Control(*control),
        Message::Packet(Packet {
            mode,
            channel,
            id,
            dependency,
            fragment,
            receipt,
            payload,
        }) => Message::Packet(Packet {
            mode: *mode,
            channel: *channel,
            id: *id,
            dependency: *dependency,
            fragment: *fragment,
            receipt: *receipt,
            payload,
        }),
    }
}

fn frame() -> impl Strategy<Value = Frame> {
    contexts().prop_flat_map(|context| {
        let message = prop_oneof![4 => packet(context), 1 => control(context)];
        let messages = prop_oneof![
            9 => prop::collection::vec(message.clone(), 0..12).boxed(),
            1 => prop::collection::vec(message, MAX_MESSAGES).boxed(),
        ];
        let head = (ids(), any::<u64>(), 1_u8..=4, any::<bool>(), any::<bool>());
        let padding = prop_oneof![Just(0_usize), MIN_PADDING..20];
        (head, prop::option::of(ack()), messages, padding).prop_map(
            move |((connection_id, id, id_width, nonce, ack_now), ack, messages, padding)| {
                let ack_now = ack_now && !messages.is_empty();
                let header = Header {
                    connection_id,
                    id,
                    id_width,
                    nonce,
                    ack_now,
                };
                Frame {
                    context,
                    header,
                    ack,
                    messages,
                    padding,
                }
            },
        )
    })
}

fn offers() -> impl Strategy<Value = Offer> {
    let sizes = (512_u16.., 1_u32..=u32::MAX - PACKET_CHARGE, any::<u32>());
    let windows = (4_u8..=16, 4_u8..=16);
    let channels = (1_u8.., prop::collection::vec(any::<u8>(), 0..40));
    let rates = (1_u32.., 1_u32..);
    let optional = (suites(), prop_oneof![Just(0), any::<u32>()]);
    let flags = any::<(u64, u32, bool)>();
    (flags, sizes, windows, rates, channels, optional).prop_map(
        |(flags, (max_datagram, max_packet, more), windows, rates, set, (sealed, timeout))| {
            let (application, features, crc) = flags;
            let mut channels = Channels::new(set.0);
            set.1
                .iter()
                .for_each(|channel| channels.set_high(*channel, true));
            Offer {
                application,
                channels,
                max_datagram,
                max_packet,
                receive_budget: (max_packet + PACKET_CHARGE).saturating_add(more),
                frame_window_log2: windows.0,
                packet_window_log2: windows.1,
                send_rate: rates.0,
                receive_rate: rates.1,
                integrity: if crc {
                    Integrity::Crc32c
                } else {
                    Integrity::Header
                },
                features,
                path_mtu: max_datagram.checked_add(set.0.into()).filter(|_| crc),
                sealed,
                timeout_ms: core::num::NonZeroU32::new(timeout),
            }
        },
    )
}

fn suites() -> impl Strategy<Value = Suites> {
    let numbers = prop::sample::subsequence(vec![1_u8, 2, 3, 200, 255], 0..=4);
    numbers.prop_shuffle().prop_map(|numbers| {
        let some = (!numbers.is_empty()).then(|| Suites::decode(&numbers).unwrap());
        some.unwrap_or_default()
    })
}

/// No greeting, or one of any length.
fn greetings() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(Vec::new()),
        prop::collection::vec(any::<u8>(), 1..=GREETING_MAX)
    ]
}

/// Parameters of types that are not known yet, in their order.
fn unknown() -> impl Strategy<Value = Vec<u8>> {
    let each = prop::collection::vec(any::<u8>(), 0..20);
    prop::collection::btree_map(15_u8.., each, 0..3).prop_map(|unknown| {
        let with_length = |value: &[u8]| [&[u8::try_from(value.len()).unwrap()], value].concat();
        let parameters = unknown
            .iter()
            .map(|(kind, value)| [&[*kind][..], &with_length(value)].concat());
        parameters.flatten().collect()
    })
}

/// A long form with more parameters behind its own.
fn with_more(mut form: Vec<u8>, more: &[u8]) -> Vec<u8> {
    form.extend(more);
    let length = u16::try_from(form.len() - 3).unwrap();
    form[1..3].copy_from_slice(&length.to_le_bytes());
    form
}

fn connects() -> impl Strategy<Value = Connect> {
    (1_u64.., 1_u64.., ids(), offers()).prop_map(
        |(nonce_self, nonce_peer, connection_id, offer)| Connect {
            cookie: false,
            nonce_self,
            nonce_peer,
            connection_id,
            offer,
        },
    )
}

/// Valid datagrams of every shape.
pub(super) fn sample() -> impl Strategy<Value = Sample> {
    let long = |datagram| Sample {
        connection_id_len: 0,
        context: CONTEXT,
        datagram,
    };
    prop_oneof![
        6 => frame().prop_map(|frame| frame.sample()),
        1 => (connects(), unknown(), frame()).prop_map(|(connect, unknown, frame)| {
            let mut sample = frame.sample();
            let acknowledge = bytes_of(|buffer| connect.encode_acknowledge(buffer));
            let mut datagram = with_more(acknowledge, &unknown);
            datagram.append(&mut sample.datagram);
            Sample { datagram, ..sample }
        }),
        1 => (connects(), greetings(), unknown(), 0_usize..40).prop_map(move |(connect, greeting, unknown, padding)| {
            let request = bytes_of(|buffer| connect.encode_request(&greeting, buffer));
            let mut datagram = with_more(request, &unknown);
            datagram.resize(datagram.len() + padding, 0);
            long(datagram)
        }),
        1 => (1_u64.., 1_u64.., any::<u32>()).prop_map(move |(nonce_self, nonce_peer, reason)| {
            long(bytes_of(|b| Disconnect { nonce_self, nonce_peer, reason }.encode(b)))
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_frame_that_is_encoded_decodes_to_the_same(frame in frame()) {
        let Sample { connection_id_len, context, datagram } = frame.sample();
        let decoded = decode(&datagram, connection_id_len).unwrap();
        prop_assert_eq!(&decoded.acknowledge, &None);
        let Rest::Short(form) = decoded.rest else { panic!("not a short form") };
        prop_assert_eq!(form.connection_id, frame.header.connection_id);
        prop_assert_eq!(form.id_width, frame.header.id_width);
        let low = crate::serial::truncate(frame.header.id, 8 * u32::from(form.id_width));
        prop_assert_eq!(form.id_low, low);
        prop_assert_eq!(form.nonce, frame.header.nonce);
        prop_assert_eq!(form.ack_now, frame.header.ack_now);
        prop_assert_eq!(form.bytes, &datagram[..]);

        let mut messages = ArrayVec::new();
        let body = form.decode_body(context, &mut messages).unwrap();
        prop_assert_eq!(&body.ack, &frame.ack);
        prop_assert_eq!(body.padding, frame.padding);
        prop_assert_eq!(&messages[..], &frame.borrowed()[..]);
    }

    #[test]
    fn the_layout_tells_the_exact_length_of_a_message(frame in frame()) {
        let mut buffer = vec![0; 65_536];
        let mut layout = Layout::new(frame.context);
        let mut writer = FrameWriter::new(&mut buffer, &frame.header, None, &mut layout).unwrap();
        for message in &frame.messages {
            let (room, length) = (writer.room(), writer.layout().length(message));
            writer.message(message, false).unwrap();
            prop_assert_eq!(room - writer.room(), length);
        }
    }

    #[test]
    fn every_valid_datagram_encodes_to_the_same_bytes(sample in sample()) {
        let again = reencode(&sample.datagram, sample.connection_id_len, sample.context);
        prop_assert_eq!(again, Ok(sample.datagram));
    }

    #[test]
    fn an_offer_survives_the_handshake(
        connect in connects(),
        greeting in greetings(),
        unknown in unknown(),
        padding in 0_usize..30,
    ) {
        let acknowledge = bytes_of(|buffer| connect.encode_acknowledge(buffer));
        prop_assert_eq!(acknowledge.len(), connect.encoded_length(&[]));
        let mut datagram = with_more(acknowledge, &unknown);
        let request = bytes_of(|buffer| connect.encode_request(&greeting, buffer));
        prop_assert_eq!(request.len(), connect.encoded_length(&greeting));
        datagram.extend(with_more(request, &unknown));
        datagram.resize(datagram.len() + padding, 0);
        let decoded = decode(&datagram, 0).unwrap();
        prop_assert_eq!(decoded.acknowledge.as_ref(), Some(&connect));
        let Rest::Request(request) = decoded.rest else { panic!("not a request") };
        prop_assert_eq!(request.connect, connect);
        prop_assert_eq!(request.greeting, &greeting);
        prop_assert_eq!(request.datagram_length, datagram.len());
    }
}
