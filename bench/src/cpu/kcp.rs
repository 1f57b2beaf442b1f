//! KCP with the options that its manual calls fast: one conversation for each channel, without a handshake.
//! KCP has no unreliable messages: these go beside it, in datagrams of their own.

use core::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use kcp::{Kcp, get_conv};
use porous_loads::node::{Mail, Node, Setup};
use porous_proto::Instant;

/// What stands where a datagram of KCP has the number of its conversation, if the datagram is an unreliable
/// message.
const UNRELIABLE: u32 = u32::MAX;

pub(crate) fn fast(setup: Setup) -> Box<dyn Node> {
    assert_eq!(setup.remotes, 1, "a conversation has two ends");
    Box::new(Conversations::new(setup.channels))
}

/// The output of the conversations.
#[derive(Clone, Default)]
struct Output(Rc<RefCell<Mail>>);

impl Write for Output {
    fn write(&mut self, datagram: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().put(0, datagram);
        Ok(datagram.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Conversations {
    conversations: Vec<Kcp<Output>>,
    output: Output,
    /// Unreliable messages that have arrived.
    unreliable: Mail,
    /// An unreliable message that leaves.
    tagged: Vec<u8>,
    buf: Vec<u8>,
}

impl Conversations {
    fn new(channels: u8) -> Self {
        let output = Output::default();
        let conversation = |channel: u8| {
            let mut kcp = Kcp::new(channel.into(), output.clone());
            kcp.set_nodelay(true, 10, 2, true);
            kcp.set_wndsize(128, 128);
            kcp
        };
        Self {
            conversations: (0..channels).map(conversation).collect(),
            output,
            unreliable: Mail::default(),
            tagged: Vec::new(),
            buf: vec![0; 1 << 17],
        }
    }
}

impl Node for Conversations {
    fn connect(&mut self, _: Instant) {}

    fn datagram_in(&mut self, _: Instant, from: usize, datagram: &[u8]) {
        let conversation = get_conv(datagram);
        if conversation == UNRELIABLE {
            self.unreliable.put(from, &datagram[size_of::<u32>()..]);
        } else {
            let kcp = &mut self.conversations[conversation as usize];
            kcp.input(datagram).expect("what the other end made");
        }
    }

    fn service(&mut self, _: Instant, read: &mut dyn FnMut(usize, &[u8])) {
        for (from, message) in self.unreliable.iter() {
            read(from, message);
        }
        self.unreliable.clear();
        for kcp in &mut self.conversations {
            while let Ok(len) = kcp.recv(&mut self.buf) {
                read(0, &self.buf[..len]);
            }
        }
    }

    fn send(&mut self, to: usize, channel: u8, message: &[u8], reliable: bool) -> bool {
        if reliable {
            return self.conversations[usize::from(channel)]
                .send(message)
                .is_ok();
        }
        self.tagged.clear();
        self.tagged.extend_from_slice(&UNRELIABLE.to_le_bytes());
        self.tagged.extend_from_slice(message);
        self.output.0.borrow_mut().put(to, &self.tagged);
        true
    }

    /// Updates KCP once a step, after the application has sent, as KCP's own example does.
    fn datagrams_out(&mut self, now: Instant, put: &mut dyn FnMut(usize, &[u8])) {
        for kcp in &mut self.conversations {
            let now = (now.as_micros() / 1000) as u32;
            kcp.update(now).expect("an output that takes all");
        }
        let mut leaving = self.output.0.borrow_mut();
        for (to, datagram) in leaving.iter() {
            put(to, datagram);
        }
        leaving.clear();
    }

    fn own_heap(&self) -> usize {
        let buffers = self.tagged.capacity() + self.buf.capacity();
        self.output.0.borrow().heap() + self.unreliable.heap() + buffers
    }
}
