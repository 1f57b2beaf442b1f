//! POROUS for Godot 4: the class `PorousMultiplayerPeer`, a `MultiplayerPeer`. All that it does is in
//! `porous-godot-core`; here are the engine's types and the socket.

mod entry;
mod peer;
