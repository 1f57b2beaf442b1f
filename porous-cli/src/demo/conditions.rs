//! The bad network between the hosts: each datagram goes through a simulated link before it reaches the socket. A
//! datagram that the link loses never touches the loopback interface.

use porous_std::sim::LinkConfig;

use crate::args::DemoArgs;

/// The conditions that were asked for, in one direction.
pub(crate) fn conditions(args: &DemoArgs) -> LinkConfig {
    LinkConfig::new()
        .delay(args.delay())
        .jitter(args.delay_jitter())
        .loss(args.loss)
        .duplicate(args.duplicate)
        .reorder(args.reorder)
        .rate(u64::from(args.rate) * 1000)
}
