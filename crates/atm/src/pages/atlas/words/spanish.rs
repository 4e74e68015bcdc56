//! The Spanish texts of the interactive map.

use super::AtlasWords;

pub(super) const ATLAS: AtlasWords = AtlasWords {
    title: "Mapa de cajeros de Bitcoin",
    description: "Todos los cajeros de Bitcoin en un mapa.",
    drawing: |count| format!("Mapa de {count} cajeros. La lista de al lado dice lo mismo con palabras."),
    overview: |count| {
        format!("Mapa de {count} cajeros sobre los límites de países y estados. La lista dice lo mismo con palabras.")
    },
    thinned: |dots| format!("Solo {dots} cajeros son puntos."),
    keys: "Cada punto es un cajero; la lista dice si está abierto. Arrastra el mapa, o muévelo con las flechas, + y −. Un clic \
           muestra los cajeros de ese lugar, e Intro los del centro.",
    closer: "Acercar",
    farther: "Alejar",
    here: "Usar mi ubicación",
    asking: "Tu navegador pregunta si puede compartir tu ubicación. Se redondea a tres decimales, unos 100 m.",
    failed: "Tu dispositivo no comparte su ubicación. Escribe arriba una ciudad o un código postal.",
    you: "Tú",
    in_sight: "A la vista",
    count: |count| match count {
        0 => "Ningún cajero a la vista".to_owned(),
        1 => "1 cajero a la vista".to_owned(),
        _ => format!("{count} cajeros a la vista"),
    },
    nearest: |count| format!("Estos son los {count} más cercanos al centro."),
    go_farther: "Mueve el mapa o aléjate.",
    streets: "Calles de este lugar:",
    unit: "km",
    unit_metres: "1000",
};
