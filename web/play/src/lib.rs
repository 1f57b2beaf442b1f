//! The arena in a browser: [`Game`] is its client for JavaScript, [`rules`] is what it and its server agree to.

pub mod echo;
mod game;
pub mod rules;

pub use game::Game;
