//! Connect tokens of POROUS: a backend that knows its players admits each of them to a game server, without
//! talking to the server.
//!
//! The backend and its game servers share a [`TokenKey`]. When a player has logged in, the backend mints a
//! [`Ticket`] and hands it to the player's game over HTTPS. The game connects with the token of the ticket,
//! the server opens it, and knows who the player is. The psk of the ticket never goes over the game's
//! network: a listener that sees a token there can do nothing with it.
//!
//! # Example
//!
//! ```
//! # use porous_proto::hooks::doc::example_rng;
//! use porous_token::{Claims, Ticket, TokenKey};
//!
//! // The backend.
//! # let mut rng = example_rng();
//! let key = TokenKey::generate(&mut rng); // once, for the backend and its servers
//! let now = 1_800_000_000; // Unix seconds
//! let claims = Claims::new(0x7069_6e67, 42, now..now + 30).single_use().user_data(b"ana")?;
//! let ticket = Ticket::mint(&key, &claims, &mut rng)?;
//! let ticket = ticket.with_servers(&["192.0.2.1:7777".parse()?])?;
//! let json = format!(r#"{{"ticket":"{}"}}"#, ticket.to_text());
//!
//! // The game.
//! let text = json.split('"').nth(3).expect("a ticket");
//! let ticket = Ticket::from_text(text)?;
//! assert_eq!(ticket.servers().len(), 1);
//! assert_eq!(ticket.expires(), now + 30);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # Which tokens
//!
//! * They should expire soon: a token has only to outlast the way from the backend to the server.
//! * [`single_use`](Claims::single_use) together with an [`audience`](Claims::audience) lets a stolen ticket
//!   be used once, and not again by the thief if the player was first.
//! * A community that runs its own servers gets a key of its own, of another number, and can mint for none
//!   but itself.
//! * A key is replaced by giving the servers the new one under another number first, then the backend.
//!
//! # A ticket in bytes
//!
//! | bytes | field |
//! |---|---|
//! | 1 | version, 1 |
//! | 32 | psk |
//! | 1 | k, 0 to 65 |
//! | k | the server's public key |
//! | 1 | n, 0 to 32 |
//! | 7 or 19 each | n addresses: 4 or 6, the address, and the port, lowest byte first |
//! | 69–372 | the token |
//!
//! A backend in another language writes these bytes itself, and makes them text by the base64 of RFC 4648 §4,
//! with padding. How a token is made is told at [`Token`]. Programs that do both, in Python, Node, Go and C#,
//! are in the repository: `docs/security.md` lists them. Each makes this ticket:
//!
//! ```
//! use porous_crypto::RustCrypto;
//! use porous_token::{Ticket, TokenKey};
//!
//! let text = "ATeGzXAIGeEIR1wS20sLcSFRIBMywTa/H6Oa+m6cMJ7wIKTgkpK2UcJ4uXcsVp9fqbsT2Qa0\
//!     araMnfncK0QJ+KIJAQTAAAIBYR4CBx7SSWsAAAAAQEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZX\
//!     CsoB+5gB/Nv7PBpHxFQGNRxC1D6KNZBV4KmvpgTLFVtsSb+kyqYZ4KTbV0c4jg==";
//! let ticket = Ticket::from_text(text)?;
//! assert_eq!(ticket.servers(), ["192.0.2.1:7777".parse()?]);
//! assert_eq!((ticket.token().key_number(), ticket.expires()), (7, 1_800_000_030));
//!
//! // The server, which has the key of the examples.
//! let key: Vec<u8> = (0..32).collect();
//! let key = TokenKey::from_bytes(key.try_into().expect("32 bytes"));
//! let (claims, psk) = ticket.token().open(&RustCrypto, &key, 0x0123_4567_89ab_cdef)?;
//! assert_eq!((claims.client_id(), claims.data()), (42, &b"ana"[..]));
//! assert_eq!(psk.as_bytes(), ticket.psk().as_bytes());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # Without std
//!
//! This crate needs `alloc` and nothing else. [`Ticket::mint_with`] takes any [`Provider`] of cryptography.
#![no_std]
#![doc(test(attr(deny(warnings))))]

extern crate alloc;

mod ticket;

#[doc(no_inline)]
pub use porous_proto::seal::{
    Claims, ClaimsError, Provider, Psk, PublicKey, Suite, Token, TokenKey, TokenRefusal,
    Unsupported,
};
pub use ticket::{Ticket, TicketError};
