//! KCP: one conversation for each channel, without a handshake. KCP has no unreliable messages: these go
//! beside it, in datagrams of their own. The first byte of each datagram is its channel, or `UNRELIABLE`.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::rc::Rc;

use kcp::Kcp;
use porous_proto::Instant;

use crate::peer::{CHANNELS, Endpoint, Ends, State};

/// The first byte of a datagram with an unreliable message.
const UNRELIABLE: u8 = CHANNELS;

/// Segments that may wait in one conversation, so that the sender does not hold a whole file.
const QUEUE: usize = 1024;

/// KCP with its default options: windows of 32 segments, a flush each 100 ms.
pub(crate) fn default(_: u64) -> Ends {
    [0, 1].map(|_| Box::new(Conversations::new(|_| {})) as Box<dyn Endpoint>)
}

/// KCP with the options that its manual calls fast: no delay, a flush each 10 ms, a segment is resent
/// after two acknowledgements that skip it, no congestion control; windows of 128 segments.
pub(crate) fn fast(_: u64) -> Ends {
    let make = |kcp: &mut Kcp<Output>| {
        kcp.set_nodelay(true, 10, 2, true);
        kcp.set_wndsize(128, 128);
    };
    [0, 1].map(|_| Box::new(Conversations::new(make)) as Box<dyn Endpoint>)
}

/// The output of a conversation, which puts its datagrams into a queue.
struct Output {
    channel: u8,
    leaving: Rc<RefCell<VecDeque<Vec<u8>>>>,
}

impl Write for Output {
    fn write(&mut self, datagram: &[u8]) -> io::Result<usize> {
        let mut tagged = vec![self.channel];
        tagged.extend_from_slice(datagram);
        self.leaving.borrow_mut().push_back(tagged);
        Ok(datagram.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Conversations {
    conversations: Vec<Kcp<Output>>,
    leaving: Rc<RefCell<VecDeque<Vec<u8>>>>,
    received: VecDeque<Vec<u8>>,
    buf: Vec<u8>,
    now: u32,
    is_flushed: bool,
}

impl Conversations {
    fn new(make: impl Fn(&mut Kcp<Output>)) -> Self {
        let leaving = Rc::default();
        let conversation = |channel: u8| {
            let output = Output {
                channel,
                leaving: Rc::clone(&leaving),
            };
            let mut kcp = Kcp::new(channel.into(), output);
            make(&mut kcp);
            kcp
        };
        Self {
            conversations: (0..CHANNELS).map(conversation).collect(),
            leaving,
            received: VecDeque::new(),
            buf: vec![0; 1 << 17],
            now: 0,
            is_flushed: false,
        }
    }

    fn update(&mut self) {
        for kcp in &mut self.conversations {
            kcp.update(self.now).expect("an output that takes all");
        }
    }
}

impl Endpoint for Conversations {
    fn datagram_in(&mut self, _: Instant, datagram: &[u8]) {
        let Some((&channel, rest)) = datagram.split_first() else {
            return;
        };
        if channel == UNRELIABLE {
            self.received.push_back(rest.to_vec());
        } else if let Some(kcp) = self.conversations.get_mut(usize::from(channel)) {
            kcp.input(rest).expect("what the other end made");
        }
    }

    fn service(&mut self, now: Instant) {
        self.now = (now.as_micros() / 1000) as u32;
        for kcp in &mut self.conversations {
            while let Ok(len) = kcp.recv(&mut self.buf) {
                self.received.push_back(self.buf[..len].to_vec());
            }
        }
        self.is_flushed = false;
    }

    fn received(&mut self) -> Option<Vec<u8>> {
        self.received.pop_front()
    }

    fn send(&mut self, channel: u8, message: &[u8], reliable: bool) -> bool {
        if !reliable {
            let mut tagged = vec![UNRELIABLE];
            tagged.extend_from_slice(message);
            self.leaving.borrow_mut().push_back(tagged);
            return true;
        }
        let kcp = &mut self.conversations[usize::from(channel)];
        kcp.wait_snd() < QUEUE && kcp.send(message).is_ok()
    }

    /// Updates KCP once a step, after the application has sent, as KCP's own example does.
    fn datagram_out(&mut self, _: Instant) -> Option<Vec<u8>> {
        if !self.is_flushed {
            self.update();
            self.is_flushed = true;
        }
        self.leaving.borrow_mut().pop_front()
    }

    /// KCP never gives a connection up by itself, but reports that a segment was sent `dead_link` times.
    fn state(&self) -> State {
        if self.conversations.iter().any(Kcp::is_dead_link) {
            State::Lost
        } else {
            State::Connected
        }
    }
}
