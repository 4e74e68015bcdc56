//! Spanish texts of the pages of an issuer.

use maud::html;

use super::{DomainText, ProviderWords};

pub(super) const PROVIDER: ProviderWords = ProviderWords {
    tab_consent: |application| format!("¿Decir a {application} quién eres?"),
    consent_question: "¿Decir a esta aplicación quién eres?",
    returns_to: |host| html! { "Vuelves a " (host) "." },
    signed_in_as: |username, domain| html! { "Eres " (username) " en " (domain) "." },
    client_receives: "Sabrá:",
    receives_id: "un identificador que es solo tuyo, y cómo y cuándo iniciaste sesión",
    receives_profile: "cómo te llamas aquí y a qué grupos perteneces",
    receives_email: "una dirección de correo que te representa:",
    receives_offline: "todo esto otra vez más adelante, aunque no estés",
    allow: "Permitir",
    deny: "No permitir",
    consent_is_stored: "Si lo permites, solo se te vuelve a preguntar si quiere saber más o si te pide que lo confirmes.",
    not_you: "¿No eres tú?",
    log_in_as_other: "Cerrar la sesión y entrar como otra persona",

    done: "Un momento",
    returning_to: |host| html! { "Vuelves a " (host) "." },
    continue_to: |host| html! { "Continuar a " (host) },

    unknown_client: DomainText {
        head: "Aquí no se conoce esta aplicación",
        text: |domain| {
            html! { "Tu cuenta sigue igual. Di a quien lleva la aplicación que " (domain) " no la conoce." }
        },
    },
    unknown_client_detail: "Ningún cliente de este emisor tiene el client_id enviado, o se enviaron varios. Compáralo con 'signpost clients list'.",
    unknown_redirect_uri: DomainText {
        head: "Aquí no se conoce el camino de vuelta a esta aplicación",
        text: |domain| {
            html! {
                "Tu cuenta sigue igual. Di a quien lleva la aplicación que " (domain) " no sabe adónde enviarte."
            }
        },
    },
    no_redirect_uri_detail: "Falta redirect_uri, o se envió varias veces.",
    unknown_redirect_uri_detail: "El cliente no registró esta redirect_uri. Debe ser exactamente una de las suyas:",
    for_developers: "Para quien lleva la aplicación",
    unavailable: DomainText {
        head: "Ahora nadie puede iniciar sesión aquí",
        text: |domain| {
            html! {
                "No es culpa tuya, y tu cuenta sigue igual. Di a quien lleva " (domain)
                " que nadie puede iniciar sesión."
            }
        },
    },
    unavailable_detail: "El servidor no quiso empezar el inicio de sesión:",
    back_to: |host| html! { "Volver a " (host) },
    expired: DomainText {
        head: "Este inicio de sesión ha terminado",
        text: |_| {
            html! {
                "Ya se usó, esperó más de una hora o empezó en otro navegador. Vuelve a la aplicación e inicia sesión \
                 allí otra vez."
            }
        },
    },
    stale: DomainText {
        head: "Nada ha cambiado",
        text: |_| {
            html! { "El botón era de una página más antigua o de otro navegador. Muestra la página otra vez y púlsalo allí." }
        },
    },
    show_again: "Mostrar la página otra vez",

    tab_logout: "¿Cerrar la sesión?",
    logout_question: |domain| html! { "¿Cerrar la sesión en " (domain) "?" },
    logout_signed_in_as: |username| html! { "Allí eres " (username) "." },
    logout_requested_by: |application| html! { "Lo pide " (application) "." },
    log_out: "Cerrar la sesión",
    stay_signed_in: "Para seguir con la sesión abierta, cierra esta página.",
    logged_out: DomainText {
        head: "Has cerrado la sesión",
        text: |domain| {
            html! {
                "Ya no tienes sesión abierta en " (domain) " en este navegador. Puede que las aplicaciones abiertas no lo \
                 noten enseguida: ciérrala también allí."
            }
        },
    },
    invalid_logout: DomainText {
        head: "No se ha cerrado tu sesión",
        text: |domain| {
            html! {
                "Una aplicación pidió a " (domain) " que la cerrara, pero no de un modo fiable. Puedes cerrarla tú."
            }
        },
    },
    foreign_hint_detail: "id_token_hint no es un ID token de este emisor. Puede haber caducado, pero su firma debe ser válida.",
    unknown_logout_redirect_uri_detail: "El cliente no registró esta post_logout_redirect_uri. Debe ser exactamente una de las suyas.",
    log_out_here: "Cerrar la sesión aquí",
};
