//! The Spanish texts of maps.

use super::{MapWords, RingUnit, StatusShape, listed};

pub(super) const MAP: MapWords = MapWords {
    drawing: |count, middle| {
        let around = middle.unwrap_or("el lugar que buscaste");
        match count {
            0 => format!("Mapa de los alrededores de {around}. No hay ningún cajero en él."),
            1 => format!("Mapa con 1 cajero cerca de {around}. La lista dice lo mismo con palabras."),
            _ => format!("Mapa con {count} cajeros cerca de {around}. La lista dice lo mismo con palabras."),
        }
    },
    shape: |shape| match shape {
        StatusShape::Open => "Disco lleno: abierto.",
        StatusShape::Closed => "Anillo: cerrado.",
        StatusShape::Paused => "Anillo con barra: cerrado por ahora.",
        StatusShape::Out => "Cuadrado: fuera de servicio.",
        StatusShape::Unknown => "Rombo: no se sabe.",
    },
    rings: |lengths, unit| {
        let circles = if lengths.len() == 1 { "Círculo" } else { "Círculos" };
        let unit = match (lengths, unit) {
            (["1"], RingUnit::Miles) => "milla",
            (_, RingUnit::Miles) => "millas",
            (_, RingUnit::Kilometres) => "km",
        };
        format!("{circles} a {} {unit}.", listed(lengths, "y"))
    },
    crowded: |count| match count {
        1 => "1 cajero tiene un signo pequeño sin número.".to_owned(),
        _ => format!("{count} cajeros tienen signos pequeños sin número."),
    },
    beyond: |count| match count {
        1 => "1 cajero está más lejos de lo que muestra el mapa.".to_owned(),
        _ => format!("{count} cajeros están más lejos de lo que muestra el mapa."),
    },
    decimal: ",",
    north: "El norte está arriba.",
    user: "Punto azul: tu ubicación.",
    place: "Cruz: el lugar desde el que cuentan las distancias.",
    full_map: "Abrir el mapa grande",
};
