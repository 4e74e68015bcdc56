//! A compact binary format for the locations of all ATMs. The map script decodes it without a library.
//!
//! The format starts with the number of ATMs as a little-endian `u32`. All latitudes follow, then all longitudes, in
//! ten-thousandths of a degree (11 m), each as the difference from the previous value (zigzag, LEB128). The ATMs are
//! sorted in Morton order, so that most differences are small.

use signpost_locator::Point;

/// Maximum number of encoded points. If there are more ATMs, only every second, third or n-th in Morton order is
/// included, so that they are thinned evenly over the map.
pub const MAX_POINTS: usize = 200_000;

/// Coordinate units per degree.
const UNITS_PER_DEGREE: f64 = 10_000.0;

/// Encodes the locations of ATMs.
///
/// # Panics
/// Never: the number of points is at most [`MAX_POINTS`].
#[must_use]
pub fn encode_points(points: impl IntoIterator<Item = Point>) -> Vec<u8> {
    let mut rounded: Vec<[i32; 2]> = points.into_iter().map(|point| [point.lat(), point.lon()].map(parts)).collect();
    rounded.sort_unstable_by_key(|point| morton(*point));
    let each = rounded.len().div_ceil(MAX_POINTS).max(1);
    let kept: Vec<[i32; 2]> = rounded.into_iter().step_by(each).collect();
    let mut bytes = Vec::with_capacity(4 + kept.len() * 4);
    bytes.extend(u32::try_from(kept.len()).expect("at most MAX_POINTS").to_le_bytes());
    for axis in 0..2 {
        let mut before = 0;
        for point in &kept {
            write_step(&mut bytes, point[axis] - before);
            before = point[axis];
        }
    }
    bytes
}

#[expect(clippy::cast_possible_truncation, reason = "at most 180 degrees")]
fn parts(degrees: f64) -> i32 {
    (degrees * UNITS_PER_DEGREE).round() as i32
}

/// Returns the Morton code of a point: the interleaved bits of both coordinates.
fn morton([lat, lon]: [i32; 2]) -> u64 {
    spread_bits((lat + 900_000).unsigned_abs()) << 1 | spread_bits((lon + 1_800_000).unsigned_abs())
}

/// Inserts a zero bit before each bit.
fn spread_bits(number: u32) -> u64 {
    let mut bits = u64::from(number);
    for (shift, mask) in [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        bits = (bits | (bits << shift)) & mask;
    }
    bits
}

/// Appends a number in zigzag and LEB128 encoding.
fn write_step(bytes: &mut Vec<u8>, step: i32) {
    let mut zigzag = ((step << 1) ^ (step >> 31)).cast_unsigned();
    while zigzag > 0x7f {
        bytes.push(zigzag.to_le_bytes()[0] | 0x80);
        zigzag >>= 7;
    }
    bytes.push(zigzag.to_le_bytes()[0]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Decodes points like the map script, in ten-thousandths of a degree.
    fn decode(bytes: &[u8]) -> Vec<[i32; 2]> {
        let (count, mut rest) = bytes.split_first_chunk().expect("a count");
        let mut axis = || {
            let mut sum = 0;
            let read = |_| {
                let length = rest.iter().position(|byte| *byte < 0x80).expect("an end") + 1;
                let (number, after) = rest.split_at(length);
                rest = after;
                let zigzag = number.iter().rev().fold(0u32, |so_far, byte| so_far << 7 | u32::from(byte & 0x7f));
                sum += (zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed();
                sum
            };
            (0..u32::from_le_bytes(*count)).map(read).collect::<Vec<_>>()
        };
        let (lats, lons) = (axis(), axis());
        assert!(rest.is_empty(), "{} bytes are left", rest.len());
        lats.into_iter().zip(lons).map(|(lat, lon)| [lat, lon]).collect()
    }

    fn point() -> impl Strategy<Value = Point> {
        let edge = prop_oneof![Just(-1.0), Just(1.0), -1.0f64..=1.0, Just(0.0)];
        (edge.clone(), edge).prop_map(|(lat, lon)| Point::new(lat * 90.0, lon * 180.0).expect("on the earth"))
    }

    proptest! {
        #[test]
        fn dots_round_trip(points in prop::collection::vec(point(), 0..200)) {
            let mut expected: Vec<_> = points.iter().map(|point| [point.lat(), point.lon()].map(parts)).collect();
            let mut read = decode(&encode_points(points));
            expected.sort_unstable();
            read.sort_unstable();
            prop_assert_eq!(read, expected);
        }
    }

    #[test]
    fn empty_map_has_four_bytes() {
        assert_eq!(encode_points([]), [0; 4]);
    }

    #[test]
    fn atms_at_one_point_have_two_bytes_each() {
        let point = Point::new(-89.999_95, 179.999_99).expect("on the earth");
        let bytes = encode_points(std::iter::repeat_n(point, 10_000));
        assert!(bytes.len() < 20_020, "{}", bytes.len());
        assert!(decode(&bytes).iter().all(|read| *read == [-900_000, 1_800_000]));
    }

    #[test]
    fn limit_omits_atms_evenly() {
        let point = |at: u32| Point::new(f64::from(at % 700) / 10.0, f64::from(at / 700) / 10.0).expect("on the earth");
        let read = decode(&encode_points((0..490_000).map(point)));
        assert_eq!(read.len(), 490_000usize.div_ceil(3));
        let north = read.iter().filter(|[lat, _]| *lat > 350_000).count();
        assert!((read.len() * 45 / 100..read.len() * 55 / 100).contains(&north), "{north}");
    }

    #[test]
    fn neighbours_are_adjacent() {
        // Morton order visits the four quarters of a square one after another.
        let quarters = [[0, 0], [0, 1], [1, 0], [1, 1]].map(morton);
        assert!(quarters.is_sorted());
        assert_eq!(morton([-900_000, -1_800_000]), 0);
        assert_eq!(morton([-899_999, -1_799_997]), 0b111);
    }
}
