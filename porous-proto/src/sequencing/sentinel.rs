//! Sentinel packets (§3.2.2): they let the receive window move past dropped, unreliable packets.

/// Whether `id` ends a stretch of M = `spacing` ids: its passing is acknowledged, and a sentinel is
/// sent beside it if it is unreliable.
pub(crate) const fn is_marked(id: u64, spacing: u64) -> bool {
    id % spacing == spacing - 1 // (18)
}

/// The first marked id from `from` on.
pub(crate) const fn next_marked(from: u64, spacing: u64) -> u64 {
    from / spacing * spacing + spacing - 1
}

/// The last marked id in `from..to`.
pub(crate) const fn last_marked(from: u64, to: u64, spacing: u64) -> Option<u64> {
    let ends = to / spacing * spacing;
    if ends > from { Some(ends - 1) } else { None }
}

/// Whether a sentinel whose packet is missing may be consumed: the newest entry is newer by at
/// least N_Q - M.
pub(crate) const fn may_consume(id: u64, newest: u64, window: u64, spacing: u64) -> bool {
    newest - id >= window - spacing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equation_18_marks_the_last_of_every_m_ids() {
        let marked: alloc::vec::Vec<u64> = (0..12).filter(|&id| is_marked(id, 4)).collect();
        assert_eq!(marked, [3, 7, 11]);
        assert_eq!(
            [0, 3, 4, 7, 8].map(|from| next_marked(from, 4)),
            [3, 3, 7, 7, 11]
        );
        assert_eq!(last_marked(0, 4, 4), Some(3));
        assert_eq!(last_marked(0, 3, 4), None);
        assert_eq!(last_marked(3, 11, 4), Some(7));
        assert_eq!(last_marked(4, 7, 4), None);
        assert_eq!(last_marked(3, 12, 4), Some(11));
    }
}
