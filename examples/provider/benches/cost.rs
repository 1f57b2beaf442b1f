//! What a handshake and a datagram cost with each provider: `cargo bench`.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use porous_crypto::RustCrypto;
use porous_proto::seal::{Provider, PublicKey, SecretKey, Shared, Suite, Weak};
use provider::AwsLc;

/// Bytes that are sealed of a datagram.
const LENGTHS: [usize; 3] = [64, 200, 1200];

/// What stands in a datagram in the open: byte 0, an id of 4 bytes, and 2 bytes of the frame id.
const HEAD: [u8; 7] = [0x44, 1, 2, 3, 4, 5, 6];

const KEY: [u8; 32] = [3; 32];

fn main() {
    divan::main();
}

fn seal(bencher: Bencher<'_, '_>, provider: &dyn Provider, suite: Suite, length: usize) {
    let mut aead = provider.aead(suite, &KEY);
    let (mut text, mut nonce) = (vec![7; length], 0);
    bencher.counter(BytesCount::new(length)).bench_local(|| {
        nonce += 1;
        aead.seal(nonce, black_box(&HEAD), black_box(&mut text))
    });
}

/// Opens copies, as what is open cannot be opened: the time contains that of copying.
fn open(bencher: Bencher<'_, '_>, provider: &dyn Provider, suite: Suite, length: usize) {
    let mut aead = provider.aead(suite, &KEY);
    let mut sealed = vec![7; length];
    let tag = aead.seal(1, &HEAD, &mut sealed);
    let mut text = sealed.clone();
    bencher.counter(BytesCount::new(length)).bench_local(|| {
        text.copy_from_slice(&sealed);
        assert!(aead.open(1, black_box(&HEAD), black_box(&mut text), &tag));
    });
}

#[divan::bench(types = [RustCrypto, AwsLc], args = LENGTHS)]
fn chacha_poly_seals<P: Provider + Default>(bencher: Bencher<'_, '_>, length: usize) {
    seal(bencher, &P::default(), Suite::CHACHA_POLY, length);
}

#[divan::bench(types = [RustCrypto, AwsLc], args = LENGTHS)]
fn chacha_poly_opens<P: Provider + Default>(bencher: Bencher<'_, '_>, length: usize) {
    open(bencher, &P::default(), Suite::CHACHA_POLY, length);
}

#[divan::bench(types = [RustCrypto, AwsLc], args = LENGTHS)]
fn aes_gcm_seals<P: Provider + Default>(bencher: Bencher<'_, '_>, length: usize) {
    seal(bencher, &P::default(), Suite::AES_GCM, length);
}

#[divan::bench(types = [RustCrypto, AwsLc], args = LENGTHS)]
fn aes_gcm_opens<P: Provider + Default>(bencher: Bencher<'_, '_>, length: usize) {
    open(bencher, &P::default(), Suite::AES_GCM, length);
}

#[divan::bench(types = [RustCrypto, AwsLc])]
fn agreement<P: Provider + Default>() -> Result<Shared, Weak> {
    let secret = SecretKey::from_bytes(black_box(KEY));
    P::default().agree(Suite::CHACHA_POLY, &secret, black_box(&[9; 32]))
}

#[divan::bench(types = [RustCrypto, AwsLc])]
fn public_key<P: Provider + Default>() -> Result<PublicKey, Weak> {
    let secret = SecretKey::from_bytes(black_box(KEY));
    P::default().public_key(Suite::CHACHA_POLY, &secret)
}
