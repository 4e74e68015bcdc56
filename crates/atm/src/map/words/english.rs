//! The English texts of maps.

use super::{MapWords, RingUnit, StatusShape, listed};

pub(super) const MAP: MapWords = MapWords {
    drawing: |count, middle| {
        let around = middle.unwrap_or("the place that you searched");
        match count {
            0 => format!("Map of the surroundings of {around}. No machine is on it."),
            1 => format!("Map of 1 machine around {around}. The list says the same in words."),
            _ => format!("Map of {count} machines around {around}. The list says the same in words."),
        }
    },
    shape: |shape| match shape {
        StatusShape::Open => "Filled disc: open.",
        StatusShape::Closed => "Ring: closed.",
        StatusShape::Paused => "Ring with a bar: closed for now.",
        StatusShape::Out => "Square: out of service.",
        StatusShape::Unknown => "Diamond: unknown.",
    },
    rings: |lengths, unit| {
        let (ring, unit) = match (lengths, unit) {
            (["1"], RingUnit::Miles) => ("Ring", "mile"),
            ([_], RingUnit::Miles) => ("Ring", "miles"),
            (_, RingUnit::Miles) => ("Rings", "miles"),
            ([_], RingUnit::Kilometres) => ("Ring", "km"),
            (_, RingUnit::Kilometres) => ("Rings", "km"),
        };
        format!("{ring} at {} {unit}.", listed(lengths, "and"))
    },
    crowded: |count| match count {
        1 => "1 machine has a small sign without a number.".to_owned(),
        _ => format!("{count} machines have small signs without a number."),
    },
    beyond: |count| match count {
        1 => "1 machine is farther away than the map shows.".to_owned(),
        _ => format!("{count} machines are farther away than the map shows."),
    },
    decimal: ".",
    north: "North is up.",
    user: "Blue dot: your location.",
    place: "Cross: the place that distances count from.",
    full_map: "Open the large map",
};
