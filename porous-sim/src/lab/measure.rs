//! The results of a row: numbers, and the gates that they have to pass.

use core::fmt;

/// One number of a run.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// What was measured.
    pub what: &'static str,
    /// The number; infinite if the awaited state never came, `None` if there is none, as for the mean of nothing.
    pub value: Option<f64>,
    /// The unit, such as `"ms"`; empty for a ratio.
    pub unit: &'static str,
    /// The gate that the number has to pass, if this controller has one.
    pub gate: Option<Gate>,
}

/// How many times as much one is as the other; `None` if the other is nothing.
pub(super) fn ratio(one: f64, other: f64) -> Option<f64> {
    (other > 0.0).then(|| one / other)
}

/// A window, if anything limits it.
pub(super) fn limited(window: f64) -> Option<f64> {
    Some(window).filter(|window| window.is_finite())
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
    pub(super) fn new(
        what: &'static str,
        value: impl Into<Option<f64>>,
        unit: &'static str,
    ) -> Self {
        Self {
            what,
            value: value.into(),
            unit,
            gate: None,
        }
    }

    pub(super) const fn gate(mut self, gate: Option<Gate>) -> Self {
        self.gate = gate;
        self
    }

    /// `Some(true)` if the number passes its gate, `Some(false)` if not or if there is no number; `None` if there is
    /// no gate.
    ///
    /// ```
    /// use porous_sim::lab::{Gate, Measure};
    ///
    /// let gate = Some(Gate::AtMost(30.0));
    /// let queue = Measure { what: "queue", value: Some(31.0), unit: "ms", gate };
    /// assert_eq!(queue.holds(), Some(false));
    /// ```
    #[must_use]
    pub fn holds(&self) -> Option<bool> {
        let gate = self.gate?;
        Some(self.value.is_some_and(|value| match gate {
            Gate::AtLeast(least) => value >= least,
            Gate::AtMost(most) => value <= most,
            Gate::Within(least, most) => (least..=most).contains(&value),
        }))
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
