//! What the scenario tests share: the contract of a channel as a model, and traffic to test it with.

mod model;
mod traffic;

pub use model::Model;
pub use traffic::Traffic;
