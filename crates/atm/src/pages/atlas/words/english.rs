//! The English texts of the interactive map.

use super::AtlasWords;

pub(super) const ATLAS: AtlasWords = AtlasWords {
    title: "Map of Bitcoin ATMs",
    description: "All Bitcoin ATMs on one map.",
    drawing: |count| format!("Map of {count} machines. The list beside it says the same in words."),
    overview: |count| {
        format!("Map of {count} machines on the outlines of countries and states. The list says the same in words.")
    },
    thinned: |dots| format!("Only {dots} machines are dots."),
    keys: "Each dot is a machine; the list says whether it is open. Drag the map, or move it with the arrow keys, + and −. \
           A click lists the machines there, and Enter those in the middle.",
    closer: "Closer",
    farther: "Farther",
    here: "Use my location",
    asking: "Your browser asks whether it may share your location. It is rounded to three decimals, about 100 m.",
    failed: "Your device does not share its location. Type a city or a ZIP code above.",
    you: "You",
    in_sight: "In sight",
    count: |count| match count {
        0 => "No machine in sight".to_owned(),
        1 => "1 machine in sight".to_owned(),
        _ => format!("{count} machines in sight"),
    },
    nearest: |count| format!("These are the {count} nearest to the middle."),
    go_farther: "Move the map, or go farther out.",
    streets: "Streets of this place:",
    unit: "mi",
    unit_metres: "1609.344",
};
