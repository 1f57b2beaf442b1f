//! What may become of one datagram.

use core::fmt;
use core::str::FromStr;

use alloc::string::String;
use alloc::vec::Vec;

/// What becomes of a datagram. In a text each is a letter.
///
/// ```
/// use porous_sim::explore::{Choice, Choices};
///
/// let choices: Choices = "nlb".parse()?;
/// assert_eq!(choices.0, [Choice::Now, Choice::Lost, Choice::Behind]);
/// assert_eq!(choices.to_string(), "nlb");
/// # Ok::<(), porous_sim::explore::NoChoice>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// `n`: it arrives after the usual time.
    Now,
    /// `l`: it never arrives.
    Lost,
    /// `t`: it arrives twice, one right behind the other.
    Twice,
    /// `b`: it arrives behind the next datagram that arrives, whichever host that one is for.
    Behind,
    /// `f`: it arrives behind the next two.
    FarBehind,
    /// `d`: it is delayed until timers have made hosts send again.
    Delayed,
    /// `r`: it arrives after the usual time, and once more when timers have made hosts send again.
    Repeated,
}

impl Choice {
    /// All choices. The first is that of a network without faults.
    ///
    /// ```
    /// assert_eq!(porous_sim::explore::Choice::ALL.len(), 7);
    /// ```
    pub const ALL: [Self; 7] = [
        Self::Now,
        Self::Lost,
        Self::Twice,
        Self::Behind,
        Self::FarBehind,
        Self::Delayed,
        Self::Repeated,
    ];

    /// The letter of this choice in a text.
    ///
    /// ```
    /// assert_eq!(porous_sim::explore::Choice::Lost.letter(), 'l');
    /// ```
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Now => 'n',
            Self::Lost => 'l',
            Self::Twice => 't',
            Self::Behind => 'b',
            Self::FarBehind => 'f',
            Self::Delayed => 'd',
            Self::Repeated => 'r',
        }
    }
}

/// What becomes of the first datagrams, one after the other. All later ones arrive after the usual time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices(pub Vec<Choice>);

impl fmt::Display for Choices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters: String = self.0.iter().map(|choice| choice.letter()).collect();
        f.pad(&letters)
    }
}

impl FromStr for Choices {
    type Err = NoChoice;

    fn from_str(text: &str) -> Result<Self, NoChoice> {
        let choice = |letter| {
            let mut all = Choice::ALL.into_iter();
            let found = all.find(|choice| choice.letter() == letter);
            found.ok_or(NoChoice { letter })
        };
        text.chars().map(choice).collect::<Result<_, _>>().map(Self)
    }
}

/// A text of choices has a letter that is none of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoChoice {
    letter: char,
}

impl fmt::Display for NoChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = Choices(Choice::ALL.to_vec());
        write!(
            f,
            "`{}` is no choice: each is a letter of {all}",
            self.letter
        )
    }
}

impl core::error::Error for NoChoice {}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn each_choice_has_a_letter_of_its_own() {
        let all = Choices(Choice::ALL.to_vec());
        assert_eq!(all.to_string().parse(), Ok(all));
        assert_eq!("".parse(), Ok(Choices::default()));
        let wrong: Result<Choices, _> = "nx".parse();
        let told = wrong.expect_err("x is no choice").to_string();
        assert_eq!(told, "`x` is no choice: each is a letter of nltbfdr");
    }
}
