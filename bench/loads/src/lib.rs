//! Processor time of whole hosts: the loads, what plays them, and porous itself. See `bench/README.md`, "Processor
//! time".

pub mod callgrind;
mod clock;
pub mod counted;
pub mod guard;
pub mod load;
pub mod node;
pub mod porous;
pub mod stage;
pub mod task;
