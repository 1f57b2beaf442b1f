//! The arguments of the program.

use core::error::Error;
use core::net::SocketAddr;
use core::num::ParseIntError;
use core::time::Duration;

use porous_std::proto::seal::Suite;
use porous_std::{Config, ConnectionIds};

/// The arguments of the program.
#[derive(Debug)]
pub(crate) struct Options {
    /// The first argument: the address to which the socket is bound.
    pub(crate) bind: SocketAddr,
    /// `listen`: true if the host answers strangers.
    pub(crate) listen: bool,
    /// `connect=ADDRESS`: the host to which it connects at once.
    pub(crate) connect: Option<SocketAddr>,
    /// `talk`: true if the host asks each of its peers. All hosts answer.
    pub(crate) talk: bool,
    /// `size=BYTES`: the length of every fourth question; the others are short.
    pub(crate) size: usize,
    /// `flood=ADDRESS`: the program is no host, but sends requests to this address from many forged
    /// addresses, from that of its socket on.
    pub(crate) flood: Option<SocketAddr>,
    /// `rate=NUMBER`: requests a second of a flood.
    pub(crate) rate: u64,
    /// `buffer=BYTES`: the send buffer of the socket, as the system counts it.
    pub(crate) buffer: Option<usize>,
    /// `sealed`: the host asks for a sealed connection; one that listens takes plain ones as well.
    pub(crate) sealed: bool,
    /// `id=NUMBER`: a host of a fleet behind a balancer, 1 or 2, which is the first byte of its connection ids.
    pub(crate) ids: ConnectionIds,
    /// `roaming`: the host follows its peers. `pmtu=BYTES`: path MTU discovery up to this size.
    /// `timeout=SECONDS`: the timeout of connections. `patience=SECONDS`: that of attempts to connect.
    pub(crate) config: Config,
}

impl Options {
    pub(crate) fn parse(
        mut arguments: impl Iterator<Item = String>,
    ) -> Result<Self, Box<dyn Error>> {
        let bind = arguments
            .next()
            .ok_or("usage: porous-net BIND [OPTION]...")?;
        let mut options = Self {
            bind: bind.parse()?,
            listen: false,
            connect: None,
            talk: false,
            size: 3000,
            flood: None,
            rate: 1000,
            buffer: None,
            sealed: false,
            ids: ConnectionIds::Random,
            config: Config::new(),
        };
        for argument in arguments {
            let (name, value) = argument.split_once('=').unwrap_or((&argument, ""));
            options
                .set(name, value)
                .map_err(|error| format!("{argument}: {error}"))?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), Box<dyn Error>> {
        match name {
            "listen" => self.listen = true,
            "talk" => self.talk = true,
            "connect" => self.connect = Some(value.parse()?),
            "size" => self.size = value.parse()?,
            "flood" => self.flood = Some(value.parse()?),
            "rate" => self.rate = value.parse()?,
            "buffer" => self.buffer = Some(value.parse()?),
            "pmtu" => self.config = self.config.clone().path_mtu_discovery(value.parse()?)?,
            "sealed" => {
                self.sealed = true;
                self.config = self.config.clone().sealed(&[Suite::CHACHA_POLY])?;
            }
            "id" => {
                self.ids = match value {
                    "1" => ConnectionIds::Custom(|id| id[0] = 1),
                    "2" => ConnectionIds::Custom(|id| id[0] = 2),
                    _ => return Err("no such host".into()),
                };
                self.config = self.config.clone().connection_id_len(8)?;
            }
            "roaming" => self.config = self.config.clone().roaming(true),
            "timeout" => self.config = self.config.clone().timeout(seconds(value)?)?,
            "patience" => self.config = self.config.clone().connect_timeout(seconds(value)?)?,
            _ => return Err("no such option".into()),
        }
        Ok(())
    }
}

fn seconds(value: &str) -> Result<Duration, ParseIntError> {
    value.parse().map(Duration::from_secs)
}
