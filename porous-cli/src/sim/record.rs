//! Recording one of the hosts of a simulated run.

use clap::{Args, ValueEnum};
use porous_sim::lab;

use crate::record::{RecordArgs, Recording};

/// Where a simulated run is recorded, and which host.
#[derive(Debug, Args)]
pub(crate) struct SimRecordArgs {
    #[command(flatten)]
    record: RecordArgs,
    /// The host that is recorded [default: client]
    #[arg(long, value_name = "HOST")]
    of: Option<End>,
}

/// One of the two hosts of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum End {
    /// The host that connects and sends
    Client,
    /// The host that listens and receives
    Server,
}

impl SimRecordArgs {
    /// Whether anything is to be recorded.
    pub(crate) const fn is_asked(&self) -> bool {
        self.record.is_asked()
    }

    /// What records the host, if anything is to be recorded, and whether all could be written.
    pub(crate) fn open(&self) -> Result<(Option<lab::Recording>, Recording), String> {
        if self.of.is_some() && !self.is_asked() {
            return Err(
                "--of says which host is recorded: name a file by --trace or --pcap".to_owned(),
            );
        }
        let (mut recorders, recording) = self.record.open(1)?;
        let end = match self.of.unwrap_or(End::Client) {
            End::Client => lab::End::Client,
            End::Server => lab::End::Server,
        };
        let of = |recorder| lab::Recording { end, recorder };
        Ok((recorders.pop().map(of), recording))
    }
}
