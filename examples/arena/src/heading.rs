//! Sixteen directions, in whole numbers: every machine computes the same.

/// The vectors of the directions, 256 long, from east by south.
const VECTORS: [[i16; 2]; 16] = [
    [256, 0],
    [237, 98],
    [181, 181],
    [98, 237],
    [0, 256],
    [-98, 237],
    [-181, 181],
    [-237, 98],
    [-256, 0],
    [-237, -98],
    [-181, -181],
    [-98, -237],
    [0, -256],
    [98, -237],
    [181, -181],
    [237, -98],
];

/// The vector of a direction from 0 to 15, 256 long.
///
/// ```
/// assert_eq!(porous_arena::vector(4), [0, 256]);
/// ```
#[must_use]
pub fn vector(heading: u8) -> [i16; 2] {
    VECTORS[usize::from(heading % 16)]
}

/// The direction from 0 to 15 in which a point lies that is `way` away.
///
/// ```
/// assert_eq!(porous_arena::heading_of([0, 70]), 4);
/// ```
#[must_use]
pub fn heading_of(way: [i16; 2]) -> u8 {
    let along = |heading: &u8| dot(way, vector(*heading));
    (0..16).max_by_key(along).unwrap_or(0)
}

/// The product of two vectors: how far one goes along the other.
pub(crate) fn dot(a: [i16; 2], b: [i16; 2]) -> i32 {
    let [x, y] = [0, 1].map(|axis| i32::from(a[axis]) * i32::from(b[axis]));
    x + y
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_vector_lies_in_its_own_direction() {
        for heading in 0..16 {
            assert_eq!(heading_of(vector(heading)), heading);
            let long = dot(vector(heading), vector(heading));
            assert!((65_000..66_100).contains(&long), "{heading}: {long}");
        }
    }
}
