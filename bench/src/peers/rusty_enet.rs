//! rusty_enet: ENet's C code, translated.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

use porous_proto::Instant;
use rusty_enet::{EventNoRef, Host, HostSettings, MTU_MAX, Packet, PacketReceived, PeerID, Socket};

use crate::peer::{CHANNELS, Endpoint, Ends, State};

/// The time that its clock shows at the start. ENet takes a time of 0 for "never", so the clock does not
/// begin there.
const EPOCH: Duration = Duration::from_secs(1);

pub(crate) fn open(seed: u64) -> Ends {
    let mut client = Enet::new(seed << 1);
    let server = Enet::new(seed << 1 | 1);
    client
        .host
        .connect((), CHANNELS.into(), 0)
        .expect("the first");
    [Box::new(client), Box::new(server)]
}

/// The datagrams that wait at one end.
#[derive(Default)]
struct Wires {
    arrived: VecDeque<Vec<u8>>,
    leaving: VecDeque<Vec<u8>>,
}

struct Wire(Rc<RefCell<Wires>>);

impl Socket for Wire {
    type Address = ();
    type Error = Infallible;

    fn send(&mut self, (): (), buffer: &[u8]) -> Result<usize, Infallible> {
        self.0.borrow_mut().leaving.push_back(buffer.to_vec());
        Ok(buffer.len())
    }

    fn receive(
        &mut self,
        buffer: &mut [u8; MTU_MAX],
    ) -> Result<Option<((), PacketReceived)>, Infallible> {
        let Some(datagram) = self.0.borrow_mut().arrived.pop_front() else {
            return Ok(None);
        };
        buffer[..datagram.len()].copy_from_slice(&datagram);
        Ok(Some(((), PacketReceived::Complete(datagram.len()))))
    }
}

struct Enet {
    host: Host<Wire>,
    wires: Rc<RefCell<Wires>>,
    clock: Rc<Cell<Duration>>,
    received: VecDeque<Vec<u8>>,
    state: State,
    /// True if all messages of the application have been made into datagrams.
    is_flushed: bool,
}

impl Enet {
    fn new(seed: u64) -> Self {
        let wires = Rc::new(RefCell::new(Wires::default()));
        let clock = Rc::new(Cell::new(EPOCH));
        let settings = HostSettings {
            peer_limit: 1,
            channel_limit: CHANNELS.into(),
            time: {
                let clock = Rc::clone(&clock);
                Box::new(move || clock.get())
            },
            seed: Some((seed as u32).wrapping_mul(0x9e37_79b9)),
            ..HostSettings::default()
        };
        let Ok(host) = Host::new(Wire(Rc::clone(&wires)), settings) else {
            unreachable!("the settings are valid")
        };
        Self {
            host,
            wires,
            clock,
            received: VecDeque::new(),
            state: State::Connecting,
            is_flushed: false,
        }
    }
}

impl Endpoint for Enet {
    fn datagram_in(&mut self, _: Instant, datagram: &[u8]) {
        self.wires.borrow_mut().arrived.push_back(datagram.to_vec());
    }

    fn service(&mut self, now: Instant) {
        self.clock
            .set(EPOCH + Duration::from_micros(now.as_micros()));
        while let Ok(Some(event)) = self.host.service() {
            match event.no_ref() {
                EventNoRef::Connect { .. } => self.state = State::Connected,
                EventNoRef::Disconnect { .. } => self.state = State::Lost,
                EventNoRef::Receive { packet, .. } => {
                    self.received.push_back(packet.data().to_vec());
                }
            }
        }
        self.is_flushed = false;
    }

    fn received(&mut self) -> Option<Vec<u8>> {
        self.received.pop_front()
    }

    fn send(&mut self, channel: u8, message: &[u8], reliable: bool) -> bool {
        let packet = if reliable {
            Packet::reliable(message)
        } else {
            Packet::unreliable(message)
        };
        self.host.peer_mut(PeerID(0)).send(channel, &packet).is_ok()
    }

    fn datagram_out(&mut self, _: Instant) -> Option<Vec<u8>> {
        if !self.is_flushed {
            self.host.flush();
            self.is_flushed = true;
        }
        self.wires.borrow_mut().leaving.pop_front()
    }

    fn state(&self) -> State {
        self.state
    }
}
