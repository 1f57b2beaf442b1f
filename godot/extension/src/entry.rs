//! The entry of the library, which Godot calls.
#![expect(unsafe_code, reason = "an entry for Godot has no other form")]

use godot::init::{ExtensionLibrary, gdextension};

/// The extension, as Godot loads it.
#[derive(Debug)]
pub(crate) struct PorousExtension;

// What the author of this has to promise: the library has one such entry, and registers nothing by hand.
#[gdextension]
unsafe impl ExtensionLibrary for PorousExtension {}
