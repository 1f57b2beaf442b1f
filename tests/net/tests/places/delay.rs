//! A long and bad line.

use core::time::Duration;

use porous_sim::LinkConfig;

use crate::lab::Lab;
use crate::wan::Wan;

const SEED: u64 = 1;

#[test]
fn a_long_and_bad_line_costs_no_reliable_packet_and_its_delay_is_measured() {
    let Some(lab) = Lab::open("delay") else {
        return;
    };
    let [client, server] = ["client", "server"].map(|name| lab.space(name));
    let config = LinkConfig::new()
        .delay(Duration::from_millis(40))
        .jitter(Duration::from_millis(5))
        .loss(3.0)
        .duplicate(3.0)
        .reorder(5.0);
    let ends = [(&client, "10.1.0.1/24"), (&server, "10.1.0.2/24")];
    let _wan = Wan::open(ends, config, SEED);
    let _server = server.host("0.0.0.0:7000 listen");
    let mut client = client.host("0.0.0.0:0 talk connect=10.1.0.2:7000");
    client.connected();
    client.hears(300);
    let peer = client.now("peer").unwrap();
    let (rtt, lost) = (peer.value::<u64>("rtt"), peer.value::<u64>("lost"));
    assert!((80..250).contains(&rtt), "seed {SEED}: {peer:?}");
    assert!(lost > 0, "seed {SEED}: {peer:?}");
}
