//! The sessions that are open, as the host sees them.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::time::Duration;

use porous_proto::Instant;
use wtransport::{Connection, VarInt};

use crate::Session;

#[derive(Debug)]
struct Open {
    connection: Arc<Connection>,
    /// When the session was opened, or was last seen with a peer.
    used_at: Instant,
}

/// The sessions that are open.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    open: BTreeMap<Session, Open>,
}

impl Sessions {
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn opened(&mut self, now: Instant, session: Session, connection: Arc<Connection>) {
        let used_at = now;
        let open = Open {
            connection,
            used_at,
        };
        self.open.insert(session, open);
    }

    pub(crate) fn closed(&mut self, session: Session) {
        self.open.remove(&session);
    }

    /// Hands a datagram to QUIC. False if it is lost: the session is gone, or its path carries only shorter ones.
    pub(crate) fn send(&self, to: Session, datagram: &[u8]) -> bool {
        let open = self.open.get(&to);
        open.is_some_and(|open| open.connection.send_datagram(datagram).is_ok())
    }

    /// Closes the sessions that had no peer for this long: a page that opens one and never connects, or whose
    /// connection has ended.
    pub(crate) fn close_unused(
        &mut self,
        now: Instant,
        after: Duration,
        has_peer: impl Fn(Session) -> bool,
    ) {
        self.open.retain(|session, open| {
            if has_peer(*session) {
                open.used_at = now;
            }
            let stays = now.saturating_duration_since(open.used_at) < after;
            if !stays {
                close(open, b"no connection");
            }
            stays
        });
    }

    pub(crate) fn close_all(&mut self) {
        for open in self.open.values() {
            close(open, b"the host is gone");
        }
        self.open.clear();
    }
}

fn close(open: &Open, why: &[u8]) {
    open.connection.close(VarInt::from_u32(0), why);
}
