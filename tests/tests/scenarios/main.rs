//! What two hosts must do together, topic by topic, in virtual time. Run as they are, ids begin at
//! 0; [`wraps`] runs all of them again with ids that are about to wrap on the wire.

extern crate alloc;

mod addresses;
mod advisor;
mod api;
mod asking;
mod beside;
mod budget;
mod clocks;
mod connection_ids;
mod controllers;
mod delivery;
mod determinism;
mod disconnect;
mod duplicates;
mod ecn;
mod figures;
mod flow;
mod forgery;
mod handshake;
mod idle;
mod lanes;
mod latency;
mod limits;
mod overhead;
mod path_mtu;
mod punch;
mod punch_kinds;
mod quality;
mod rates;
mod readers;
mod recovery;
mod redundancy;
mod refusals;
mod reliability;
mod resets;
mod restart;
mod restart_moments;
mod roaming;
mod silence;
mod slow;
mod stall;
mod stats;
mod strangers;
mod time;
mod wraps;
