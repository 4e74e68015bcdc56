//! Functions for the Spanish texts with parameters: dates, statuses, parts of a record, and notes about places.

use jiff::civil::{Time, Weekday};
use signpost_locator::gazetteer::PlaceNote;
use signpost_locator::{Country, StatusReason};

use super::super::fact::UnknownFact;
use super::super::filters::ListFilter;
use super::Text;

pub(super) fn time(time: Time) -> String {
    match (time.hour(), time.minute()) {
        (0, 0) => "medianoche".to_owned(),
        (hour, minute) => format!("{hour}:{minute:02}"),
    }
}

pub(super) fn weekday(day: Weekday) -> Text {
    match day {
        Weekday::Monday => "lunes",
        Weekday::Tuesday => "martes",
        Weekday::Wednesday => "miércoles",
        Weekday::Thursday => "jueves",
        Weekday::Friday => "viernes",
        Weekday::Saturday => "sábado",
        Weekday::Sunday => "domingo",
    }
}

pub(super) fn country(country: Country) -> Text {
    match country.code() {
        "US" => "Estados Unidos",
        "CA" => "Canadá",
        "MX" => "México",
        "ES" => "España",
        "GB" => "Reino Unido",
        "DE" => "Alemania",
        "FR" => "Francia",
        "IT" => "Italia",
        _ => country.name(),
    }
}

pub(super) fn filter_name(filter: ListFilter) -> Text {
    match filter {
        ListFilter::All => "Todos",
        ListFilter::Open => "Abiertos",
        ListFilter::PaysOut => "Dan efectivo",
        ListFilter::Checked => "Comprobados",
    }
}

pub(super) fn short_weekday(day: Weekday) -> Text {
    match day {
        Weekday::Monday => "lun",
        Weekday::Tuesday => "mar",
        Weekday::Wednesday => "mié",
        Weekday::Thursday => "jue",
        Weekday::Friday => "vie",
        Weekday::Saturday => "sáb",
        Weekday::Sunday => "dom",
    }
}

/// Formats a number of days before today.
pub(super) fn ago(days: i32) -> String {
    match days {
        ..=0 => "hoy".to_owned(),
        1 => "ayer".to_owned(),
        2..=13 => format!("hace {days} días"),
        14..=59 => format!("hace {} semanas", days / 7),
        60..=364 => format!("hace {} meses", days / 30),
        _ => "hace más de un año".to_owned(),
    }
}

/// Formats the sentence about facts that are unknown for all of `count` ATMs.
pub(super) fn unknown_for_all(facts: &[UnknownFact], count: usize) -> String {
    let name = |fact: &UnknownFact| match fact {
        UnknownFact::Hours => Some("el horario"),
        UnknownFact::Fee => Some("la comisión"),
        UnknownFact::Services => Some("los servicios"),
        UnknownFact::Confirmation => None,
    };
    let names: Vec<&str> = facts.iter().filter_map(name).collect();
    let these = if count == 1 { "este cajero" } else { "estos cajeros" };
    let mut text = match &names[..] {
        [] => String::new(),
        [only] => format!("No tenemos {only} de {these}."),
        [others @ .., last] => format!("No tenemos {} ni {last} de {these}.", others.join(", ")),
    };
    if facts.contains(&UnknownFact::Confirmation) {
        text.push_str(match (text.is_empty(), count) {
            (true, 1) => "Este cajero está sin confirmar.",
            (true, _) => "Ninguno de estos cajeros está confirmado.",
            (false, 1) => " Está sin confirmar.",
            (false, _) => " Ninguno está confirmado.",
        });
    }
    text
}

/// Formats an unknown status.
pub(super) fn unknown_status(reason: StatusReason<'_>, year: Option<i16>) -> String {
    match (reason, year) {
        (StatusReason::OldReport, Some(year)) => return format!("Sin confirmar desde {year}"),
        (StatusReason::UncertainHours, _) => "Horario no seguro",
        (StatusReason::HoursInWords, _) => "Mira su horario",
        (StatusReason::HoursBySun, _) => "Abre con la luz del día",
        (StatusReason::NoTimeZone, _) => "Zona horaria no conocida",
        (StatusReason::NoHours, _) => "Horario no conocido",
        (StatusReason::Law(_), _) => "Desconocido: la ley los prohíbe aquí",
        _ => "Sin confirmar",
    }
    .to_owned()
}

pub(super) fn part(name: &'static str) -> Text {
    match name {
        "location" => "lugar",
        "name" => "nombre",
        "operator" => "operador",
        "brand" => "marca",
        "address" => "dirección",
        "hours" => "horario",
        "status" => "estado",
        "services" => "compra y venta",
        "coins" => "monedas",
        "phone" => "teléfono",
        "website" => "sitio web",
        "more" => "más",
        other => other,
    }
}

pub(super) fn place_note(note: &PlaceNote) -> String {
    match note {
        PlaceNote::FuzzyMatch { asked, place } => format!("No se conoce «{asked}»; se ha tomado por {place}."),
        PlaceNote::OnlyPart { unknown, place } => {
            format!("Aquí no se conoce «{unknown}»; las distancias cuentan desde el centro de {place}.")
        }
        PlaceNote::OneOfTwo { other, place } => {
            format!("Las distancias cuentan desde el centro de {place}; busca «{other}» por separado.")
        }
        PlaceNote::Street { place } => {
            format!("Aquí no se conocen las calles; las distancias cuentan desde el centro de {place}.")
        }
        PlaceNote::Middle { of } => format!("Las distancias cuentan desde el centro de {of}."),
        PlaceNote::UnknownPostcode { code, place } => {
            format!("Aquí no se conoce el código postal {code}; las distancias cuentan desde el centro de {place}.")
        }
        PlaceNote::PostcodeElsewhere { code, place } => format!(
            "El código postal {code} no está cerca de {place} y no se ha tenido en cuenta; busca «{code}» por separado."
        ),
        PlaceNote::Elsewhere { other, place } => {
            format!("«{other}» no está cerca de {place} y no se ha tenido en cuenta; busca «{other}» por separado.")
        }
        PlaceNote::Midpoint { first, second } => {
            format!("Las distancias cuentan desde el punto medio entre {first} y {second}.")
        }
        PlaceNote::Part { part, place } => {
            format!("Las distancias cuentan desde el centro de {place}; no se conoce «{part}» con más exactitud.")
        }
        PlaceNote::Namesake { place, other } => {
            format!("Varios lugares se llaman así: se ha tomado {place}; para el otro, busca {other}.")
        }
        PlaceNote::NearbyPostcodes { code } => {
            format!(
                "No se conoce el código postal {code}; las distancias cuentan desde el centro de los que lo rodean."
            )
        }
    }
}
