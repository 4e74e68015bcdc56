//! The Spanish texts of the page frame and of error pages.

use maud::{Markup, html};

use super::{ErrorText, ErrorWords, FrameWords, PageError};

pub(super) const FRAME: FrameWords = FrameWords {
    skip: "Saltar al contenido",
    nav: "Principal",
    operator_notice: |host| html! { (host) " funciona con Signpost." },
};

pub(super) const ERRORS: ErrorWords =
    ErrorWords { text: error, start: |host| html! { "Ir a la primera página de " (host) } };

fn error(error: &PageError, host: &Markup) -> ErrorText {
    let (title, text) = match error {
        PageError::NotFound => (
            "No hay nada en esta dirección",
            html! { "El enlace es antiguo o le falta una letra. Vuelve a la página que te trajo aquí y empieza de nuevo." },
        ),
        PageError::MethodNotAllowed => (
            "Esta página no se abre por su dirección",
            html! { "Pertenece a un botón. Vuelve a la página anterior y pulsa el botón allí." },
        ),
        PageError::Refused => (
            "Eso no funcionó",
            html! { "El servidor no puede hacer nada con ello. Vuelve a la página anterior y empieza de nuevo." },
        ),
        PageError::TooLarge => (
            "Eso era demasiado de una vez",
            html! { "No ha pasado nada. Vuelve atrás, acorta lo que escribiste y envíalo de nuevo." },
        ),
        PageError::TooMany(seconds) => (
            "Llegaron demasiadas peticiones a la vez",
            html! { "Vinieron de tu red. Espera " (seconds) " s y carga de nuevo esta página." },
        ),
        PageError::Unavailable => {
            ("El servidor no puede responder ahora", html! { "Espera unos segundos y carga de nuevo esta página." })
        }
        PageError::Failed(request_id) => (
            "Algo falló de nuestro lado",
            html! {
                "Carga de nuevo esta página. Si sigue igual, di a quien lleva " (host) " este código: "
                code { (request_id) } "."
            },
        ),
    };
    ErrorText { title, text }
}
