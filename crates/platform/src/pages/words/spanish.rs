//! The texts of the frame in Spanish.

use maud::html;

use super::FrameWords;

pub(super) const FRAME: FrameWords = FrameWords {
    skip: "Saltar al contenido",
    language: "Idioma",
    who_runs: |host| html! { (host) " funciona con Signpost." },
};
