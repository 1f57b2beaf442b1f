//! Runs of acts against a host, and what they have to reach.

use porous_proto::{HostStats, Ignored};

use crate::target::Target;

/// What came of a run.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// The datagrams that came.
    pub came: u64,
    /// Those of them that belonged to a peer.
    pub handled: u64,
    /// The host's counts.
    pub stats: HostStats,
}

/// Lets `act` do all acts to a host, which has to be unharmed then.
///
/// # Panics
///
/// If the host is harmed.
pub fn play<T>(
    mut target: Target,
    acts: &[T],
    act: impl Fn(&mut Target, &T) -> Option<bool>,
) -> Outcome {
    let (mut came, mut handled) = (0, 0);
    for one in acts {
        let fate = act(&mut target, one);
        came += u64::from(fate.is_some());
        handled += u64::from(fate == Some(true));
    }
    assert!(handled <= came);
    let stats = target.host.stats();
    target.assert_unharmed();
    Outcome {
        came,
        handled,
        stats,
    }
}

/// Checks that runs test more than the decoder: enough datagrams come further, and every cause for which a host
/// ignores one is reached. The first cause is the decoder's.
///
/// # Panics
///
/// If they do not.
pub fn assert_they_reach<const N: usize>(
    causes: [Ignored; N],
    runs: impl Iterator<Item = Outcome>,
) {
    let mut counts = [0; N];
    let (mut came, mut handled) = (0, 0);
    for run in runs {
        came += run.came;
        handled += run.handled;
        for (count, cause) in counts.iter_mut().zip(causes) {
            *count += run.stats.ignored(cause);
        }
    }
    let context = format!("{came} came, {handled} handled, {counts:?} of {causes:?}");
    let malformed = counts.first().copied().unwrap_or_default();
    assert!(2 * malformed < came, "too many are malformed: {context}");
    assert!(16 * handled > came, "too few belong to a peer: {context}");
    assert!(counts.iter().all(|&count| count > 0), "{context}");
}
