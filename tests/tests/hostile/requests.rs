//! Requests of strangers.

use porous_proto::{Disposition, Ignored};
use porous_tests::remote::request;

use crate::scene::{Cost, STRANGER, case, offer};

/// `[X1 R1 R2]` A request without a cookie gets one, and nothing is kept of it.
#[test]
fn a_request_without_a_cookie_is_forgotten() {
    let cost = Cost {
        bytes: 300,
        steps: 100,
    };
    case(cost, |scene| {
        let request = request([9, 0], &offer().body(&[9; 4]));
        let taken = scene.deliver(STRANGER, &request);
        assert_eq!(taken, Disposition::Ignored(Ignored::Stateless));
        assert!(scene.said[0].1.len() * 4 <= request.len());
        assert_eq!(scene.state(STRANGER), None);
    });
}
