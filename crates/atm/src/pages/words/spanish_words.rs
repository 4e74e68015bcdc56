//! Functions for the Spanish texts with parameters: dates, statuses, parts of a record, and notes about places.

use jiff::civil::{Time, Weekday};
use signpost_locator::gazetteer::PlaceNote;
use signpost_locator::{Country, StatusReason};

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
        ListFilter::Open => "Abiertos ahora",
        ListFilter::PaysOut => "Dan efectivo",
        ListFilter::Checked => "Comprobados en un año",
    }
}

/// Returns the text that follows "Desconocido:".
pub(super) fn unknown_reason(reason: StatusReason<'_>, year: Option<i16>) -> String {
    match (reason, year) {
        (StatusReason::OldReport, Some(year)) => return format!("nadie lo comprueba desde {year}"),
        (StatusReason::OldReport, None) => "nadie lo comprueba desde hace tiempo",
        (StatusReason::Undated, _) => "su dato no tiene fecha",
        (StatusReason::UncertainHours, _) => "su horario no es seguro",
        (StatusReason::HoursInWords, _) => "mira su horario",
        (StatusReason::HoursBySun, _) => "su horario sigue al sol",
        (StatusReason::NoTimeZone, _) => "no se conoce su zona horaria",
        (StatusReason::NoHours, _) => "no se conoce su horario",
        (StatusReason::Law(_), _) => "la ley los prohíbe aquí",
        (StatusReason::Reports(_), _) => "hay visitantes que dicen que no se puede usar",
        _ => "nadie ha dicho que funcione",
    }
    .to_owned()
}

pub(super) fn status_reason(reason: StatusReason<'_>) -> String {
    match reason {
        StatusReason::AlwaysOpen => "Dicen que funciona, y nunca cierra.",
        StatusReason::WithinHours => "Dicen que funciona, y está dentro de su horario.",
        StatusReason::OutsideHours => "Está fuera de su horario.",
        StatusReason::OldReport => "Dijeron que funcionaba, pero hace más de un año.",
        StatusReason::Undated => "Dicen que funciona, pero el dato no tiene fecha.",
        StatusReason::UncertainHours => "Dicen que funciona, pero su horario no deja claro si está abierto ahora.",
        StatusReason::HoursInWords => "Dicen que funciona, pero su horario está escrito con palabras.",
        StatusReason::HoursBySun => "Dicen que funciona, pero su horario sigue al sol.",
        StatusReason::NoTimeZone => "Dicen que funciona, pero no se conoce su zona horaria.",
        StatusReason::NoHours => "Dicen que funciona, pero no se conoce su horario.",
        StatusReason::OutOfService => "Dicen que está fuera de servicio.",
        StatusReason::ClosedForNow => "Dicen que está cerrado por un tiempo.",
        StatusReason::Gone => "Dicen que ya no está.",
        StatusReason::UnreportedAlways => "Nunca cierra, pero nadie ha dicho que funcione.",
        StatusReason::UnreportedWithinHours => "Está dentro de su horario, pero nadie ha dicho que funcione.",
        StatusReason::NothingReported => "Nadie ha dicho que funcione.",
        StatusReason::Reports(_) => "Se sigue de los avisos recibidos.",
        StatusReason::Law(_) => "Su estado no se conoce porque la ley prohíbe estos cajeros aquí.",
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
