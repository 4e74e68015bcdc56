//! The Spanish texts of the report form.

use super::ReportWords;
use crate::reports::{DecidedBy, EvidenceSource, Finding};

pub(super) const REPORT: ReportWords = ReportWords {
    heading: "¿Es correcto?",
    promise: "No necesitas cuenta. Tu respuesta se muestra con su fecha; nunca borra nada.",
    claim,
    how_label: "¿Cómo lo sabes?",
    how_none: "Elige",
    how: |how| match how {
        EvidenceSource::Used => "Lo usé",
        EvidenceSource::Saw => "Lo vi",
        EvidenceSource::Asked => "Pregunté en la tienda",
        EvidenceSource::Phoned => "Llamé por teléfono",
    },
    text_label: "¿Qué más debemos saber?",
    text_hint: "Hasta 280 caracteres. Solo lo lee quien lleva este sitio.",
    go_on: "Continuar",
    send: "Enviar",
    log_in: "Inicia sesión para que tu aviso cuente más",
    signed_in: "Has iniciado sesión. Después de tu primera semana, tu aviso cuenta más.",
    tab_error: "No enviado",
    bad_seen: "Elige qué encontraste en el cajero.",
    bad_text: "Di en 280 caracteres como máximo qué está mal.",
    stale: "Este formulario era demasiado antiguo y no se envió nada. Aquí tienes uno nuevo: pulsa Enviar otra vez.",
    banned: "Aquí no se aceptan avisos de esta cuenta. Pregunta a quien lleva este sitio.",
    too_many: |minutes| match minutes {
        0..=90 => format!("Llegaron demasiados avisos y este no se envió. Inténtalo de nuevo en {minutes} minutos."),
        _ => "Llegaron demasiados avisos y este no se envió. Inténtalo de nuevo mañana.".to_owned(),
    },
    thanks: "Gracias",
    thanks_shown: "Tu aviso se muestra con su fecha, en la página del cajero y a los asistentes.",
    thanks_known: "Alguien ya nos lo dijo. No ha cambiado nada.",
    thanks_waits: "Llegaron muchos avisos a la vez. Una persona mira el tuyo antes de que se muestre.",
    back: "Volver al cajero",
    people_count: |seen, count| match count {
        1 => format!("1 persona dice que {}", claim(seen)),
        _ => format!("{count} personas dicen que {}", claim(seen)),
    },
    decided: |by, seen| match by {
        DecidedBy::Operator => format!("su operador dice que {}", claim(seen)),
        DecidedBy::Moderator => format!("quien lleva este sitio dice que {}", claim(seen)),
    },
};

/// Returns a clause that describes a finding.
fn claim(seen: Finding) -> &'static str {
    match seen {
        Finding::There => "está ahí y funciona",
        Finding::Gone => "ya no está",
        Finding::Broken => "no funciona",
        Finding::WrongPlace => "está en otro sitio",
        Finding::WrongHours => "el horario está mal",
        Finding::Other => "otra cosa está mal",
    }
}
