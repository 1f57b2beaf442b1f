//! Cookies: a listener's random id is a keyed hash of where the request came from and what it said, so
//! that the listener keeps nothing of a stranger (`docs/wire.md`, "REQ and ACK"; `docs/deviations.md` C1,
//! C2).

use core::hash::{Hash, Hasher};
use core::time::Duration;

use rand_core::Rng;
use siphasher::sip::SipHasher24;

use crate::time::{Instant, micros};

/// The time for which a key makes cookies. They are accepted for as long again: a cookie is good for 15
/// to 30 s, which is no longer than a peer lingers that has ended.
const KEY_LIFE: Duration = Duration::from_secs(15);

#[derive(Clone, Copy)]
struct Key([u8; 16]);

impl Key {
    fn draw(rng: &mut impl Rng) -> Self {
        let mut key = [0; 16];
        rng.fill_bytes(&mut key);
        Self(key)
    }
}

/// The keys of cookies, which `Debug` never shows.
pub(crate) struct Cookies {
    current: Key,
    previous: Key,
    /// The number of whole lives of a key between the epoch and now.
    life: u64,
}

impl core::fmt::Debug for Cookies {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        // With a key an attacker proves to be at any address.
        f.debug_struct("Cookies")
            .field("life", &self.life)
            .finish_non_exhaustive()
    }
}

impl Cookies {
    pub(crate) fn new(rng: &mut impl Rng) -> Self {
        Self {
            current: Key::draw(rng),
            previous: Key::draw(rng),
            life: 0,
        }
    }

    /// What follows from both keys, and tells neither.
    #[cfg(feature = "audit")]
    pub(super) fn view(&self) -> [u64; 2] {
        [self.current, self.previous].map(|key| bake(key, 0, &0_u32, [b"view", b""]))
    }

    /// Draws new keys if the current one has had its time.
    pub(crate) fn rotate(&mut self, now: Instant, rng: &mut impl Rng) {
        let life = now.as_micros() / micros(KEY_LIFE);
        if life == self.life {
            return;
        }
        self.previous = if life == self.life + 1 {
            self.current
        } else {
            // The host slept for a whole life: even the newest cookie is too old.
            Key::draw(rng)
        };
        self.current = Key::draw(rng);
        self.life = life;
    }

    /// The cookie for a request from this address, never 0. `request`: the bytes that it covers.
    pub(crate) fn bake<A: Hash>(&self, address: &A, request: [&[u8]; 2]) -> u64 {
        bake(self.current, self.life, address, request)
    }

    /// A hash that nobody can foresee. The next key gives another one.
    pub(crate) fn hash(&self, value: &impl Hash) -> u64 {
        let mut hasher = Portable(SipHasher24::new_with_key(&self.current.0));
        value.hash(&mut hasher);
        hasher.finish()
    }

    /// Whether this host gave this cookie for this request, not too long ago.
    pub(crate) fn accepts<A: Hash>(&self, cookie: u64, address: &A, request: [&[u8]; 2]) -> bool {
        let lives = [
            (self.current, self.life),
            (self.previous, self.life.wrapping_sub(1)),
        ];
        lives.into_iter().any(|(key, life)| {
            // Its two top bits name the life, so that one hash decides, or none.
            cookie >> 62 == life & 3 && bake(key, life, address, request) == cookie
        })
    }
}

/// The cookie under this key. Its two top bits tell which life the key belongs to.
fn bake<A: Hash>(key: Key, life: u64, address: &A, request: [&[u8]; 2]) -> u64 {
    let mut hasher = Portable(SipHasher24::new_with_key(&key.0));
    address.hash(&mut hasher);
    for part in request {
        // Lengths keep bytes from moving from one part into the other unseen.
        hasher.write_u64(part.len() as u64);
        hasher.write(part);
    }
    (hasher.finish() >> 2 | (life & 3) << 62).max(1) // 0 is no nonce (`docs/wire.md`, "Long forms")
}

/// A hasher of integers in little-endian order, `usize` as `u64`: a cookie is the same on every machine.
struct Portable(SipHasher24);

impl Hasher for Portable {
    fn finish(&self) -> u64 {
        self.0.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn write_u16(&mut self, n: u16) {
        self.0.write(&n.to_le_bytes());
    }

    fn write_u32(&mut self, n: u32) {
        self.0.write(&n.to_le_bytes());
    }

    fn write_u64(&mut self, n: u64) {
        self.0.write(&n.to_le_bytes());
    }

    fn write_u128(&mut self, n: u128) {
        self.0.write(&n.to_le_bytes());
    }

    fn write_usize(&mut self, n: usize) {
        self.0.write(&(n as u64).to_le_bytes());
    }

    fn write_isize(&mut self, n: isize) {
        self.0.write(&(n as i64).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use core::convert::Infallible;

    use super::*;

    struct Count(u64);

    impl rand_core::TryRng for Count {
        type Error = Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            Ok(0)
        }

        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            Ok(0)
        }

        fn try_fill_bytes(&mut self, dst: &mut [u8]) -> Result<(), Infallible> {
            self.0 += 1;
            dst.fill(u8::try_from(self.0 % 251).unwrap());
            Ok(())
        }
    }

    const REQUEST: [&[u8]; 2] = [b"head", b"body"];

    fn at(seconds: u64) -> Instant {
        Instant::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn a_cookie_is_bound_to_the_address_and_to_all_of_the_request() {
        let cookies = Cookies::new(&mut Count(0));
        let cookie = cookies.bake(&7_u32, REQUEST);
        assert!(cookies.accepts(cookie, &7_u32, REQUEST));
        assert!(!cookies.accepts(cookie, &8_u32, REQUEST));
        assert!(!cookies.accepts(cookie, &7_u32, [b"head", b"bodY"]));
        assert!(!cookies.accepts(cookie, &7_u32, [b"headb", b"ody"]));
        assert!(!cookies.accepts(cookie ^ 1, &7_u32, REQUEST));
    }

    /// Addresses are hashed by the values in them, in one order of bytes on every machine.
    #[test]
    fn numbers_are_hashed_as_their_little_endian_bytes() {
        let hash = |write: &dyn Fn(&mut Portable)| {
            let mut hasher = Portable(SipHasher24::new_with_key(&[7; 16]));
            write(&mut hasher);
            hasher.finish()
        };
        let bytes: [u8; 16] = core::array::from_fn(|n| u8::try_from(n + 1).unwrap());
        let of = |len: usize| hash(&|hasher| hasher.write(&bytes[..len]));
        assert_eq!(hash(&|hasher| hasher.write_u16(0x0201)), of(2));
        assert_eq!(hash(&|hasher| hasher.write_u32(0x0403_0201)), of(4));
        let long = 0x0807_0605_0403_0201;
        assert_eq!(hash(&|hasher| hasher.write_u64(long)), of(8));
        let size = usize::try_from(long).unwrap();
        assert_eq!(hash(&|hasher| hasher.write_usize(size)), of(8));
        let size = isize::try_from(long).unwrap();
        assert_eq!(hash(&|hasher| hasher.write_isize(size)), of(8));
        let wide = u128::from_le_bytes(bytes);
        assert_eq!(hash(&|hasher| hasher.write_u128(wide)), of(16));
    }

    #[test]
    fn a_cookie_tells_by_which_key_it_was_made_and_is_never_0() {
        let mut rng = Count(0);
        let mut cookies = Cookies::new(&mut rng);
        for life in 0..9 {
            cookies.rotate(at(15 * life), &mut rng);
            for address in 0..50_u32 {
                let cookie = cookies.bake(&address, REQUEST);
                assert_eq!((cookie >> 62, cookie != 0), (life & 3, true));
            }
        }
    }

    #[test]
    fn a_hash_is_another_one_in_the_next_life_of_the_keys() {
        let mut rng = Count(0);
        let mut cookies = Cookies::new(&mut rng);
        let (seven, eight) = (cookies.hash(&7_u32), cookies.hash(&8_u32));
        assert_ne!(seven, eight);
        cookies.rotate(at(14), &mut rng);
        assert_eq!(cookies.hash(&7_u32), seven);
        cookies.rotate(at(15), &mut rng);
        assert_ne!(cookies.hash(&7_u32), seven);
    }

    #[test]
    fn a_cookie_lives_for_one_or_two_lives_of_a_key() {
        let mut rng = Count(0);
        let mut cookies = Cookies::new(&mut rng);
        cookies.rotate(at(31), &mut rng);
        let cookie = cookies.bake(&7_u32, REQUEST);
        cookies.rotate(at(59), &mut rng);
        assert!(cookies.accepts(cookie, &7_u32, REQUEST));
        cookies.rotate(at(60), &mut rng);
        assert!(!cookies.accepts(cookie, &7_u32, REQUEST));
        let cookie = cookies.bake(&7_u32, REQUEST);
        cookies.rotate(at(90), &mut rng); // a whole life of a key was skipped
        assert!(!cookies.accepts(cookie, &7_u32, REQUEST));
    }
}
