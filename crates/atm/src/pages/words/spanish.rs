//! The Spanish texts of the locator's pages.

use maud::html;
use signpost_locator::AtmStatus;
use signpost_platform::pages::Language;
use signpost_platform::pages::dates::{long_date, short_date};

use super::spanish_words::{
    ago, country, filter_name, part, place_note, short_weekday, time, unknown_for_all, unknown_status, weekday,
};
use super::{LocatorWords, dollars, grouped, rounded};

/// Formats a number, with spaces between thousands if it has five digits or more.
fn number(number: usize) -> String {
    if number < 10_000 { number.to_string() } else { grouped(number, "\u{a0}") }
}

pub(super) const LOCATOR: LocatorWords = LocatorWords {
    start: "Cajeros de Bitcoin",
    about_data: "Sobre los datos",
    for_assistants: "Para asistentes",
    sources_and_licences: "Fuentes y licencias",
    how_status: "Cómo se decide el estado",
    sample_data: "Estos cajeros son ficticios: todavía no se han importado datos reales.",
    data_of: |date| format!("Datos del {date}."),
    data_between: |oldest, newest| format!("Datos del {oldest} al {newest}."),
    undated_data: |date| format!("Datos sin fecha, importados el {date}."),
    no_advice: "No es consejo legal ni financiero.",

    home_title: "Encuentra un cajero de Bitcoin",
    home_description: "Cajeros de Bitcoin por ciudad, con lo que se sabe de su estado y desde cuándo.",
    by_state: "Por estado",
    country,
    by_country: "Por país",
    other_countries: "Otros países",
    no_machines: "Todavía no se conoce ningún cajero aquí.",
    most_machines: "Donde hay más",
    all_towns: "Todas las localidades",
    all_of_area: |area| format!("Todas las localidades de {area}"),
    no_such_page: "Aquí no se conoce ningún cajero",
    no_such_page_text: "La dirección es antigua o le falta una letra. Busca un lugar cerca de ti.",

    search: "Buscar",
    search_label: "Ciudad, código postal o aeropuerto",
    search_examples: "Por ejemplo: Austin, TX · 78701 · LAX",
    near_me: "Cerca de mí",
    near_asking: "Tu navegador pregunta si puede compartir tu ubicación. Se redondea a tres decimales, unos 100 m, antes de \
                  enviarla.",
    near_denied: "Tu navegador no compartió tu ubicación. Escribe una ciudad o un código postal.",
    near_failed: "Tu dispositivo no encontró su ubicación. Escribe una ciudad o un código postal.",
    near_insecure: "Los navegadores solo comparten la ubicación con páginas https, y esta es http. Escribe una ciudad o un \
                    código postal.",
    near_scriptless: "«Cerca de mí» necesita JavaScript. Escribe una ciudad y un estado, un código postal o un aeropuerto.",
    near_you: "ti",
    near_rounded: |at| format!("Búsqueda alrededor de {at}: tu ubicación, redondeada a tres decimales (unos 100 m)."),
    saved_list: "Guardados en este navegador",
    saved_note: "La lista se guarda solo en este navegador.",
    saved_remove: "Quitar",
    near_title: |place| html! { "Cajeros de Bitcoin cerca de " (place) },
    near_what: "¿Dónde quieres buscar?",
    say_where: "Di dónde: escribe una ciudad y un estado, un código postal o un aeropuerto.",
    too_long: "Es demasiado largo. Escribe una ciudad y un estado, un código postal o un aeropuerto.",
    bad_coordinates: "Las coordenadas son una latitud de -90 a 90 y una longitud de -180 a 180.",
    too_large: "Es demasiado grande para una lista. Nombra una ciudad de ahí.",
    swapped: "Parecen coordenadas con la longitud delante. Escribe primero la latitud.",
    which_one: "Varios lugares tienen este nombre. Elige uno.",
    place_unknown: "No se conoce ningún lugar con este nombre. Revisa cómo se escribe o añade el estado.",
    place_note,
    did_you_mean: "Quizá buscabas:",
    none_near: |radius| format!("Ningún cajero a menos de {radius}"),
    nearest_is: |name, away| html! { "El más cercano es " (name) ", a " (away) "." },
    show_it: "Mostrarlo",

    city_title: |place| format!("Cajeros de Bitcoin en {place}"),
    city_description: |count, place| match count {
        1 => format!("1 cajero de Bitcoin en {place}, con su dirección, su estado y desde cuándo se conoce."),
        _ => format!("{count} cajeros de Bitcoin en {place}, con dirección, estado y desde cuándo se conoce."),
    },
    machines: |count| html! { b { (number(count)) } @if count == 1 { " cajero" } @else { " cajeros" } },
    nearest_first: "el más cercano primero",
    towns_close_by: "Localidades cercanas",
    filter: "Filtrar",
    filter_name,
    within_a_year: " en un año",
    unknown_for_all,
    hours_known: |known, all| match (known, all - known) {
        (0, _) => "No tenemos el horario de estos cajeros.".to_owned(),
        (known, 1) => format!("Se conoce el horario de {known} de los {all}. El otro no cuenta como abierto."),
        (known, others) => {
            format!("Se conoce el horario de {known} de los {all}. Los otros {others} no cuentan como abiertos.")
        }
    },
    none_so: "De ningún cajero de aquí se sabe eso",
    show_all: "Mostrar todos",
    rows_before: "Mostrar los anteriores",
    rows_after: |count| {
        if count == 1 { "Mostrar el siguiente".to_owned() } else { format!("Mostrar los {count} siguientes") }
    },
    no_address: "dirección no conocida",
    buy_and_sell: "Compra y venta",
    buy_only: "Compra",
    sell_only: "Venta",
    trades_nothing: "Ni compra ni venta",
    map: "Mapa",

    open: "Abierto",
    open_always: "Abierto siempre",
    open_until: |time| format!("Abierto hasta: {time}"),
    closed: "Cerrado",
    closed_until: |time| format!("Cerrado, abre: {time}"),
    closed_for_now: "Cerrado por ahora",
    closed_for_good: "Cerrado para siempre",
    out_of_service: "Fuera de servicio",
    unknown: "Desconocido",
    unknown_status,
    not_confirmed: "Sin confirmar",
    not_confirmed_since: |year| format!("Sin confirmar desde {year}"),
    confirmed: |ago| format!("Confirmado {ago}"),
    confirmed_by: |count, ago| match count {
        1 => format!("Confirmado {ago} por 1 persona"),
        _ => format!("Confirmado {ago} por {count} personas"),
    },
    reported: |ago| format!("Comunicado {ago}"),
    ago,
    checked_on: |date| format!("comprobado: {date}"),

    in_force_since: |date| format!("En vigor desde el {date}"),
    sent_here: "¿Alguien te envió aquí? Detente.",
    and_laws: |count| if count == 1 { "Y 1 ley.".to_owned() } else { format!("Y {count} leyes.") },
    call_someone: "Llama primero a alguien de confianza.",
    report_fraud: |site| html! { "Denúncialo en " (site) "." },

    machine_title: |name, place| format!("{name}{place}: cajero de Bitcoin"),
    machine_of: |operator| html! { "Cajero de Bitcoin de " (operator) },
    machine_kind: "Cajero de Bitcoin",
    machine_gone: "Este cajero ya no figura en la lista",
    machine_gone_text: "La fuente que lo conocía lo ha retirado. Puede que ya no esté. Busca otro cerca de ti.",
    unlisted: |source, date| format!("{source} ya no lo incluye desde el {date}"),
    unlisted_text: "Puede que ya no esté. Busca otro cerca de ti.",
    status: "Estado",
    local_time: |day, time| format!("Hora local: {day} {time}"),
    directions: "Cómo llegar",
    directions_by: "Cómo llegar con:",
    other_app: "Otra aplicación",
    coordinates: "Coordenadas:",
    call: "Llamar al",
    website: "Sitio web",
    copy_address: "Copiar dirección",
    address_copied: "La dirección está copiada.",
    share: "Compartir",
    link_copied: "El enlace está copiado.",
    save: "Guardar",
    saved: "Guardado en este navegador. La lista está en la primera página.",
    unsaved: "Quitado de la lista de este navegador.",
    machines_close_by: "Cajeros cercanos",
    what_it_does: "Qué hace",
    not_known: "no se sabe",
    yes: "Sí",
    no: "No",
    buy: "Compra",
    sell: "Venta",
    coins: "Monedas",
    fee: "Comisión",
    fee_buying: "al comprar",
    fee_selling: "al vender",
    money: dollars,
    buys_about: |paid, bought| format!("Con {paid} compras unos {bought}"),
    limit: "Límite",
    limit_least: |amount| format!("al menos {amount}"),
    limit_once: |amount| format!("{amount} como máximo cada vez"),
    limit_day: |amount| format!("{amount} como máximo al día"),
    limit_kyc: |amount| format!("identificación desde {amount}"),
    bring: "Lleva",
    bring_nothing: "Nada",
    bring_phone: "Un número de teléfono",
    bring_id: "Un documento de identidad",
    operator: "Operador",
    located_in: "Dentro de",
    how_to_find: "Cómo encontrarlo",
    wheelchair: "Silla de ruedas",
    operator_says: "El operador dice",
    closes_on: "Cierra para siempre el",
    is_this_right: "¿Es correcto?",
    correct_at_source: "Si sabes algo mejor, corrígelo en su origen:",
    where_from: "De dónde viene esto",
    sources: "Fuentes",
    source: "Fuente",
    says: "Dice",
    dated: "Fecha de los datos",
    no_date: "sin fecha",
    taken_on: "Importada el",
    part,

    hours: "Horario",
    hours_unknown: "No se conoce el horario.",
    hours_in_words: "Con las palabras de su fuente.",
    always: "Abierto todo el día, todos los días.",
    all_day: "todo el día",
    closed_that_day: "cerrado",
    uncertain: "no es seguro",
    from_to: |from, to| format!("{from} a {to}"),
    today: "hoy",
    time_zone: |zone| format!("Zona horaria: {zone}."),

    about_lead: "De dónde vienen los cajeros de estas páginas y cómo combinamos las fuentes.",
    licence: "Crédito y licencia",
    machines_head: "Cajeros",
    places_from: "Otros datos.",
    status_lead: "Un estado vale lo que vale su fecha, así que siempre lleva su fecha. Lo que ninguna fuente dice es desconocido: \
                  nada se supone.",
    statuses: [
        (
            AtmStatus::Open,
            "Abierto",
            "Una fuente dice que funciona, por lo que se sabe desde hace no más de un año, y está dentro de su horario.",
        ),
        (AtmStatus::Closed, "Cerrado", "Está fuera de su horario."),
        (AtmStatus::TemporarilyClosed, "Cerrado por ahora", "Una fuente dice que está cerrado por un tiempo."),
        (AtmStatus::OutOfService, "Fuera de servicio", "Una fuente dice que está ahí y no funciona."),
        (
            AtmStatus::Unknown,
            "Desconocido",
            "No está confirmado, o el dato es antiguo o no tiene fecha, o no se conoce su horario, o una ley lo prohíbe.",
        ),
        (AtmStatus::PermanentlyClosed, "Cerrado para siempre", "Una fuente dice que ya no está. Las listas lo omiten."),
    ],
    status_end: "Las filas de varias fuentes que son un solo cajero se muestran como uno. La página de cada cajero dice qué \
                 fuente dice qué.",
    advisories: "Advertencias de leyes y fraudes",
    advisories_text: "Donde una ley prohíbe o limita los cajeros, la página lo dice primero, con su fuente y el día en que se \
                      leyó por última vez. Donde no se dice nada, puede haber una ley. Esto no es consejo.",
    your_searches: "Tus búsquedas",
    your_searches_text: "En estas páginas tu navegador no pide nada a otro servidor. El registro no tiene ni lo que escribes ni dónde estás. \
                         «Cerca de mí» envía tu ubicación solo cuando lo pulsas, redondeada a tres decimales, unos 100 m.",
    asks_geocoder: |name| {
        format!(
            "Este servidor pregunta a {name} por los lugares cuyo nombre no conoce: se entera del texto, no de quién lo escribió."
        )
    },

    date: |date| short_date(Language::Spanish, date),
    day_and_month: |date| {
        short_date(Language::Spanish, date).rsplit_once(' ').map_or_else(String::new, |(day, _)| day.to_owned())
    },
    long_date: |date| long_date(Language::Spanish, date),
    time,
    weekday,
    short_weekday,
    on_day: |day, time| format!("{day}, {time}"),
    number,
    decimal: |number| number.replace('.', ","),
    distance: |distance| format!("{} km", rounded(distance.in_kilometres()).replace('.', ",")),
};
