//! The backend on real sockets, in the kind of replicon's own tests of backends, and with a fifth of all datagrams
//! lost each way.

mod clock;
mod ends;
mod game;
mod hostile;
mod room;
mod talk;
