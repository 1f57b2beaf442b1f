//! One host on sessions and a UDP socket, over loopback, with a client of WebTransport that is no browser.

mod bad;
mod limits;
mod page;
mod together;
