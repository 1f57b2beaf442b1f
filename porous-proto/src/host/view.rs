//! What decides all that a host does from now on, as text: for tests that compare states of hosts. Two hosts of one
//! configuration with the same view do the same, given the same calls.

use core::fmt::{Result, Write};

use super::Host;
use crate::ids::Address;

/// Writes all that decides what this host does next; `position` tells how far the source of random numbers has come.
///
/// What is written is what `Debug` tells of each part, so that a new field of a part is in it. The following is left
/// out:
///
/// - `local`, `connection_ids`, `envelope`, `same_host` and the functions like it: the configuration, which the caller
///   keeps the same;
/// - `memory`: it decides where bytes lie, and never which;
/// - `stats` and `ended`: they are counted, and nothing is decided by them;
/// - secrets, which `Debug` does not show. Each is drawn with a number that is shown (the nonce of an attempt, the key
///   of a message 1), or follows from the keys of cookies, of which a hash is written, or from the handshake, whose
///   binding is written.
pub(super) fn write<R, A: Address>(
    host: &Host<R, A>,
    out: &mut dyn Write,
    position: fn(&R) -> u128,
) -> Result {
    let Host {
        local: _,
        connection_ids: _,
        envelope: _,
        rng,
        same_host: _,
        table,
        schedule,
        inbound,
        kept,
        memory: _,
        lingering,
        events,
        strangers,
        backlog,
        #[cfg(feature = "seal")]
        door,
        steps,
        stats: _,
        ended: _,
    } = host;
    write!(out, "{} {table:?} {schedule:?}", position(rng))?;
    write!(out, "{inbound:?} {kept:?} {lingering:?} {events:?}")?;
    strangers.view(out)?;
    write!(out, "{backlog:?} {steps:?}")?;
    #[cfg(feature = "seal")]
    {
        write!(out, "{door:?}")?;
        let members = table.iter();
        let sealed = members.filter_map(|(_, member)| member.peer.secured());
        for secured in sealed {
            write!(out, "{:?}", secured.binding())?;
        }
    }
    #[cfg(feature = "canary")]
    write!(out, "{}", crate::hooks::canary::opportunities())?;
    Ok(())
}
