//! The way of the game's commands to the network thread.

use super::output::Instruction;
use super::queue::Producer;
use crate::bell::Ringer;

/// The queue to the network thread, and what wakes the thread to look into the queue.
#[derive(Debug)]
pub(crate) struct Commands {
    queue: Producer<Instruction>,
    ringer: Ringer,
}

impl Commands {
    pub(crate) const fn new(queue: Producer<Instruction>, ringer: Ringer) -> Self {
        Self { queue, ringer }
    }

    /// True if one more instruction may be queued.
    pub(crate) fn has_room(&self) -> bool {
        self.queue.has_room()
    }

    /// Queues an instruction, also if there is no room, and wakes the thread. Gives the instruction back if
    /// the thread has ended.
    pub(crate) fn push(&self, instruction: Instruction) -> Result<(), Instruction> {
        // The queue first: a thread that is woken before may look, find nothing, and sleep again.
        self.queue.push(instruction)?;
        self.ringer.ring();
        Ok(())
    }

    /// Wakes the thread without an instruction.
    pub(crate) fn ring(&self) {
        self.ringer.ring();
    }
}
