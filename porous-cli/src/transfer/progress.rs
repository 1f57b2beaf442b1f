//! The progress of a file: a bar on stderr, if that is a terminal.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// A bar, which is erased when it is dropped.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new(what: &'static str, len: u64) -> Self {
        Self::styled(ProgressBar::new(len), what)
    }

    /// A bar among others.
    pub(crate) fn among(bars: &MultiProgress, what: &'static str, len: u64) -> Self {
        Self::styled(bars.add(ProgressBar::new(len)), what)
    }

    fn styled(bar: ProgressBar, what: &'static str) -> Self {
        // The numbers stand first: a narrow terminal cuts the rest off.
        let template = "{prefix} {bytes}/{total_bytes} {bytes_per_sec} {eta} [{wide_bar}]";
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_prefix(what);
        Self(bar)
    }

    /// Begins at a position: what was there before tells nothing about the rate.
    pub(crate) fn begin(&self, at: u64) {
        self.0.set_position(at);
        self.0.reset_eta();
    }

    pub(crate) fn at(&self, at: u64) {
        self.0.set_position(at);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
