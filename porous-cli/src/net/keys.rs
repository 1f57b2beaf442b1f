//! The keys of sealed connections, from the files that users name.

use std::io;
use std::path::PathBuf;

use clap::Args;
use porous_std::proto::seal::{Credentials, Psk, Security, Suite};
use porous_std::{Config, RustCrypto};
use porous_token::{Ticket, TokenKey};

use crate::token::{read, read_digits};

/// AES first, as the processors on which this program runs have instructions for it.
const SUITES: [Suite; 2] = [Suite::AES_GCM, Suite::CHACHA_POLY];

/// The number of the one psk that both ends have.
const PSK: u32 = 0;

/// A configuration that seals.
pub(crate) fn sealed(config: Config) -> io::Result<Config> {
    config.sealed(&SUITES).map_err(io::Error::other)
}

/// By what a listener lets others in.
#[derive(Debug, Args)]
pub(crate) struct ListenerKeys {
    /// Seals: a file of 64 hexadecimal digits that both ends have, as `porous token key` prints them; - for
    /// standard input
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Seals: the file of the token key with which tickets are minted, which lets their bearers in
    #[arg(long, value_name = "FILE")]
    token: Option<PathBuf>,
    /// The number of the token key in tickets
    #[arg(long, value_name = "N", default_value_t = 0, requires = "token")]
    key_number: u8,
}

impl ListenerKeys {
    /// How the listener seals; `None` if it does not. It lets nobody in that proves nothing.
    pub(crate) fn security(&self) -> Result<Option<Security>, String> {
        if self.key.is_none() && self.token.is_none() {
            return Ok(None);
        }
        let mut security = Security::new(&RustCrypto).require_proof();
        if let Some(path) = &self.key {
            let psk = Psk::from_bytes(read_digits(path, "key")?);
            security = security.psk(PSK, psk).map_err(|error| error.to_string())?;
        }
        if let Some(path) = &self.token {
            let key = TokenKey::from_bytes(read_digits(path, "token key")?);
            let with = security.token_key(self.key_number, key);
            security = with.map_err(|error| error.to_string())?;
        }
        Ok(Some(security))
    }
}

/// What a host that connects shows of itself.
#[derive(Debug, Args)]
pub(crate) struct ClientKeys {
    /// Seals: a file of 64 hexadecimal digits that both ends have, as `porous token key` prints them; - for
    /// standard input
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    key: Option<PathBuf>,
    /// Seals: the file of a ticket, as `porous token mint` prints it; - for standard input
    #[arg(long, value_name = "FILE")]
    token: Option<PathBuf>,
}

impl ClientKeys {
    /// What is shown; `None` if the connection is not sealed.
    pub(crate) fn credentials(&self) -> Result<Option<Credentials>, String> {
        if let Some(path) = &self.key {
            let psk = Psk::from_bytes(read_digits(path, "key")?);
            return Ok(Some(Credentials::new().psk(PSK, psk)));
        }
        let Some(path) = &self.token else {
            return Ok(None);
        };
        let ticket = Ticket::from_text(&read(path)?)
            .map_err(|error| format!("{} is no ticket: {error}", path.display()))?;
        if ticket.server_key().is_some() {
            return Err(format!(
                "{} names the key of a server, and listeners of this program have none: mint it \
                 without --server-key",
                path.display()
            ));
        }
        let (token, psk) = (ticket.token().clone(), ticket.psk().clone());
        Ok(Some(Credentials::new().token(token, psk)))
    }
}
