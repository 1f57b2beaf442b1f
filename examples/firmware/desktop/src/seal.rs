//! What the desktop knows of a board that seals.

use porous_proto::seal::{Credentials, Psk, PublicKey};

/// The public half of the board's key pair.
const BOARD_KEY: [u8; 32] = [
    0x13, 0x2c, 0x44, 0x2b, 0xe0, 0x10, 0xfb, 0xd5, 0x7e, 0x72, 0x60, 0x33, 0x28, 0xaa, 0x76, 0xe7,
    0x1f, 0xcc, 0xc1, 0x50, 0x3a, 0xae, 0x21, 0x93, 0x27, 0xd1, 0x4d, 0x9c, 0x99, 0x93, 0xf4, 0x72,
];

/// By which the desktop knows the board, and the board the desktop.
pub(crate) fn credentials() -> Credentials {
    let key = PublicKey::from_bytes(&BOARD_KEY).expect("32 bytes");
    let credentials = Credentials::new().server_key(key);
    credentials.psk(talk::PSK_NUMBER, Psk::from_bytes(talk::PSK))
}
