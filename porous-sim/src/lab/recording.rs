//! Recording a host of a run.

use porous_trace::Recorder;

/// One of the two hosts of a flow of porous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The host that connects and sends, at 192.0.2.1:49152.
    Client,
    /// The host that listens and receives, at 192.0.2.2:4000.
    Server,
}

/// What records a host of the first flow of porous. The clock of the host begins with the run, and the trace tells
/// no date, so that the same run writes the same bytes.
#[derive(Debug)]
pub struct Recording {
    /// The host.
    pub end: End,
    /// Where its records go. The last are written when the run is over.
    pub recorder: Recorder,
}
