//! Spanish texts of the account pages.

use maud::html;
use signpost_platform::pages::Language;
use signpost_platform::pages::dates::long_date;

use super::{AccountMessage, AccountWords};
use crate::user_agent::RequestingBrowser;
use crate::users::CredentialKind;

pub(super) const ACCOUNT: AccountWords = AccountWords {
    tab_accounts: "Tus cuentas",
    tab_keys: |domain| format!("Tus llaves · {domain}"),
    tab_signed_out: "Sin sesión",
    tab_remove: "¿Quitar una llave?",
    tab_removed: "Quitada",
    tab_stale: "Nada ha cambiado",

    accounts: |host| html! { "Tus cuentas en " (host) },
    accounts_text: "Aquí has iniciado sesión con este navegador.",
    no_accounts: AccountMessage {
        head: "Aquí no tienes ninguna sesión abierta",
        text: "Inicia sesión en un sitio que use esta página. Su cuenta aparecerá entonces aquí.",
    },
    sandbox: "De prueba",
    show_keys: |domain| html! { "Tus llaves en " (domain) },
    sign_in_expired: "Tu sesión aquí ha terminado.",
    log_in_at: |domain| html! { "Inicia sesión en " (domain) " otra vez" },

    account_at: "Tu cuenta en",
    username_line: |username| html! { "Allí eres " (username) "." },
    all_accounts: "Todas tus cuentas",
    keys: "Tus llaves",
    kind: |kind| match kind {
        CredentialKind::Wallet => "Billetera",
        CredentialKind::Lightning => "Billetera Lightning",
        CredentialKind::Passkey => "Llave de acceso",
    },
    ends_in: |digits| html! { "termina en " (digits) },
    added: |day| html! { "añadida el " (day) },
    last_used: |day| html! { "usada por última vez el " (day) },
    never_used: "aún sin usar",
    signed_in_with: "Has iniciado sesión con ella.",
    day: |day| long_date(Language::Spanish, day),
    single_key: "Falta una de repuesto.",
    only_key: |domain| html! { "Si pierdes tu única llave, nadie más que " (domain) " puede volver a dejarte entrar." },
    add_key: "Añadir una llave",
    add_hint: "Una llave de acceso de este dispositivo o una billetera de otro. Cada llave te deja entrar.",
    max_keys_reached: "Tienes diez llaves, que es el máximo. Quita una para añadir otra.",
    change: "Cambiar el nombre o quitarla",
    name: "Nombre",
    name_hint: "Hasta 60 caracteres",
    save_name: "Guardar el nombre",
    invalid_name: "Escribe un nombre de 1 a 60 caracteres.",
    remove: "Quitar esta llave",
    last_key: "Tu única llave se queda: sin ella nadie podría entrar en esta cuenta. Añade antes otra.",
    login_too_old: AccountMessage {
        head: "Inicia sesión otra vez para cambiar tus llaves.",
        text: "Tu último inicio de sesión aquí fue hace más de 5 minutos. Así nadie que encuentre abierto este navegador puede llevarse tu cuenta.",
    },
    log_in_again: "Iniciar sesión otra vez",

    renamed: "La llave tiene su nombre nuevo.",
    key_added: "La llave está añadida. Desde ahora te deja entrar.",
    key_not_found: "Esa llave ya se había quitado.",
    nothing_changed: "Nada ha cambiado.",
    sign_in_ended: "Esa sesión está cerrada.",
    sign_in_not_found: "Esa sesión ya se había cerrado.",

    remove_question: |name| html! { "¿Quitar " (name) "?" },
    remove_text: "Ya no dejará entrar a nadie, y se cerrará la sesión de quien la haya abierto aquí con ella.",
    remove_own: "Tú has iniciado sesión con ella: después entrarás con otra llave.",
    confirm_removal: "Quitarla",
    cancel_removal: "Conservarla",
    removed: AccountMessage { head: "La llave está quitada", text: "Ya no deja entrar a nadie." },
    removed_own: "Habías iniciado sesión con ella. Inicia sesión con otra llave.",
    back_to_keys: "Volver a tus llaves",

    sign_ins: "Dónde tienes la sesión abierta",
    browser: |browser| match browser {
        Some(RequestingBrowser::Known { browser, system: Some(system) }) => format!("{browser} en {system}"),
        Some(RequestingBrowser::Known { browser, system: None }) => (*browser).to_owned(),
        Some(RequestingBrowser::Unknown(name)) => name.clone(),
        None => "Navegador desconocido".to_owned(),
    },
    application: |host, browser| html! { "Aplicación en " (host) ", abierta en " (browser) },
    signed_in: |day| html! { "abierta el " (day) },
    this_browser: "Este navegador.",
    end_sign_in: "Cerrar esa sesión",
    only_newest: |count| html! { "Estas son las " (count) " más recientes." },

    sign_out: "Cerrar la sesión",
    sign_out_text: |domain| {
        html! { "Esto cierra tu sesión en estas páginas. Puede que sigas dentro en " (domain) ": ciérrala también allí." }
    },
    sign_out_here: "Cerrar la sesión en este navegador",
    sign_out_everywhere: "Cerrar la sesión en todos los navegadores",
    signed_out_everywhere: AccountMessage {
        head: "Tu sesión está cerrada en todos los navegadores",
        text: "Para abrirla de nuevo, inicia sesión con una de tus llaves.",
    },

    not_signed_in: AccountMessage {
        head: "Aquí no tienes la sesión abierta",
        text: "Inicia sesión para ver tus llaves y cambiarlas.",
    },
    log_in: "Iniciar sesión",
    no_login: AccountMessage {
        head: "Aquí nadie puede iniciar sesión",
        text: "El enlace es antiguo o le falta una letra. Vuelve al sitio y empieza allí.",
    },
    form_refused: AccountMessage {
        head: "Nada ha cambiado",
        text: "El botón era de una página anterior o de otro navegador. Carga tu cuenta de nuevo y púlsalo allí.",
    },
    reload: "Mostrar mi cuenta",
};
