//! What comes out of a row: numbers, and what they should be.

use core::fmt;

/// One number of a run.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// What was measured.
    pub what: &'static str,
    /// How much it is; infinite if it never came to that.
    pub value: f64,
    /// In what, such as `"ms"`; empty for a ratio.
    pub unit: &'static str,
    /// What it should be, if this controller is meant to keep to it.
    pub gate: Option<Gate>,
}

/// What a number should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gate {
    /// So much or more.
    AtLeast(f64),
    /// So much or less.
    AtMost(f64),
    /// From, and to.
    Within(f64, f64),
}

impl Measure {
    pub(super) const fn new(what: &'static str, value: f64, unit: &'static str) -> Self {
        Self {
            what,
            value,
            unit,
            gate: None,
        }
    }

    pub(super) const fn gate(mut self, gate: Option<Gate>) -> Self {
        self.gate = gate;
        self
    }

    /// Whether it is as it should be; `None` if nothing is asked of it.
    ///
    /// ```
    /// use porous_sim::lab::{Gate, Measure};
    ///
    /// let gate = Some(Gate::AtMost(30.0));
    /// let queue = Measure { what: "queue", value: 31.0, unit: "ms", gate };
    /// assert_eq!(queue.holds(), Some(false));
    /// ```
    #[must_use]
    pub fn holds(&self) -> Option<bool> {
        self.gate.map(|gate| match gate {
            Gate::AtLeast(least) => self.value >= least,
            Gate::AtMost(most) => self.value <= most,
            Gate::Within(least, most) => (least..=most).contains(&self.value),
        })
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(least) => write!(f, ">= {least}"),
            Self::AtMost(most) => write!(f, "<= {most}"),
            Self::Within(least, most) => write!(f, "{least} to {most}"),
        }
    }
}
