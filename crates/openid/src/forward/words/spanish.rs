//! Spanish texts of the pages on an application's host.

use maud::html;

use super::{AppText, AppWords};

pub(super) const APP: AppWords = AppWords {
    tab_refused: "Sin acceso",
    tab_login: "Sesión no iniciada",
    tab_logout: "¿Cerrar sesión?",
    tab_logged_out: "Sesión cerrada",

    not_on_allow_list: AppText {
        head: |host| html! { (host) " no te deja entrar" },
        text: "Solo entra quien su responsable ha autorizado.",
    },
    logged_in_as: |username| html! { "Has iniciado sesión como " (username) "." },
    contact_operator: "¿Deberías poder entrar? Envía esta línea al responsable:",
    empty_allow_list: AppText {
        head: |host| html! { (host) " todavía no deja entrar a nadie" },
        text: "Su responsable no ha dicho quién puede usarlo.",
    },
    operator_hint: "¿Eres el responsable? Autoriza a esta persona, a un grupo o a todos con la opción --allow de su cliente:",
    log_in_as_other: "Iniciar sesión con otra cuenta",

    denied: AppText {
        head: |host| html! { "No has iniciado sesión en " (host) },
        text: "Cancelaste el inicio de sesión, o el responsable no te ha autorizado: solo entra quien ha autorizado.",
    },
    account_link: "Mira en tu cuenta con qué nombre te conoce el responsable",
    stale: AppText {
        head: |host| html! { "No has iniciado sesión en " (host) },
        text: "Este inicio de sesión empezó en otro navegador o hace demasiado tiempo, o tu navegador no guarda cookies.",
    },
    request_lost: AppText {
        head: |host| html! { "Tu sesión en " (host) " ha terminado" },
        text: "Lo que enviaste no llegó. Inicia sesión, vuelve atrás y envíalo otra vez.",
    },
    log_in: "Iniciar sesión",

    log_out: AppText {
        head: |host| html! { "¿Cerrar tu sesión en " (host) "?" },
        text: "Quien use después este navegador tendrá que iniciar sesión.",
    },
    log_out_yes: "Cerrar sesión",
    stay_logged_in: "Seguir con la sesión",
    not_logged_in: AppText {
        head: |host| html! { "No has iniciado sesión en " (host) },
        text: "No hay ninguna sesión que cerrar.",
    },
    logged_out: AppText {
        head: |host| html! { "Has cerrado tu sesión en " (host) },
        text: "Este navegador no puede usarlo sin iniciar sesión otra vez.",
    },
    signed_in_at_issuer: |host| html! { "Quizá tu sesión siga abierta en " (host) ", que te deja entrar sin preguntar." },
    sign_out_at_issuer: "Ciérrala también allí",
    form_refused: AppText {
        head: |host| html! { "Tu sesión en " (host) " sigue abierta" },
        text: "El botón era de una página anterior. Carga esta página de nuevo y púlsalo allí.",
    },
    log_in_again: "Iniciar sesión otra vez",
};
