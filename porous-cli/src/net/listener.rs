//! A host of this program that listens.

use std::io;

use clap::Args;
use porous_std::proto::seal::Security;
use porous_std::{Listen, UdpHost};

use super::address::{Place, place};
use super::keys::ListenerKeys;

/// Where a host listens, and by what it lets others in.
#[derive(Debug, Args)]
pub(crate) struct Listener {
    // No doc comment: it would take the brackets for a link.
    #[arg(
        value_name = "ADDR",
        value_parser = place,
        help = "Where to listen, as HOST:PORT; [::]:PORT for all addresses of this machine"
    )]
    pub(crate) at: Place,
    #[command(flatten)]
    pub(crate) keys: ListenerKeys,
}

/// Lets others in, if it seals only those that prove something.
pub(crate) fn listen(host: &mut UdpHost, security: Option<&Security>) -> io::Result<()> {
    if let Some(security) = security {
        host.set_security(security.clone());
    }
    host.listen(Listen::Open).map_err(io::Error::other)
}
