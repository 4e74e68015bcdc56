//! The texts of the login page in Spanish, with “tú”.

use maud::html;

use super::{HeadedMarkup, HeadedText, LoginWords, RequestingBrowser};

pub(super) const LOGIN: LoginWords = LoginWords {
    log_in_to: "Inicia sesión en",
    register_at: "Crea tu cuenta en",
    link_to: "Añade una clave a tu cuenta en",
    application_asks: |name, host| html! { (name) ", en " (host) ", te pide que inicies sesión." },
    host_asks: |host| html! { (host) " te pide que inicies sesión." },
    tab_log_in: |domain| format!("Inicia sesión en {domain}"),
    tab_register: |domain| format!("Crea tu cuenta en {domain}"),
    tab_link: |domain| format!("Añade una clave a tu cuenta en {domain}"),
    tab_confirm: "¿Es tuya?",
    tab_linked: "Clave añadida",
    tab_refused: "Rechazado",
    tab_done: "Sesión iniciada",
    tab_ended: "Terminado",
    tab_cancelled: "Cancelado",
    tab_other: "Otro navegador",
    tab_unknown: "Inicio desconocido",
    tab_stale: "No se ha hecho nada",

    use_passkey: "Usar una llave de acceso",
    make_passkey: "Crear una llave de acceso",
    passkey_lock: "Tu cara, tu dedo o el bloqueo de este dispositivo",
    saved_passkeys: "O elige aquí una llave de acceso",
    saved_passkeys_hint: "Tu navegador muestra las que conoce.",
    passkeys_need_script: "Las llaves de acceso necesitan JavaScript, que este navegador no ejecuta aquí.",
    passkey_answered: "Tu llave de acceso ha respondido. Un momento.",
    passkey_here: |domain| {
        html! { "Este dispositivo ya tiene una llave de acceso para " (domain) ". Úsala para iniciar sesión." }
    },
    passkey_failed: "No llegó ninguna llave de acceso de tu dispositivo. Prueba otra vez, o elige otra forma.",

    steps_label: "Cómo iniciar sesión con una billetera",
    step_scan: "Abre tu billetera y escanea el código.",
    step_check_host: |domain| html! { "Comprueba que la billetera muestra " (domain) "." },
    step_number: "Escribe el número que está debajo del código.",
    first_time: "¿Primera vez aquí?",
    create_account: "Crea una cuenta",
    no_password: "No hay contraseña que inventar ni formulario que rellenar.",
    have_account: "¿Ya tienes una cuenta?",
    log_in: "Inicia sesión",
    no_wallet_question: "No tengo billetera",
    no_wallet_answer: |domain| {
        html! {
            "Una billetera es una aplicación que guarda una clave y firma con ella. Pregunta a " (domain)
            " cuáles funcionan aquí."
        }
    },
    no_wallet_lightning: "También sirve una billetera Lightning que inicie sesión en sitios.",
    no_key_question: "No tengo billetera ni llave de acceso",
    no_key_answer: "Casi todos los teléfonos y ordenadores pueden crear una llave de acceso. Elige «Crear una llave de \
                    acceso» y sigue a tu dispositivo.",
    no_key_account_first: "Casi todos los teléfonos y ordenadores pueden crear una llave de acceso. Elige «Crea una \
                           cuenta», después «Crear una llave de acceso», y sigue a tu dispositivo.",
    address_bar: |host| html! { "La barra de direcciones debe decir " (host) "." },
    requested_from: |browser| match browser {
        RequestingBrowser::Known { browser, system: Some(system) } => {
            html! { "Pedido desde " (browser) " en " (system) "." }
        }
        RequestingBrowser::Known { browser, system: None } => html! { "Pedido desde " (browser) "." },
        RequestingBrowser::Unknown(name) => html! { "Pedido desde «" bdi { (name) } "»." },
    },
    cancel: "Cancelar",

    methods_log_in: "Inicia sesión con una billetera",
    methods_register: "Crea una cuenta con una billetera",
    methods_link: "Añade una billetera a tu cuenta",
    kind_of_wallet: "Tipo de billetera",
    wallet: "Billetera",
    lightning: "Lightning",
    open_wallet: "Abrir mi billetera en este teléfono",
    open_lightning: "Abrir mi billetera Lightning",
    other_ways: "Otras formas de entrar",
    unopened: HeadedText {
        head: "No se abrió ninguna billetera",
        text: "Puede que este teléfono no tenga una billetera para este enlace. Escanea el código con una billetera en otro dispositivo o elige otra forma.",
    },
    use_browser_wallet: "Usar la billetera de este navegador",
    camera: "Cámara",
    camera_text: "Escanea esto con la cámara de tu teléfono. No hace falta ninguna aplicación.",
    camera_label: "Código QR para la cámara de tu teléfono",
    other_device: "En otro dispositivo, escanea esto:",
    code_label: "Código QR para tu billetera",
    lightning_label: "Código QR para una billetera Lightning",
    number_label: "Número que debes escribir en tu billetera",
    type_number: |domain| html! { b { "Escribe este número" } " en tu billetera cuando muestre " (domain) "." },
    lightning_host: |host| {
        html! {
            "Tu billetera debe mostrar " (host) ", y la barra de direcciones también. Si algo no coincide, detente."
        }
    },

    waiting: "Esperando a tu billetera.",
    new_code_in: "Código nuevo en",
    code_ends_in: "Este código termina en",
    new_code: "Aquí tienes un código nuevo. El anterior ya no sirve.",
    seconds_left: "segundos",
    answered: "Tu billetera ha respondido. Un momento.",
    offline: HeadedText { head: "El servidor no responde", text: "Tu inicio de sesión no se ha perdido." },
    offline_retry: |seconds| html! { "Lo intentamos de nuevo en " (seconds) " s." },
    try_now: "Probar ahora",

    create: HeadedMarkup {
        head: "Ninguna cuenta tiene esta clave todavía",
        text: |domain, _| html! { "Escanea otra vez para crear una en " (domain) ". No se ha guardado nada." },
    },
    wrong_number: HeadedText {
        head: "Ese era otro número",
        text: "Mira esta página y escribe el número que muestra. Si alguien te envió el número, detente: puede que \
               intente entrar en tu nombre.",
    },
    other_user: HeadedText {
        head: "Esta clave no sirve para este inicio de sesión",
        text: "Este inicio de sesión es solo para una cuenta. Usa una clave de esa cuenta.",
    },
    tries_left: |left| match left {
        1 => "Queda un intento.".to_owned(),
        left => format!("Quedan {left} intentos."),
    },
    wrong_host: HeadedMarkup {
        head: "Tu billetera respondió para otro sitio",
        text: |domain, host| {
            html! {
                "Comprueba que muestra " (domain) " y que la barra de direcciones dice " (host) ". Este intento no cuenta."
            }
        },
    },
    clock_off: |seconds| format!("El reloj de tu billetera se desvía {}", duration(seconds)),
    clock_advice: "Activa allí la fecha y hora automáticas y escanea de nuevo.",
    replaced: HeadedText { head: "Ese código fue sustituido", text: "Escanea el que está ahora en esta página." },
    closed_head: |domain| html! { "Ninguna cuenta de " (domain) " tiene esta clave" },
    closed: |domain| {
        html! {
            (domain) " no admite cuentas nuevas aquí. Prueba otra billetera, o pregunta a " (domain) "."
        }
    },
    key_known: HeadedMarkup {
        head: "Esta clave ya tiene una cuenta",
        text: |domain, _| html! { "Escanea el código que está ahora en esta página para iniciar sesión en " (domain) "." },
    },
    key_known_here: |domain| {
        html! {
            "Pulsa «Inicia sesión» en esta página y escanea su código nuevo para iniciar sesión en " (domain) "."
        }
    },
    key_taken: |domain| html! { "Una cuenta de " (domain) " la tiene. Añade otra aquí." },
    too_many_keys: HeadedText { head: "Tu cuenta tiene 10 claves", text: "No caben más. Quita una primero." },
    other_site_head: |other| html! { "Esta llave de acceso es de " (other) },
    other_site: |domain| html! { "Elige una para " (domain) "." },
    unknown_passkey_head: |domain| html! { "Ninguna cuenta de " (domain) " tiene esta llave de acceso" },
    unknown_passkey: "Se quitó, o su cuenta ya no existe. Elige otra llave de acceso, u otra forma.",
    passkey_refused: HeadedText {
        head: "Esta llave de acceso no se ha aceptado",
        text: "Tu cuenta sigue igual. Prueba otra vez, o elige otra forma.",
    },

    passkey_without_user: "Esta llave de acceso no nombra a su usuario, o nombra a otro. Elige otra llave u otra forma.",
    add_wallet: "¿Añadir esta billetera a tu cuenta?",
    add_lightning: "¿Añadir esta billetera Lightning a tu cuenta?",
    key_ends_in: |ending| {
        html! { "Ha respondido desde otro dispositivo. Su clave termina en " (ending) ". ¿Es tuya?" }
    },
    confirm_key: "Añadirla",
    decline_key: "No, no es mía",

    done: "Has iniciado sesión",
    linked: "Tu clave está añadida",
    first_key: "Tu cuenta empieza con una clave. Añade pronto una segunda: si pierdes tu única clave, puedes perder la cuenta.",
    single_key: HeadedText {
        head: "Por ahora, una sola clave abre tu cuenta",
        text: "Si pierdes tu única clave, puedes perder la cuenta. Crea una segunda.",
    },
    offer: HeadedText {
        head: "Más rápido la próxima vez: una llave de acceso",
        text: "También te deja entrar si pierdes la billetera.",
    },
    not_now: "Ahora no",
    returning_to: |domain| html! { "Volviendo a " (domain) "." },
    continue_to: |domain| html! { "Continuar a " (domain) },
    back_to: |domain| html! { "Volver a " (domain) },
    logged_in: |domain| html! { "Este inicio de sesión está hecho. Tu cuenta está abierta en " (domain) "." },
    expired: HeadedText {
        head: "Este inicio de sesión ha terminado",
        text: "Esperó 15 minutos y nadie respondió. Tu cuenta sigue igual.",
    },
    show_new_code: "Mostrar un código nuevo",
    too_late: "¿Tu billetera dijo «demasiado tarde»? Entonces puede que su reloj esté mal. Activa la fecha y hora \
               automáticas en el teléfono y prueba otra vez.",
    no_tries_left: HeadedText {
        head: "Este inicio de sesión ha terminado",
        text: "Tres respuestas fueron incorrectas. Tu cuenta sigue igual. Si alguien te envió un número, puede que haya \
               intentado entrar en tu nombre.",
    },
    you_cancelled: HeadedText { head: "Has cancelado", text: "No ha pasado nada." },
    site_cancelled: HeadedText { head: "Este inicio de sesión se canceló", text: "Tu cuenta sigue igual." },
    other_browser: HeadedText {
        head: "Este inicio de sesión se abrió en otro navegador",
        text: "Si fuiste tú, sigue allí. Si alguien te envió este enlace, ciérralo.",
    },
    other_browser_cookies: |host| {
        html! {
            "¿Es este navegador? Entonces no guardó ninguna cookie de " (host) ". Permite las cookies y empieza de nuevo."
        }
    },
    start_again: |domain| html! { "Empezar de nuevo en " (domain) },
    no_navigation_head: "Esta petición no era una navegación",
    no_navigation: |header| {
        html! {
            "Su cabecera " (header) " indica que la envió un script, un marco o una precarga. La página de inicio de sesión \
             es del primer navegador que navega hasta ella, así que no se ha mostrado."
        }
    },
    no_navigation_advice: "Para desarrolladores: lleva el navegador hasta aquí con un enlace, una redirección o \
         location.assign, no con fetch. Una prueba sin navegador no envía ninguna de las cabeceras Sec-Fetch-Mode, \
         Sec-Fetch-Dest y Sec-Purpose; los SDK tienen ayudas para pruebas.",
    unknown: HeadedText {
        head: "Este inicio de sesión no existe",
        text: "Terminó hace tiempo, o el enlace no está completo. Empieza de nuevo en el sitio donde quieres entrar.",
    },
    stale: HeadedText {
        head: "No se ha hecho nada",
        text: "La página en la que pulsaste el botón no está al día. Abre otra vez el inicio de sesión y púlsalo allí.",
    },
    claim_head: "Añade una clave a tu cuenta",
    claim_text: |domain| {
        html! { "Tu enlace añade una clave a tu cuenta en " (domain) ", en el primer navegador que lo abre." }
    },
    claim_label: "Tu enlace",
    claim_hint: "Pégalo entero, con todo lo que va después de #.",
    claim_without_script: "Tu navegador no ejecuta el script que lee la parte después de #. Pega tú el enlace.",
    claim_button: "Continuar",
    claim_refused: HeadedText {
        head: "Este enlace no funciona",
        text: "No está completo, o se creó antes de actualizar este servidor. Cópialo entero o pide uno nuevo.",
    },
    show_login: "Mostrar el inicio de sesión",
    privacy_note: "No pide dirección de correo ni contraseña.",
};

/// Formats the absolute value of a time difference, such as `90 segundos`, `4 minutos`, `3 horas`
/// or `2 días`.
fn duration(seconds: i64) -> String {
    match seconds.unsigned_abs() {
        1 => "1 segundo".to_owned(),
        seconds @ 0..120 => format!("{seconds} segundos"),
        seconds @ 120..7200 => format!("{} minutos", seconds / 60),
        seconds @ 7200..172_800 => format!("{} horas", seconds / 3600),
        seconds => format!("{} días", seconds / 86_400),
    }
}
