//! What the reset of a remote host that does not know the connection (any more) does to it. Anyone
//! who sees our datagrams can forge one, so it ends nothing: it makes us less patient
//! (`docs/wire.md`, "RESET"; `docs/deviations.md` C7).

use core::time::Duration;

use super::{Deadline, Peer, PeerState, Session, Tick};
use crate::frame::ConnectionId;
use crate::time::Instant;

/// After so long a ping was sent that the remote host can answer, at the latest (`deviations.md`
/// T24).
const PING_INTERVAL_MAX: Duration = Duration::from_secs(1);

/// The remote host may have forgotten the connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubt {
    since: Instant,
    /// How much longer silence is put up with: three T_rto (7) after a ping.
    patience: Duration,
}

impl Doubt {
    /// When the connection ends if nothing is heard.
    pub(super) fn ends(self, tick: Tick) -> Instant {
        self.since.max(tick.awake_since) + self.patience
    }
}

impl Peer {
    /// Whether this is a live connection whose datagrams we send with this id.
    pub(crate) fn sends_as(&self, connection_id: ConnectionId) -> bool {
        let id = self.session.as_deref().map(Session::remote_connection_id);
        self.state.is_live() && id == Some(connection_id)
    }

    /// A reset with that id came from the remote host's address. A ping goes out within a
    /// second. A second one changes nothing, until something valid came.
    pub(crate) fn on_reset(&mut self, tick: Tick) {
        let (PeerState::Connected, None, Some(session)) =
            (self.state, self.doubt, &mut self.session)
        else {
            return;
        };
        session.on_doubt(tick.now);
        self.doubt = Some(Doubt {
            since: tick.now,
            patience: PING_INTERVAL_MAX + 3 * session.transfer().resend_timeout(),
        });
        let ends = self.silence_ends(tick);
        self.deadlines.set(Deadline::Silence, ends);
    }
}
