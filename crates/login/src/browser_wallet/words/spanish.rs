//! The texts of the browser wallet in Spanish.

use maud::html;

use super::Sentence::{Plain, WithDomain, WithDuration, WithHosts};
use super::{OUTCOMES, OutcomeText, WalletHeadedText, WalletWords};

pub(super) const WALLET: WalletWords = WalletWords {
    title: "Billetera",
    needs_script: "La billetera necesita JavaScript: firma en este navegador y en ningún otro lugar.",
    insecure: WalletHeadedText {
        head: "Esta billetera necesita https",
        text: "En esta dirección el navegador no crea claves. Abre la página por https o en localhost.",
    },
    footer: "Tus claves se quedan en este navegador. Guarda tus 24 palabras: sin ellas, un teléfono perdido es una clave \
           perdida.",
    licences: "Licencias",

    start_title: "Una billetera en este navegador",
    start_lead: "Crea una clave propia para cada sitio, la guarda aquí e inicia sesión con ella. No hay contraseña.",
    create_wallet: "Crear una billetera",
    restore: "Ya tengo 24 palabras",
    lost: WalletHeadedText {
        head: "La billetera que estaba aquí ya no está",
        text: "Este navegador ha borrado sus datos. Tus 24 palabras la devuelven, con las mismas claves.",
    },
    storage_cleared: "¿Tenías una billetera aquí? Un navegador puede borrar sus datos. Tus 24 palabras la devuelven.",
    code_waiting: "Tu inicio de sesión espera una billetera.",

    words_title: "Anota estas 24 palabras",
    words_text: "Son tu billetera. Quien las tenga puede entrar en tu nombre. Quien las pierda puede perder la billetera. \
                 Escríbelas en papel y no les hagas fotos. Después se borran aquí.",
    words_written_down: "Ya las he anotado",
    words_later: "Más tarde",
    words_unsaved: "Aún no has guardado tus 24 palabras. Si este navegador borra sus datos, pierdes la billetera.",
    words_save: "Guardar las palabras ahora",
    cancel: "Cancelar",
    check_title: "Comprueba tus palabras",
    check_text: "Escribe tres de ellas desde tu papel.",
    word_label: |position| html! { "Palabra " (position) },
    words_again: "Mostrar las palabras otra vez",
    finish: "Terminar",
    wrong_word: |position| {
        html! { "La palabra " (position) " es otra. Mira tu papel o muestra las palabras otra vez." }
    },
    restore_title: "Recupera tu billetera",
    restore_label: "Tus 24 palabras",
    restore_hint: "En su orden, con un espacio entre dos.",
    restore_button: "Recuperarla",
    wrong_count: |count| html! { "Has escrito " (count) " palabras. Una billetera tiene 24." },
    unknown_word: |position, word| html! { "La palabra " (position) ", «" (word) "», no está en la lista." },
    suggested_word: |word| html! { "¿Es «" (word) "»?" },
    wrong_checksum: "Cada palabra está en la lista, pero juntas no son una billetera. Revisa su orden y las palabras que se \
                     parecen.",

    home_title: "Tu billetera",
    scan: "Escanear un código",
    paste_label: "O pega el enlace de un código",
    paste_hint: "Empieza por svc://.",
    open: "Abrir",
    not_pasted: "Eso no es un código de inicio de sesión. Copia el enlace del código de la página: empieza por svc://.",
    scan_title: "Escanear un código",
    scan_text: "Apunta la cámara al código de la página de inicio de sesión.",
    video_label: "Lo que ve la cámara",
    keys: "Claves",
    no_sites: "Ningún sitio tiene todavía una clave de esta billetera.",
    site: |end, first, last| html! { "Termina en " (end) ". Primer uso: " (first) "; último: " (last) "." },
    settings: "Ajustes",
    settings_text: "Tus claves están cifradas en este navegador. Cuando hayas guardado las 24 palabras, se borran aquí y no se \
                    pueden volver a mostrar.",
    erase: "Borrar esta billetera",
    erase_title: "¿Borrar esta billetera?",
    erase_text: "Este navegador olvida sus claves. Solo tus 24 palabras las devuelven.",
    confirm_erase: "Borrarla",
    cancel_erase: "Conservarla",

    login_request: "Un momento",
    log_in_to: "Inicia sesión en",
    register_at: "Crea tu cuenta en",
    link_to: "Añade esta billetera a tu cuenta en",
    host_listed: |host, domain| html! { (host) " tiene prueba de que este sitio es " (domain) },
    host_unlisted: |host, domain| {
        html! { (host) " no ha verificado que " (domain) " sea de este inicio de sesión. Sigue solo si confías en " (host) "." }
    },
    number_label: |domain| html! { "Número en la página de " (domain) },
    number_hint: "Dos cifras. Léelas en tu propia pantalla, nunca en un mensaje ni en una llamada.",
    two_digits: "Escribe dos cifras, por ejemplo 47.",
    wrong_number: "Ese número no es correcto. Mira la página y escribe el número que muestra. Si alguien te envió el número, \
                   detente: puede que intente entrar en tu nombre.",
    stop: "No, detener",
    log_in: "Iniciar sesión",
    create: "Crear cuenta",
    add: "Añadirla",
    sending: "Enviando…",
    your_key: "Tu clave",
    key_known: |end, since| html! { "Termina en " (end) " · usada aquí desde " (since) },
    key_new: |end| html! { "Termina en " (end) " · nueva aquí" },
    requested_from: "Pedido desde",
    sent_to: "La respuesta va a",
    ends_in: "Termina en",
    signed_text: "Qué se firma",

    outcomes: &OUTCOME_TEXTS,
    back_to_page: "Volver a la página de inicio de sesión",
    try_again: "Probar otra vez",
    back_to_wallet: "A la billetera",
};

const OUTCOME_TEXTS: [(&str, OutcomeText); OUTCOMES] = [
    (
        "done-login",
        OutcomeText {
            head: WithDomain(|domain| html! { "Has iniciado sesión en " (domain) }),
            text: Plain("Sigue en la página donde empezaste."),
        },
    ),
    (
        "done-register",
        OutcomeText {
            head: WithDomain(|domain| html! { "Tienes una clave en " (domain) }),
            text: Plain("Tu cuenta se crea en la página donde empezaste."),
        },
    ),
    (
        "done-link",
        OutcomeText {
            head: WithDomain(|domain| html! { "Tu clave está en " (domain) }),
            text: Plain("Sigue en la página donde empezaste. Puede que te pregunte si quieres añadir esta billetera."),
        },
    ),
    ("stopped", OutcomeText { head: Plain("Te has detenido"), text: Plain("No se ha firmado nada.") }),
    (
        "gone",
        OutcomeText {
            head: Plain("Este código ya no sirve"),
            text: Plain(
                "Se respondió, se sustituyó o es demasiado antiguo. Tu cuenta sigue igual. Abre el código que la página \
                 muestra ahora.",
            ),
        },
    ),
    (
        "host",
        OutcomeText {
            head: Plain("Este código fue alterado"),
            text: Plain("Nombra otro servidor que la página. Escanea el código en la propia página del sitio."),
        },
    ),
    (
        "clock-ahead",
        OutcomeText {
            head: WithDuration(|amount| html! { "El reloj de este dispositivo va adelantado " (amount) }),
            text: Plain("Activa la fecha y hora automáticas y abre el código otra vez. No se ha firmado nada."),
        },
    ),
    (
        "clock-behind",
        OutcomeText {
            head: WithDuration(|amount| html! { "El reloj de este dispositivo va atrasado " (amount) }),
            text: Plain("Activa la fecha y hora automáticas y abre el código otra vez. No se ha firmado nada."),
        },
    ),
    (
        "create",
        OutcomeText {
            head: WithDomain(|domain| html! { "Ninguna cuenta de " (domain) " tiene esta clave todavía" }),
            text: Plain("La página pregunta ahora si quieres crear una. Abre su código nuevo. No se ha guardado nada."),
        },
    ),
    (
        "closed",
        OutcomeText {
            head: WithDomain(|domain| html! { "Ninguna cuenta de " (domain) " tiene esta clave" }),
            text: WithDomain(|domain| {
                html! { (domain) " no admite cuentas nuevas aquí. Prueba otra billetera o pregunta a " (domain) "." }
            }),
        },
    ),
    (
        "method",
        OutcomeText {
            head: WithDomain(|domain| html! { (domain) " no admite esta billetera" }),
            text: Plain("Usa lo que ofrece su página de inicio de sesión."),
        },
    ),
    (
        "taken",
        OutcomeText {
            head: WithDomain(|domain| html! { "Una cuenta de " (domain) " ya tiene esta clave" }),
            text: Plain("Una clave pertenece a una sola cuenta. Nada ha cambiado."),
        },
    ),
    (
        "other_user",
        OutcomeText {
            head: Plain("Esta clave no sirve para este inicio de sesión"),
            text: Plain("Este inicio de sesión es solo para una cuenta. Usa una clave de esa cuenta."),
        },
    ),
    (
        "known",
        OutcomeText {
            head: WithDomain(|domain| html! { "Esta clave ya tiene una cuenta en " (domain) }),
            text: Plain("Inicia sesión con ella: la página muestra cómo."),
        },
    ),
    (
        "busy",
        OutcomeText {
            head: Plain("El servidor tiene demasiado trabajo"),
            text: WithDuration(|amount| html! { "Abre el código otra vez dentro de " (amount) "." }),
        },
    ),
    (
        "failed",
        OutcomeText {
            head: Plain("El servidor no ha podido hacerlo"),
            text: Plain("A tu clave no le ha pasado nada. Abre el código otra vez."),
        },
    ),
    (
        "refused",
        OutcomeText {
            head: Plain("El servidor rechazó la respuesta"),
            text: Plain("Tu cuenta sigue igual. Abre el código que la página muestra ahora."),
        },
    ),
    (
        "away",
        OutcomeText {
            head: Plain("El servidor no responde"),
            text: Plain("Puede que no haya red. Tu billetera está a salvo en este navegador."),
        },
    ),
    (
        "foreign",
        OutcomeText {
            head: Plain("Este código es para otra billetera"),
            text: WithHosts(|there, host| {
                html! {
                    "Envía la respuesta a " (there) ", y esta billetera solo responde en " (host)
                    ". La billetera de la línea de órdenes puede responderlo: " code { "signpost wallet scan" } "."
                }
            }),
        },
    ),
    (
        "unreadable",
        OutcomeText {
            head: Plain("Eso no es un código de inicio de sesión"),
            text: Plain("Un código empieza por svc://. No se ha firmado nada."),
        },
    ),
    (
        "no-camera",
        OutcomeText {
            head: Plain("No se puede usar la cámara"),
            text: Plain("Permítela para esta página en los ajustes del navegador o pega el enlace del código."),
        },
    ),
    (
        "broken",
        OutcomeText {
            head: Plain("No se puede leer la billetera"),
            text: Plain(
                "Carga la página otra vez. Si no ayuda, borra la billetera en sus ajustes y recupérala con tus 24 palabras.",
            ),
        },
    ),
    (
        "sandbox",
        OutcomeText {
            head: Plain("Esta billetera es para probar"),
            text: WithDomain(|domain| {
                html! { "Solo responde en el entorno de pruebas. " (domain) " pide otra billetera o una llave de acceso." }
            }),
        },
    ),
    (
        "full",
        OutcomeText {
            head: Plain("El navegador no guarda nada"),
            text: Plain(
                "Su almacenamiento está lleno o desactivado para esta página: aquí no se puede crear una billetera.",
            ),
        },
    ),
];
