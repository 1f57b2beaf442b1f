//! Datagrams in pcap and pcapng.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::io::{self, Read, Write};

use etherparse::{
    IpEcn, IpHeaders, Ipv4Header, Ipv6Header, LaxSlicedPacket, NetSlice, PacketBuilder,
    SlicedPacket, TransportSlice,
};
use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};
use porous_std::{Ecn, Instant};
use porous_trace::{Record, Sink};

/// Bytes that are read at once, and the most of a block: more than any packet of IP.
const BUFFER: usize = 1 << 20;

/// The types of the blocks of a pcapng that are read: sections, interfaces, and packets of both forms.
const READ: [u32; 4] = [0x0A0D_0D0A, 1, 3, 6];

const DAMAGED: &str = "the file is damaged";
const CUT_OFF: &str = "the file is cut off within a packet";
const NO_MORE: &str = "it cannot be read on";

/// The most interfaces of a pcapng that are told apart.
const INTERFACES: usize = 1024;

/// Hops that a packet may take, as systems begin with.
const HOPS: u8 = 64;

/// The most bytes of a packet in the files that are written, and the number of raw IP in their heads.
const LONGEST: u32 = 1 << 18;
const RAW: u32 = 101;

/// A datagram that was captured.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    /// Since the first packet.
    pub(crate) time: Instant,
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) datagram: Vec<u8>,
}

/// An interface of a pcapng.
#[derive(Clone, Copy)]
struct Interface {
    link: Linktype,
    /// Units of time in a second, and seconds that each time is late.
    resolution: u64,
    offset: i64,
}

/// The datagrams of UDP in a file. Packets of other protocols, and the fragments of packets, are left out, and those
/// that the capture has cut are counted.
pub(crate) struct Packets {
    reader: Box<dyn PcapReaderIterator + Send>,
    /// Of a file in the old format: what its packets are, and whether their times have nanoseconds.
    link: Linktype,
    has_nanoseconds: bool,
    interfaces: Vec<Interface>,
    /// The order of bytes in a pcapng, once it is known.
    is_big_endian: Option<bool>,
    /// Datagrams of which the capture has the beginning alone.
    cut: u64,
    begin: Option<Duration>,
    is_over: bool,
}

impl Packets {
    /// `None` if it is no such file.
    pub(crate) fn read(from: impl Read + Send + 'static) -> Option<Self> {
        Some(Self {
            reader: create_reader(BUFFER, from).ok()?,
            link: Linktype::RAW,
            has_nanoseconds: false,
            interfaces: Vec::new(),
            is_big_endian: None,
            cut: 0,
            begin: None,
            is_over: false,
        })
    }

    /// Datagrams that were left out so far, as the capture has not all of them.
    pub(crate) const fn cut(&self) -> u64 {
        self.cut
    }

    /// The next block, if it has a datagram; `None` at the end.
    fn block(&mut self) -> Option<Result<Option<Packet>, &'static str>> {
        let is_exhausted = self.reader.reader_exhausted();
        let (length, found) = match self.reader.next() {
            Ok((length, block)) => {
                let found = match block {
                    PcapBlockOwned::LegacyHeader(header) => {
                        self.link = header.network;
                        self.has_nanoseconds = header.is_nanosecond_precision();
                        None
                    }
                    PcapBlockOwned::Legacy(packet) => {
                        let fraction = match self.has_nanoseconds {
                            true => Duration::from_nanos(packet.ts_usec.into()),
                            false => Duration::from_micros(packet.ts_usec.into()),
                        };
                        let time = Duration::from_secs(packet.ts_sec.into()) + fraction;
                        let seen = datagram(self.link, packet.data, packet.origlen);
                        seen.map(|seen| (time, seen))
                    }
                    PcapBlockOwned::NG(block) => {
                        if let Block::SectionHeader(header) = &block {
                            self.is_big_endian = Some(header.big_endian());
                        }
                        of_block(&mut self.interfaces, &block)
                    }
                };
                (length, found)
            }
            Err(PcapError::Eof) => return None,
            Err(PcapError::Incomplete(_)) if !is_exhausted => {
                return match self.reader.refill() {
                    Ok(()) => Some(Ok(None)),
                    Err(_) => Some(Err(NO_MORE)),
                };
            }
            Err(PcapError::Incomplete(_) | PcapError::UnexpectedEof) => {
                return Some(Err(CUT_OFF));
            }
            Err(PcapError::BufferTooSmall) => return Some(self.skip().map(|()| None)),
            Err(_) => return Some(Err(DAMAGED)),
        };
        self.reader.consume(length);
        Some(Ok(found.and_then(|(time, seen)| self.packet(time, seen))))
    }

    /// The packet that was seen, unless the capture has cut it.
    fn packet(&mut self, time: Duration, seen: Seen) -> Option<Packet> {
        let Seen::Whole((from, to, datagram)) = seen else {
            self.cut += 1;
            return None;
        };
        let begin = *self.begin.get_or_insert(time);
        Some(Packet {
            time: Instant::ZERO + time.saturating_sub(begin),
            from,
            to,
            datagram,
        })
    }

    /// Passes over a block of a pcapng that is longer than the buffer, if it is none of those that are read.
    fn skip(&mut self) -> Result<(), &'static str> {
        let (kind, length) = self.head().ok_or(DAMAGED)?;
        if READ.contains(&kind) {
            return Err(DAMAGED);
        }
        let mut left = usize::try_from(length).map_err(|_| DAMAGED)?;
        loop {
            let there = self.reader.data().len().min(left);
            self.reader.consume(there);
            left -= there;
            if left == 0 {
                return Ok(());
            }
            self.reader.refill().map_err(|_| NO_MORE)?;
            if self.reader.data().is_empty() {
                return Err(CUT_OFF);
            }
        }
    }

    /// The type and the length of the block of a pcapng that is next.
    fn head(&self) -> Option<(u32, u32)> {
        let number = match self.is_big_endian? {
            true => u32::from_be_bytes,
            false => u32::from_le_bytes,
        };
        let (kind, rest) = self.reader.data().split_first_chunk()?;
        Some((number(*kind), number(*rest.first_chunk()?)))
    }
}

impl Iterator for Packets {
    type Item = Result<Packet, &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_over {
            match self.block() {
                None => self.is_over = true,
                Some(Ok(None)) => {}
                Some(Ok(Some(packet))) => return Some(Ok(packet)),
                Some(Err(why)) => {
                    self.is_over = true;
                    return Some(Err(why));
                }
            }
        }
        None
    }
}

/// A datagram of UDP: from, to, and what it carries.
type Udp = (SocketAddr, SocketAddr, Vec<u8>);

/// What a packet has to do with UDP, if anything.
enum Seen {
    Whole(Udp),
    /// The capture has its beginning alone.
    Cut,
}

fn of_block(interfaces: &mut Vec<Interface>, block: &Block<'_>) -> Option<(Duration, Seen)> {
    match block {
        Block::SectionHeader(_) => interfaces.clear(),
        Block::InterfaceDescription(interface) if interfaces.len() < INTERFACES => {
            interfaces.push(Interface {
                link: interface.linktype,
                resolution: interface.ts_resolution().unwrap_or(1_000_000).max(1),
                offset: interface.if_tsoffset,
            });
        }
        Block::EnhancedPacket(packet) => {
            let interface = interfaces.get(usize::try_from(packet.if_id).ok()?)?;
            let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
            let seconds = (ticks / interface.resolution).saturating_add_signed(interface.offset);
            let part = u128::from(ticks % interface.resolution) * 1_000_000;
            let micros = u64::try_from(part / u128::from(interface.resolution)).ok()?;
            let time = Duration::from_secs(seconds).saturating_add(Duration::from_micros(micros));
            let length = usize::try_from(packet.caplen).ok()?;
            let data = packet.data.get(..length)?;
            return Some((time, datagram(interface.link, data, packet.origlen)?));
        }
        Block::SimplePacket(packet) => {
            let interface = interfaces.first()?;
            let length = usize::try_from(packet.origlen).ok()?.min(packet.data.len());
            let data = packet.data.get(..length)?;
            let seen = datagram(interface.link, data, packet.origlen)?;
            return Some((Duration::ZERO, seen));
        }
        Block::InterfaceDescription(_)
        | Block::NameResolution(_)
        | Block::InterfaceStatistics(_)
        | Block::SystemdJournalExport(_)
        | Block::DecryptionSecrets(_)
        | Block::ProcessInformation(_)
        | Block::Custom(_)
        | Block::Unknown(_) => {}
    }
    None
}

/// The datagram in a packet of this kind of link, which had `length` bytes before it was captured.
fn datagram(link: Linktype, packet: &[u8], length: u32) -> Option<Seen> {
    if let Some(udp) = udp(link, packet) {
        return Some(Seen::Whole(udp));
    }
    let is_cut = usize::try_from(length).is_ok_and(|length| length > packet.len());
    (is_cut && begins_as_udp(link, packet)).then_some(Seen::Cut)
}

/// Whether these are the first bytes of a packet of UDP, at least to the end of its heads.
fn begins_as_udp(link: Linktype, packet: &[u8]) -> bool {
    let sliced = match link {
        Linktype::ETHERNET => LaxSlicedPacket::from_ethernet(packet).ok(),
        Linktype::LINUX_SLL => packet
            .get(16..)
            .and_then(|ip| LaxSlicedPacket::from_ip(ip).ok()),
        _ => ip(link, packet).and_then(|ip| LaxSlicedPacket::from_ip(ip).ok()),
    };
    let transport = sliced.and_then(|sliced| sliced.transport);
    matches!(transport, Some(TransportSlice::Udp(_)))
}

/// The packet of IP behind a head that does not say more.
fn ip(link: Linktype, packet: &[u8]) -> Option<&[u8]> {
    match link {
        // The family in four bytes, in whatever order, and a packet.
        Linktype::NULL | Linktype::LOOP => packet.get(4..),
        // Raw IP has another number in files of OpenBSD and of old systems.
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 | Linktype(12 | 14) => Some(packet),
        // Linux cooked capture, version 2, of which 20 bytes stand in front.
        Linktype(276) => packet.get(20..),
        _ => None,
    }
}

/// The datagram in a packet of this kind of link, if all of it is there.
fn udp(link: Linktype, packet: &[u8]) -> Option<Udp> {
    let sliced = match link {
        Linktype::ETHERNET => SlicedPacket::from_ethernet(packet),
        Linktype::LINUX_SLL => SlicedPacket::from_linux_sll(packet),
        _ => SlicedPacket::from_ip(ip(link, packet)?),
    };
    let sliced = sliced.ok()?;
    let (from, to): (IpAddr, IpAddr) = match sliced.net.as_ref()? {
        NetSlice::Ipv4(ip) => {
            let header = ip.header();
            (
                header.source_addr().into(),
                header.destination_addr().into(),
            )
        }
        NetSlice::Ipv6(ip) => {
            let header = ip.header();
            (
                header.source_addr().into(),
                header.destination_addr().into(),
            )
        }
        _ => return None,
    };
    let TransportSlice::Udp(udp) = sliced.transport? else {
        return None;
    };
    Some((
        SocketAddr::new(from, udp.source_port()),
        SocketAddr::new(to, udp.destination_port()),
        udp.payload().to_vec(),
    ))
}

/// Writes the datagrams of a host as pcap, with headers of IP and UDP.
pub(crate) struct PcapSink<W> {
    to: W,
    local: SocketAddr,
    began: Duration,
    is_begun: bool,
}

impl<W: Write> PcapSink<W> {
    pub(crate) fn new(to: W) -> Self {
        Self {
            to,
            local: super::NOWHERE,
            began: Duration::ZERO,
            is_begun: false,
        }
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.begin()?;
        self.to.flush()
    }

    /// The head of the file, also of a host that has neither sent nor got anything.
    fn begin(&mut self) -> io::Result<()> {
        if !core::mem::replace(&mut self.is_begun, true) {
            // The magic number, version 2.4, nothing about the zone, the longest packet, and raw IP.
            let head = [0xA1B2_C3D4, 4 << 16 | 2, 0, 0, LONGEST, RAW];
            self.to.write_all(&words(head))?;
        }
        Ok(())
    }

    /// The host's own address, of the family of the other one. Of a host that is bound to all addresses it is
    /// that of the loopback interface if the other one is, and else unspecified.
    fn own(&self, other: SocketAddr) -> SocketAddr {
        let ip = self.local.ip();
        let is_fit = ip.is_ipv4() == other.is_ipv4() && !ip.is_unspecified();
        let ip = match (is_fit, other.ip()) {
            (true, _) => ip,
            (false, other) if other.is_loopback() => other,
            (false, IpAddr::V4(_)) => core::net::Ipv4Addr::UNSPECIFIED.into(),
            (false, IpAddr::V6(_)) => core::net::Ipv6Addr::UNSPECIFIED.into(),
        };
        SocketAddr::new(ip, self.local.port())
    }

    fn datagram(
        &mut self,
        now: Instant,
        [from, to]: [SocketAddr; 2],
        ecn: Ecn,
        datagram: &[u8],
    ) -> io::Result<()> {
        let packet = ip_packet([from, to], ecn, datagram)?;
        let time = self
            .began
            .saturating_add(Duration::from_micros(now.as_micros()));
        let length = u32::try_from(packet.len()).map_err(io::Error::other)?;
        // Until 2106.
        let seconds = u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
        let head = [seconds, time.subsec_micros(), length, length];
        self.to.write_all(&words(head))?;
        self.to.write_all(&packet)
    }
}

/// The numbers of the head of a file or of a packet. By hand: these are all there are, and what writes them for
/// others brings an executor of futures along.
fn words<const N: usize>(numbers: [u32; N]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

fn other<E: core::fmt::Debug>(error: E) -> io::Error {
    io::Error::other(format!("{error:?}"))
}

/// A packet of IP around a datagram.
fn ip_packet([from, to]: [SocketAddr; 2], ecn: Ecn, datagram: &[u8]) -> io::Result<Vec<u8>> {
    let mark = IpEcn::try_new(match ecn {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    });
    let mark = mark.map_err(io::Error::other)?;
    let headers = match (from.ip(), to.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            let header = Ipv4Header {
                ecn: mark,
                time_to_live: HOPS,
                source: from.octets(),
                destination: to.octets(),
                ..Ipv4Header::default()
            };
            IpHeaders::Ipv4(header, Default::default())
        }
        (from, to) => {
            let octets = |ip: IpAddr| match ip {
                IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
                IpAddr::V6(v6) => v6.octets(),
            };
            let header = Ipv6Header {
                traffic_class: mark.value(),
                hop_limit: HOPS,
                source: octets(from),
                destination: octets(to),
                ..Ipv6Header::default()
            };
            IpHeaders::Ipv6(header, Default::default())
        }
    };
    let builder = PacketBuilder::ip(headers).udp(from.port(), to.port());
    let mut packet = Vec::with_capacity(builder.size(datagram.len()));
    builder.write(&mut packet, datagram).map_err(other)?;
    Ok(packet)
}

impl<W: Write + Send + Sync> Sink for PcapSink<W> {
    fn put(&mut self, record: &Record) -> io::Result<()> {
        if let Record::Host { local, began, .. } = record {
            self.local = local.unwrap_or(self.local);
            self.began = Duration::from_micros(*began);
        }
        self.begin()?;
        if let Some(wire) = record.wire() {
            let mut ends = [wire.remote, self.own(wire.remote)];
            if wire.is_sent {
                ends.reverse();
            }
            self.datagram(wire.now, ends, wire.ecn, wire.bytes)?;
        }
        if matches!(record, Record::End { .. }) {
            self.to.flush()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// A block of a pcapng.
    fn block(kind: u32, content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len() + 12).unwrap();
        let head = words([kind, length]);
        [&head[..], content, &length.to_le_bytes()].concat()
    }

    /// A packet in such a block, of which `there` bytes were captured.
    fn packet(payload: &[u8], there: usize) -> Vec<u8> {
        let ends = [1, 2].map(|port| SocketAddr::from(([192, 0, 2, 1], port)));
        let packet = ip_packet(ends, Ecn::NotEct, payload).unwrap();
        let captured = &packet[..there.min(packet.len())];
        let lengths = [captured.len(), packet.len()].map(|length| u32::try_from(length).unwrap());
        let head = words([0, 0, 0, lengths[0], lengths[1]]);
        let filling = vec![0; captured.len().next_multiple_of(4) - captured.len()];
        block(6, &[&head[..], captured, &filling].concat())
    }

    /// A section, and an interface of raw IP.
    fn head() -> Vec<u8> {
        let section = words([0x1A2B_3C4D, 1, u32::MAX, u32::MAX]);
        [block(0x0A0D_0D0A, &section), block(1, &words([RAW, 0]))].concat()
    }

    fn read(blocks: &[Vec<u8>]) -> (Vec<Result<Vec<u8>, &'static str>>, u64) {
        let mut packets = Packets::read(Cursor::new(blocks.concat())).unwrap();
        let all = packets.by_ref().map(|packet| Ok(packet?.datagram));
        (all.collect(), packets.cut())
    }

    #[test]
    fn packets_that_were_cut_are_counted() {
        let blocks = [head(), packet(b"abc", 99), packet(&[7; 100], 60)];
        assert_eq!(read(&blocks), (vec![Ok(b"abc".to_vec())], 1));
        // Of a packet without its heads nobody knows what it was.
        assert_eq!(read(&[head(), packet(b"abc", 24)]), (vec![], 0));
    }

    #[test]
    fn a_long_block_that_is_not_read_is_passed_over() {
        let long = vec![0; 3 * BUFFER];
        // Names of hosts, and secrets.
        for kind in [4, 10] {
            let blocks = [head(), block(kind, &long), packet(b"abc", 99)];
            assert_eq!(read(&blocks), (vec![Ok(b"abc".to_vec())], 0));
            let mut cut = block(kind, &long);
            cut.truncate(2 * BUFFER);
            assert_eq!(read(&[head(), cut]), (vec![Err(CUT_OFF)], 0));
        }
        assert_eq!(read(&[head(), block(6, &long)]), (vec![Err(DAMAGED)], 0));
    }
}
