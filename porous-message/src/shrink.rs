//! Queues that give back their memory.

use alloc::collections::VecDeque;

/// Bytes of a queue that is not worth shrinking.
const SMALL: usize = 256;

/// Gives memory back if less than a quarter of it is used. To be called when something was taken out: so
/// the memory of a queue follows its content.
pub(crate) fn shrink<T>(queue: &mut VecDeque<T>) {
    let (len, capacity) = (queue.len(), queue.capacity());
    if 4 * len < capacity && capacity.saturating_mul(size_of::<T>()) > SMALL {
        // Room for twice the content stays, so that a queue that grows again does not allocate at once.
        queue.shrink_to(2 * len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_queue_takes_follows_what_is_in_it() {
        let mut queue: VecDeque<u64> = (0..1000).collect();
        let mut shrunk = 0;
        while queue.pop_front().is_some() {
            let before = queue.capacity();
            shrink(&mut queue);
            shrunk += usize::from(queue.capacity() < before);
            let most = (4 * queue.len()).max(SMALL / 8);
            assert!(queue.capacity() <= most, "{}", queue.len());
        }
        assert!(shrunk < 10, "{shrunk}");
    }
}
