//! Objects of JavaScript, to be read and written.

use core::time::Duration;

use js_sys::{Object, Reflect};
use porous_proto::{Instant, Mode};
use wasm_bindgen::{JsError, JsValue};

/// An object that is being made.
pub(crate) struct Made(Object);

impl Made {
    pub(crate) fn new() -> Self {
        Self(Object::new())
    }

    pub(crate) fn with(self, name: &str, value: impl Into<JsValue>) -> Self {
        // A plain object takes every property.
        let _set = Reflect::set(&self.0, &name.into(), &value.into());
        self
    }

    /// A count. JavaScript is exact up to 2^53, and no connection gets there.
    #[expect(clippy::cast_precision_loss, reason = "as JavaScript counts")]
    pub(crate) fn count(self, name: &str, count: impl Into<u64>) -> Self {
        self.with(name, count.into() as f64)
    }

    pub(crate) fn time(self, name: &str, time: Duration) -> Self {
        self.with(name, time.as_secs_f64() * 1000.0)
    }

    pub(crate) fn done(self) -> JsValue {
        self.0.into()
    }
}

/// The property of an object; `None` if there is no object, or no such property in it.
pub(crate) fn property(of: &JsValue, name: &str) -> Option<JsValue> {
    if !of.is_object() {
        return None;
    }
    let value = Reflect::get(of, &name.into()).ok()?;
    (!value.is_undefined() && !value.is_null()).then_some(value)
}

/// A whole number from 0 to `most`.
pub(crate) fn number(of: &JsValue, name: &str, most: u32) -> Result<Option<u32>, JsError> {
    let Some(value) = property(of, name) else {
        return Ok(None);
    };
    match value.as_f64() {
        Some(number) => whole(number, most).map(Some).ok_or_else(|| {
            JsError::new(&format!(
                "{name} is {number}: give a whole number from 0 to {most}"
            ))
        }),
        None => Err(JsError::new(&format!("{name} has to be a number"))),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is in the range"
)]
pub(crate) fn whole(number: f64, most: u32) -> Option<u32> {
    let is_whole = number.fract() == 0.0 && (0.0..=f64::from(most)).contains(&number);
    is_whole.then_some(number as u32)
}

/// The instant at which the clock of the page shows these milliseconds.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of what is no time gives the nearest one"
)]
pub fn instant(ms: f64) -> Instant {
    Instant::from_micros((ms * 1000.0) as u64)
}

/// What the clock shows at an instant.
#[expect(clippy::cast_precision_loss, reason = "as JavaScript counts")]
pub(crate) fn ms(at: Instant) -> f64 {
    at.as_micros() as f64 / 1000.0
}

/// The name of a mode, as in the C interface.
pub(crate) const fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Unreliable => "unreliable",
        Mode::Reliable => "reliable",
        Mode::Passive => "passive",
    }
}

pub(crate) fn mode(name: &str) -> Result<Mode, JsError> {
    let modes = [Mode::Unreliable, Mode::Reliable, Mode::Passive];
    let found = modes.into_iter().find(|mode| mode_name(*mode) == name);
    found.ok_or_else(|| {
        JsError::new(&format!(
            "there is no mode {name:?}: give \"unreliable\", \"reliable\" or \"passive\""
        ))
    })
}
