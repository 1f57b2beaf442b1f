//! A [`Multiplayer`](porous_godot_core::Multiplayer) as Godot uses it, in simulated networks that lose, delay, repeat and
//! reorder. A failure prints the seed that replays it: `POROUS_SEED=7 cargo test -p porous-godot-core name`.

extern crate alloc;

mod calls;
mod game;
mod hostile;
mod peers;
mod scene;
mod script;
