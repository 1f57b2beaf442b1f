//! porous-message beside other codecs: the bits, instructions and time of a typical message of a game.

mod by_hand;
mod codec;
mod costs;
mod report;
mod state;
mod subject;
mod time;

use std::io::{self, Write as _};

pub(crate) use self::subject::Operation;
use self::subject::{SUBJECTS, Subject};
use crate::args::Codecs;

pub(crate) fn main(command: &Codecs) -> io::Result<()> {
    match command {
        Codecs::Bits => io::stdout().write_all(report::bits().as_bytes()),
        Codecs::Costs => {
            let text = report::bits() + &report::costs(&costs::measure()?);
            io::stdout().write_all(text.as_bytes())
        }
        Codecs::Time => {
            time::main();
            Ok(())
        }
        Codecs::Repeat {
            codec,
            form,
            operation,
            rounds,
        } => {
            let is_it = |subject: &&Subject| subject.codec == codec && subject.form == form;
            let subject = SUBJECTS.iter().find(is_it);
            let mut pass = (subject.ok_or(io::ErrorKind::NotFound)?.pass)(*operation);
            (0..*rounds).for_each(|_| pass());
            Ok(())
        }
    }
}
