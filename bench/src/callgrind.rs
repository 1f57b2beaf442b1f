//! What callgrind prints.

/// The instructions that callgrind counted.
pub(crate) fn collected(said: &str) -> Option<u64> {
    let (_, rest) = said.split_once("Collected : ")?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_callgrind_is_parsed() {
        let said = "==7== Events    : Ir\n==7== Collected : 3164205\n==7==\n";
        assert_eq!(collected(said), Some(3_164_205));
    }
}
