//! The names of all metrics, and what they mean.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

pub(crate) const DATAGRAMS: &str = "porous_datagrams_total";
pub(crate) const BYTES: &str = "porous_bytes_total";
pub(crate) const IGNORED: &str = "porous_ignored_total";
pub(crate) const HANDSHAKES: &str = "porous_handshakes_total";
#[cfg(feature = "seal")]
pub(crate) const TOKENS: &str = "porous_tokens_refused_total";
pub(crate) const FRAMES: &str = "porous_frames_total";
pub(crate) const PEERS: &str = "porous_peers";
pub(crate) const RTT: &str = "porous_rtt_seconds";
pub(crate) const LOSS: &str = "porous_loss_ratio";
pub(crate) const QUEUED: &str = "porous_queued_bytes";
pub(crate) const QUALITY: &str = "porous_quality";
#[cfg(feature = "udp")]
pub(crate) const SOCKET: &str = "porous_socket_total";

/// Bounds for the histograms, for an exporter that counts values between bounds: the name of each, and its
/// bounds from the least on. With bounds the histograms of several hosts can be added up, which the quantiles
/// of each cannot. The dashboard `docs/grafana.json` needs them.
///
/// ```
/// use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder};
///
/// let mut builder = PrometheusBuilder::new();
/// for (name, bounds) in porous_metrics::BUCKETS {
///     builder = builder.set_buckets_for_metric(Matcher::Full(name.into()), bounds)?;
/// }
/// # Ok::<(), BuildError>(())
/// ```
pub const BUCKETS: [(&str, &[f64]); 4] = [
    (
        RTT,
        &[
            0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0,
        ],
    ),
    (LOSS, &[0.0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]),
    (QUEUED, &[0.0, 1e3, 4e3, 16e3, 64e3, 256e3, 1024e3, 4096e3]),
    (QUALITY, &[20.0, 40.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0]),
];

/// Tells the recorder what each metric means, and in which unit it is. Called once, when the recorder is
/// installed; without a call the metrics are the same, and nothing explains them.
///
/// ```
/// porous_metrics::describe();
/// ```
pub fn describe() {
    describe_counter!(
        DATAGRAMS,
        Unit::Count,
        "Datagrams that the host has sent or received"
    );
    describe_counter!(
        BYTES,
        Unit::Bytes,
        "Bytes of UDP payload in these datagrams"
    );
    describe_counter!(
        IGNORED,
        Unit::Count,
        "Datagrams that changed nothing, by cause"
    );
    describe_counter!(
        HANDSHAKES,
        Unit::Count,
        "Connections accepted, connections established, requests refused as their source has too many or the host \
         is overloaded"
    );
    #[cfg(feature = "seal")]
    describe_counter!(
        TOKENS,
        Unit::Count,
        "Clients that were refused for a fault of their token, by cause"
    );
    describe_counter!(
        FRAMES,
        Unit::Count,
        "Frames sent to all peers; of those, considered lost; of the lost, late after all; marked by routers"
    );
    describe_gauge!(PEERS, Unit::Count, "Peers that are live, by state");
    describe_histogram!(
        RTT,
        Unit::Seconds,
        "Smoothed round trips of connected peers"
    );
    describe_histogram!(
        LOSS,
        "Shares of frames lost in the last 5 to 10 s, each way"
    );
    describe_histogram!(
        QUEUED,
        Unit::Bytes,
        "Bytes that wait to be sent to a peer, or to be acknowledged"
    );
    describe_histogram!(QUALITY, "How good connections are, from 0 to 100");
    #[cfg(feature = "udp")]
    describe_counter!(
        SOCKET,
        Unit::Count,
        "What the system's socket has refused, delayed, and reported"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_rise() {
        for (name, bounds) in BUCKETS {
            assert!(bounds.is_sorted_by(|a, b| a < b), "{name}");
        }
    }
}
