//! What an attempt at a sealed connection has beside a plain one: the initiator's part of the handshake
//! (`docs/wire.md`, "Sealed connections").

use alloc::vec::Vec;
use core::time::Duration;

use crate::bucket::Bucket;
use crate::frame::{
    Connect, ConnectionId, FirstAuth, GREETING_MAX, KEY_MAX, Offer, Proof, Refusal, SEAL_TAG,
    SecondAuth, Terms, cookie_input, prologue,
};
use crate::seal::noise::{Initiator, Setup};
use crate::seal::{Credentials, Crypto, Proved, Psk, Secret, SecretKey, Security, Shown, hkdf};
use crate::time::{Instant, Micros};
use crate::wire::{NoRoom, Reader};

use super::sealed_session::{Sealed, Side};

/// How long a refusal, which anybody on the path can forge, waits at least for a host that proves itself. It
/// waits for twice the time that the attempt has taken by then, if that is longer: a handshake fits in.
const PATIENCE: Duration = Duration::from_millis(250);

/// Messages 2 that are looked at in a second, each for an agreement on keys or a few. An honest host sends one
/// for each of our requests; a forger must not use all of them up before that one comes.
const LOOKS: u32 = 200;

/// The time for which looks are saved up while no message 2 comes.
const SAVED: Micros = Micros::from_millis(250);

/// The most bytes of a message of Noise: of message 2, which has a connection id in it.
const MESSAGE_MAX: usize = KEY_MAX + 1 + ConnectionId::MAX + GREETING_MAX + SEAL_TAG;

/// The two forms that a handshake binds together, as their cookies cover them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forms<'a> {
    /// Our request.
    pub(super) ours: &'a [u8],
    /// The request of the remote host that speaks of itself.
    pub(super) theirs: &'a [u8],
    /// What the remote host can do, as `theirs` tells.
    pub(super) offer: &'a Offer,
}

/// The initiator's part of a handshake. It keeps nothing of the hosts that it meets: whatever it has to say to
/// one follows from its secret and from what that host has said. So repetitions are the same bytes.
#[derive(Debug)]
pub(crate) struct SealedAttempt {
    security: Security,
    credentials: Credentials,
    secret: Secret,
    /// When the attempt began.
    began: Instant,
    /// Counts requests: see [`take_turn`](Self::take_turn).
    turn: usize,
    looks: Bucket,
    /// Refusals that wait, the ways that they came from, and when they count.
    refusals: Vec<(usize, Refusal, Instant)>,
    /// True if a host could not prove that it is the one that was meant, or cannot seal.
    pub(super) has_failed: bool,
}

impl SealedAttempt {
    pub(crate) fn new(
        security: Security,
        credentials: Credentials,
        secret: Secret,
        began: Instant,
    ) -> Self {
        Self {
            began,
            security,
            credentials,
            secret,
            turn: 0,
            looks: Bucket::full(LOOKS, SAVED),
            refusals: Vec::new(),
            has_failed: false,
        }
    }

    /// Which of `count` hosts that gave a cookie the next request is for. Each has two in a row, as one may get
    /// lost. `None` stands for any host that is there, which is asked for a new cookie: the others may be
    /// forged.
    pub(super) const fn take_turn(&mut self, count: usize) -> Option<usize> {
        let turn = if self.turn > 2 * count { 0 } else { self.turn };
        self.turn = turn + 1;
        if turn < 2 * count {
            Some(turn / 2)
        } else {
            None
        }
    }

    /// The next request is for the host with this number, which has just been heard.
    pub(super) const fn turn_to(&mut self, number: usize) {
        self.turn = 2 * number;
    }

    /// What a host that connects to us as well has to prove by its message 1, and how this one seals: the number
    /// of a psk and the psk. `None` if this host cannot answer: the other one shows something else, or is expected
    /// to have a key, which the host that begins does not prove.
    pub(crate) fn answers(&self, proof: &Proof<'_>) -> Option<(&Security, Option<(u32, &Psk)>)> {
        if self.credentials.expected().is_some() {
            return None;
        }
        let shared = match (proof, self.credentials.shown()) {
            (Proof::None, Shown::Nothing) => None,
            (Proof::Psk(theirs), Shown::Psk(ours, psk)) if theirs == ours => Some((*ours, psk)),
            _ => return None,
        };
        Some((&self.security, shared))
    }

    /// What this host says to the application of the other one.
    pub(crate) fn greeting(&self) -> &[u8] {
        self.credentials.greeting_bytes()
    }

    /// Whether this host can seal a connection with one that offers this.
    pub(super) fn suits(&self, ours: &Offer, theirs: &Offer) -> bool {
        self.security.agree(&ours.sealed, &theirs.sealed).is_some()
    }

    /// Writes message 1 into `out`. `None` if there is no common suite, or a key is none of it.
    fn start<'a>(
        &self,
        ours: &Offer,
        forms: &Forms<'_>,
        out: &'a mut [u8; MESSAGE_MAX],
    ) -> Option<(Crypto, Initiator, &'a [u8])> {
        let crypto = self.security.agree(&ours.sealed, &forms.offer.sealed)?;
        let prologue = prologue(
            &self.terms(crypto),
            cookie_input(forms.ours),
            cookie_input(forms.theirs),
        );
        let greeting = self.credentials.greeting_bytes();
        // The key of message 1 follows from psk and ephemeral key alone. So there is another ephemeral key for
        // whatever else goes into the message, or two texts would be sealed with one key and one nonce.
        let parts = [b"porous e", &prologue[..], greeting];
        let ephemeral = SecretKey::from_bytes(hkdf::hmac(crypto, self.secret.bytes(), parts));
        let setup = Setup {
            crypto,
            prologue: &prologue,
            psk: self.credentials.shown().psk(),
        };
        let server = self.credentials.expected();
        let started = Initiator::start(&setup, server, ephemeral, greeting, out);
        let (initiator, length) = started.ok()?;
        Some((crypto, initiator, out.get(..length)?))
    }

    /// What message 1 says in the open.
    fn terms(&self, crypto: Crypto) -> Terms<'_> {
        Terms {
            suite: crypto.suite().number(),
            key_tag: self.credentials.expected().map(|key| crypto.key_tag(key)),
            proof: match self.credentials.shown() {
                Shown::Nothing => Proof::None,
                Shown::Psk(number, _) => Proof::Psk(*number),
                Shown::Token(token, _) => Proof::Token(token.as_bytes()),
            },
        }
    }

    /// Writes ACK with AUTH, message 1. `own`: our request to the host that gave the cookie.
    pub(super) fn write(
        &self,
        own: &Connect,
        forms: &Forms<'_>,
        buf: &mut [u8],
    ) -> Result<usize, NoRoom> {
        let mut out = [0; MESSAGE_MAX];
        let started = self.start(&own.offer, forms, &mut out);
        let (crypto, _, message) = started.ok_or(NoRoom)?;
        let first = FirstAuth {
            nonce_self: own.nonce_self,
            nonce_peer: own.nonce_peer,
            terms: self.terms(crypto),
            message,
        };
        first.encode(buf)
    }

    /// Whether one more message 2 may be looked at now.
    pub(super) fn may_look(&mut self, now: Instant) -> bool {
        self.looks.fill(now, SAVED);
        let may = self.looks.hold(now).is_none();
        if may {
            self.looks.spend(1);
        }
        may
    }

    /// Opens message 2 of the host with these forms: what the handshake has come to, the connection id that
    /// the host wants to be sent, and its greeting. `None` if it does not open.
    pub(super) fn finish(
        &self,
        ours: &Offer,
        forms: &Forms<'_>,
        second: &SecondAuth<'_>,
    ) -> Option<(Sealed, ConnectionId, Vec<u8>)> {
        let mut out = [0; MESSAGE_MAX];
        let (crypto, initiator, _) = self.start(ours, forms, &mut out)?;
        if crypto.suite().number() != second.suite {
            return None;
        }
        let (keys, length) = initiator.finish(second.message, &mut out).ok()?;
        let mut reader = Reader::new(out.get(..length)?);
        let connection_id = ConnectionId::decode(&mut reader).ok()?;
        let greeting = reader.rest();
        // A short id leaves room in the message for more than a greeting may have.
        if greeting.len() > GREETING_MAX {
            return None;
        }
        let sealed = Sealed {
            crypto,
            keys,
            proved: Proved {
                server_key: self.credentials.expected().cloned(),
                psk: match self.credentials.shown() {
                    Shown::Psk(number, _) => Some(*number),
                    Shown::Nothing | Shown::Token(..) => None,
                },
                claims: None,
            },
            side: Side::Initiator,
            limits: self.security.limits(),
            reply: [].into(),
        };
        Some((sealed, connection_id, greeting.to_vec()))
    }

    /// Notes a refusal, which counts if nobody proves to be meant before that. Whether it is the first from
    /// this way: a later one changes nothing, as a forger could go on to put it off.
    pub(super) fn doubt(&mut self, way: usize, refusal: Refusal, now: Instant) -> bool {
        let is_first = self.refusals.iter().all(|&(other, ..)| other != way);
        if is_first {
            let patience = 2 * now.saturating_duration_since(self.began);
            self.refusals
                .push((way, refusal, now + patience.max(PATIENCE)));
        }
        is_first
    }

    /// The first refusal that did not count yet.
    pub(super) fn doubted(&self) -> Option<Refusal> {
        self.refusals.first().map(|&(_, refusal, _)| refusal)
    }

    /// When the next refusal counts.
    pub(super) fn due(&self) -> Instant {
        let due = self.refusals.iter().map(|&(.., due)| due);
        due.min().unwrap_or(Instant::NEVER)
    }

    /// The next refusal that counts now.
    pub(super) fn next_refusal(&mut self, now: Instant) -> Option<(usize, Refusal)> {
        let place = self.refusals.iter().position(|&(.., due)| due <= now)?;
        let (way, refusal, _) = self.refusals.swap_remove(place);
        Some((way, refusal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::toy::Toy;

    fn attempt() -> SealedAttempt {
        let security = Security::new(&Toy);
        let secret = Secret::new([7; 32]);
        SealedAttempt::new(security, Credentials::new(), secret, Instant::ZERO)
    }

    /// The hosts that the next requests are for.
    fn turns(attempt: &mut SealedAttempt, count: usize, requests: usize) -> Vec<Option<usize>> {
        (0..requests).map(|_| attempt.take_turn(count)).collect()
    }

    #[test]
    fn hosts_that_gave_a_cookie_are_answered_twice_and_then_all_are_asked_anew() {
        let mut attempt = attempt();
        assert_eq!(turns(&mut attempt, 0, 2), [None; 2]);
        attempt.turn_to(0);
        let two = [Some(0), Some(0), Some(1), Some(1), None];
        assert_eq!(turns(&mut attempt, 2, 6), [&two[..], &[Some(0)]].concat());
        attempt.turn_to(1);
        assert_eq!(turns(&mut attempt, 2, 3), two[2..]);
        attempt.turn_to(2);
        assert_eq!(turns(&mut attempt, 2, 2), [None, Some(0)]);
    }

    /// The key of message 1 follows from the psk and the ephemeral key alone: two texts must not have one.
    #[test]
    fn whatever_else_is_said_has_another_ephemeral_key() {
        let config = crate::Config::new().sealed(&[crate::seal::Suite::CHACHA_POLY]);
        let offer = config.unwrap().offer();
        let key = |secret, greeting: &[u8], ours: u8, theirs: u8| {
            let credentials = Credentials::new().greeting(greeting).unwrap();
            let (security, secret) = (Security::new(&Toy), Secret::new([secret; 32]));
            let attempt = SealedAttempt::new(security, credentials, secret, Instant::ZERO);
            let (ours, theirs) = ([ours; 60], [theirs; 60]);
            let forms = Forms {
                ours: &ours,
                theirs: &theirs,
                offer: &offer,
            };
            let mut out = [0; MESSAGE_MAX];
            let (_, _, message) = attempt.start(&offer, &forms, &mut out).unwrap();
            message[..32].to_vec()
        };
        let first = key(1, b"hello", 2, 3);
        assert_eq!(first, key(1, b"hello", 2, 3), "a repetition is the same");
        let others = [
            key(9, b"hello", 2, 3),
            key(1, b"hallo", 2, 3),
            key(1, b"", 2, 3),
            key(1, b"hello", 9, 3),
            key(1, b"hello", 2, 9),
        ];
        for (n, other) in others.iter().enumerate() {
            assert_ne!(first, *other, "{n}");
        }
    }

    #[test]
    fn two_hundred_messages_a_second_are_looked_at() {
        let mut attempt = attempt();
        let count =
            |attempt: &mut SealedAttempt, now| (0..1000).filter(|_| attempt.may_look(now)).count();
        let ms = |ms| Instant::ZERO + Duration::from_millis(ms);
        let at_once = count(&mut attempt, ms(1000));
        assert!((50..=51).contains(&at_once), "{at_once}");
        let second: usize = (1001..=2000).map(|now| count(&mut attempt, ms(now))).sum();
        assert!((199..=201).contains(&second), "{second}");
    }

    #[test]
    fn a_refusal_waits_for_as_long_as_a_handshake_may_take() {
        let ms = |ms| Instant::ZERO + Duration::from_millis(ms);
        for (came, counts) in [(10, 260), (124, 374), (400, 1200)] {
            let mut attempt = attempt();
            assert!(attempt.doubt(3, Refusal::Full, ms(came)));
            assert!(
                !attempt.doubt(3, Refusal::Security, ms(came + 1)),
                "put off"
            );
            assert_eq!(attempt.due(), ms(counts));
            assert_eq!(attempt.next_refusal(ms(counts - 1)), None);
            assert_eq!(attempt.next_refusal(ms(counts)), Some((3, Refusal::Full)));
            assert_eq!(attempt.due(), Instant::NEVER);
        }
    }
}
