//! An attacker on the path, whose decisions are a schedule's. It makes no handshake of its own, and changes no
//! datagram but by putting together forms of several.

use porous_sim::Passing;
use porous_sim::explore::Schedule;
use porous_tests::forge::{has_message, is_request, long, nonces, split};

/// The datagrams that an attacker decides about.
pub(crate) const DECISIONS: usize = 6;

/// The host that connects, the one that listens, and another address of the attacker's.
pub(crate) const CLIENT: u32 = 1;
pub(crate) const SERVER: u32 = 2;
pub(crate) const ELSEWHERE: u32 = 3;

/// A datagram, and the addresses that it seems to come from and goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Datagram {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) bytes: Vec<u8>,
}

impl Datagram {
    /// What the hosts said to each other. What goes to the attacker's other address is meant for the client, from
    /// which it seemed to come.
    pub(crate) fn of(passing: &Passing<'_, u32>) -> Self {
        let to = match passing.to {
            ELSEWHERE => CLIENT,
            to => to,
        };
        Self {
            from: passing.from,
            to,
            bytes: passing.datagram.to_vec(),
        }
    }

    fn with(&self, bytes: Vec<u8>) -> Self {
        let Self { from, to, .. } = *self;
        Self { from, to, bytes }
    }
}

/// A decision about a datagram. Where nothing else is said, the datagram passes as well, first.
#[derive(Clone, Debug)]
enum Choice {
    Pass,
    /// It never arrives.
    Drop,
    /// It arrives later.
    Hold,
    /// It comes once more.
    Twice,
    /// Its sender gets it, too.
    Reflect,
    /// It comes from another address.
    Elsewhere,
    /// An earlier one of either direction comes again.
    Replay(usize),
    /// The one that was held with this number arrives.
    Release(usize),
    /// The one that was held with this number comes in its place, and it is held.
    Swap(usize),
    /// The one of the earlier handshake with this number comes in its place, and it is held.
    Old(usize),
    /// This one comes, of which a part is of another handshake, or of none, and the datagram behind it.
    Forged(Vec<u8>),
}

/// What a schedule has taken away for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Loss {
    Nothing,
    /// The place of the client, which the earlier handshake took: its token may be used now.
    Token,
    /// A datagram, or its address.
    Datagram,
}

/// The attacker, what it knows, and what it has done.
#[derive(Debug)]
pub(crate) struct Attacker {
    /// Of a handshake of the same client that was never finished.
    old: Vec<Datagram>,
    seen: Vec<Datagram>,
    held: Vec<Datagram>,
    decided: usize,
    /// What arrives next.
    sent: Vec<Datagram>,
    pub(crate) loss: Loss,
    /// True if a message 1 was sent that may have used the client's token for a connection that is not its.
    pub(crate) has_spent: bool,
    /// In words.
    log: Vec<String>,
}

impl Attacker {
    pub(crate) const fn new(old: Vec<Datagram>) -> Self {
        Self {
            old,
            seen: Vec::new(),
            held: Vec::new(),
            decided: 0,
            sent: Vec::new(),
            loss: Loss::Nothing,
            has_spent: false,
            log: Vec::new(),
        }
    }

    /// Decides about a datagram.
    pub(crate) fn decide(&mut self, datagram: Datagram, schedule: &mut Schedule) {
        if self.decided == DECISIONS {
            self.sent.push(datagram);
            return;
        }
        self.decided += 1;
        let mut choices = self.choices(&datagram);
        let choice = choices.swap_remove(schedule.choose(choices.len()));
        let Datagram { from, to, bytes } = &datagram;
        let (kind, length) = (bytes[0], bytes.len());
        self.log.push(format!(
            "{kind:x} of {length} bytes, {from} to {to}: {choice:?}"
        ));
        self.seen.push(datagram.clone());
        self.apply(choice, datagram);
        if self.decided == DECISIONS {
            self.let_go();
        }
    }

    /// All choices for a datagram. Only one of its direction can come in its place.
    fn choices(&self, datagram: &Datagram) -> Vec<Choice> {
        let is_along = |other: &Datagram| other.to == datagram.to;
        let along = |others: &[Datagram]| {
            let numbered = others.iter().enumerate();
            let along = numbered.filter(|(_, other)| is_along(other));
            along.map(|(number, _)| number).collect::<Vec<_>>()
        };
        let mut choices = vec![
            Choice::Pass,
            Choice::Drop,
            Choice::Hold,
            Choice::Twice,
            Choice::Reflect,
            Choice::Elsewhere,
        ];
        choices.extend((0..self.seen.len()).map(Choice::Replay));
        choices.extend((0..self.held.len()).map(Choice::Release));
        choices.extend(along(&self.held).into_iter().map(Choice::Swap));
        choices.extend(along(&self.old).into_iter().map(Choice::Old));
        choices.extend(self.forged(datagram).into_iter().map(Choice::Forged));
        choices
    }

    /// If the datagram has a message of the handshake: the same with each other message that went this way, and
    /// without any. Message 1 stands before a request, message 2 before a short form.
    fn forged(&self, datagram: &Datagram) -> Vec<Vec<u8>> {
        if !has_message(&datagram.bytes) {
            return Vec::new();
        }
        let (forms, rest) = split(&datagram.bytes);
        let [ours, behind @ ..] = &forms[..] else {
            return Vec::new();
        };
        let known = self.seen.iter().chain(&self.old);
        let messages = known
            .filter(|other| other.to == datagram.to && has_message(&other.bytes))
            .map(|other| split(&other.bytes).0[0])
            .filter(|other| other[23..] != ours[23..])
            .map(|other| (long(0xD2, nonces(ours), &other[23..]), rest));
        // An ACK in plain says what a request says, and stands alone where a sealed short form would follow.
        let mut requests = self.seen.iter().filter(|other| other.from == datagram.from);
        let request = requests.rfind(|other| matches!(other.bytes[0], 0xC0 | 0xC1));
        let plain = request.map(|request| {
            let (forms, _) = split(&request.bytes);
            let rest = if behind.is_empty() { &[] } else { rest };
            (long(0xD0, nonces(ours), &forms[0][23..]), rest)
        });
        let whole = messages.chain(plain).map(|(message, rest)| {
            let mut bytes = [&message, &behind.concat(), rest].concat();
            if is_request(&bytes) {
                bytes.resize(datagram.bytes.len(), 0);
            }
            bytes
        });
        whole.collect()
    }

    fn apply(&mut self, choice: Choice, datagram: Datagram) {
        let Datagram { from, to, .. } = datagram;
        match choice {
            Choice::Pass => self.sent.push(datagram),
            Choice::Drop => self.lose(Loss::Datagram),
            Choice::Hold => self.held.push(datagram),
            Choice::Twice => self.sent.extend([datagram.clone(), datagram]),
            Choice::Reflect => {
                let back = Datagram {
                    from: to,
                    to: from,
                    bytes: datagram.bytes.clone(),
                };
                self.sent.extend([datagram, back]);
            }
            Choice::Elsewhere => {
                self.lose(Loss::Datagram);
                self.has_spent = true;
                let from = ELSEWHERE;
                self.sent.push(Datagram { from, ..datagram });
            }
            Choice::Replay(number) => {
                let again = self.seen[number].clone();
                self.sent.extend([datagram, again]);
            }
            Choice::Release(number) => {
                let late = self.held.remove(number);
                self.sent.extend([datagram, late]);
            }
            Choice::Swap(number) => {
                let late = core::mem::replace(&mut self.held[number], datagram);
                self.sent.push(late);
            }
            Choice::Old(number) => {
                self.lose(Loss::Token);
                self.has_spent = true;
                self.held.push(datagram);
                self.sent.push(self.old[number].clone());
            }
            Choice::Forged(bytes) => {
                let forged = datagram.with(bytes);
                self.sent.extend([forged, datagram]);
            }
        }
    }

    fn lose(&mut self, loss: Loss) {
        self.loss = self.loss.max(loss);
    }

    /// What is held arrives.
    pub(crate) fn let_go(&mut self) {
        self.decided = DECISIONS;
        self.sent.append(&mut self.held);
    }

    /// What arrives next.
    pub(crate) fn take(&mut self) -> Vec<Datagram> {
        core::mem::take(&mut self.sent)
    }
}

/// So that every failure names its schedule.
impl Drop for Attacker {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{:#?}", self.log);
        }
    }
}
