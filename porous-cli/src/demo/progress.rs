//! The progress of a run: a bar on stderr, if that is a terminal.

use core::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::client::Client;
use super::flow::Flow;

/// The bar. It is erased at the end.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    clients: u16,
    traffic: Duration,
}

impl Progress {
    pub(crate) fn new(clients: u16, seconds: u32) -> Self {
        let bar = ProgressBar::new(u64::from(seconds) * 1000);
        let style = ProgressStyle::with_template("{prefix:10} [{bar:40}] {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let traffic = Duration::from_secs(seconds.into());
        Self {
            bar,
            clients,
            traffic,
        }
    }

    pub(crate) fn connecting(&self, connected: usize) {
        // Hidden where stderr is no terminal.
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_prefix("connecting");
        self.bar
            .set_message(format!("{connected} of {} clients", self.clients));
        self.bar.tick();
    }

    pub(crate) fn playing(&self, elapsed: Duration, clients: &[Client]) {
        let millis = elapsed.min(self.traffic).as_millis();
        let position = u64::try_from(millis).unwrap_or(u64::MAX);
        // Ten times a second is enough for the eye.
        if self.bar.is_hidden() || position / 100 == self.bar.position() / 100 {
            return;
        }
        self.bar.set_prefix(if elapsed < self.traffic {
            "playing"
        } else {
            "draining"
        });
        let flows = || clients.iter().flat_map(|client| &client.flows);
        let sent: u64 = flows().map(Flow::sent).sum();
        let delivered: u64 = flows().map(|flow| flow.counts().delivered).sum();
        self.bar
            .set_message(format!("{delivered} of {sent} packets delivered"));
        self.bar.set_position(position);
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
