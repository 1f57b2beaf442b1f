//! The results of a row: numbers, and the gates that they have to pass.

use core::fmt;

/// One number of a run.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// What was measured.
    pub what: &'static str,
    /// The number; infinite if the awaited state never came.
    pub value: f64,
    /// The unit, such as `"ms"`; empty for a ratio.
    pub unit: &'static str,
    /// The gate that the number has to pass, if this controller has one.
    pub gate: Option<Gate>,
}

/// The range in which a number has to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gate {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
    /// From the first to the second.
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

    /// `Some(true)` if the number passes its gate; `None` if there is no gate.
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
