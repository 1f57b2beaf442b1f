//! Datagrams in pcap and pcapng.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::io::{self, Read, Write};

use etherparse::{
    IpEcn, IpHeaders, Ipv4Header, Ipv6Header, NetSlice, PacketBuilder, SlicedPacket, TransportSlice,
};
use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};
use porous_std::{Ecn, Instant};
use porous_trace::{Record, Sink};

/// Bytes that are read at once, and the most of a block: more than any packet of IP.
const BUFFER: usize = 1 << 20;

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

/// The datagrams of UDP in a file. Packets of other protocols, and the fragments of packets, are left out.
pub(crate) struct Packets {
    reader: Box<dyn PcapReaderIterator + Send>,
    /// Of a file in the old format: what its packets are, and whether their times have nanoseconds.
    link: Linktype,
    has_nanoseconds: bool,
    interfaces: Vec<Interface>,
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
            begin: None,
            is_over: false,
        })
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
                        udp(self.link, packet.data).map(|udp| (time, udp))
                    }
                    PcapBlockOwned::NG(block) => of_block(&mut self.interfaces, &block),
                };
                (length, found)
            }
            Err(PcapError::Eof) => return None,
            Err(PcapError::Incomplete(_)) if !is_exhausted => {
                return match self.reader.refill() {
                    Ok(()) => Some(Ok(None)),
                    Err(_) => Some(Err("it cannot be read on")),
                };
            }
            Err(PcapError::Incomplete(_) | PcapError::UnexpectedEof) => {
                return Some(Err("the file is cut off within a packet"));
            }
            Err(_) => return Some(Err("the file is damaged")),
        };
        self.reader.consume(length);
        let packet = found.map(|(time, (from, to, datagram))| {
            let begin = *self.begin.get_or_insert(time);
            Packet {
                time: Instant::ZERO + time.saturating_sub(begin),
                from,
                to,
                datagram,
            }
        });
        Some(Ok(packet))
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

fn of_block(interfaces: &mut Vec<Interface>, block: &Block<'_>) -> Option<(Duration, Udp)> {
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
            return Some((time, udp(interface.link, packet.data.get(..length)?)?));
        }
        Block::SimplePacket(packet) => {
            let interface = interfaces.first()?;
            let length = usize::try_from(packet.origlen).ok()?.min(packet.data.len());
            return Some((
                Duration::ZERO,
                udp(interface.link, packet.data.get(..length)?)?,
            ));
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

/// The datagram in a packet of this kind of link.
fn udp(link: Linktype, packet: &[u8]) -> Option<Udp> {
    let sliced = match link {
        Linktype::ETHERNET => SlicedPacket::from_ethernet(packet),
        Linktype::LINUX_SLL => SlicedPacket::from_linux_sll(packet),
        // The family in four bytes, in whatever order, and a packet.
        Linktype::NULL | Linktype::LOOP => SlicedPacket::from_ip(packet.get(4..)?),
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 => SlicedPacket::from_ip(packet),
        // Raw IP has another number in files of OpenBSD and of old systems.
        Linktype(12 | 14) => SlicedPacket::from_ip(packet),
        // Linux cooked capture, version 2, of which 20 bytes stand in front.
        Linktype(276) => SlicedPacket::from_ip(packet.get(20..)?),
        _ => return None,
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
