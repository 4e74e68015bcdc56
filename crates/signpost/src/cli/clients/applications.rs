//! Generates configurations of well-known applications for an OpenID Connect client, as text to
//! paste. The templates are in `assets/applications`.

use clap::ValueEnum;
use signpost_openid::clients::RedirectUri;

/// An application with a configuration template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub(super) enum Application {
    Grafana,
    Gitea,
    Nextcloud,
    Apache,
    #[value(name = "oauth2-proxy")]
    OAuth2Proxy,
    AuthJs,
    JupyterHub,
}

/// The address of an application, and its redirect URIs.
#[derive(Debug)]
pub(super) struct ApplicationPlace {
    /// The base URL, without a trailing slash.
    pub(super) base: String,
    /// The redirect URIs. The configuration contains the first.
    pub(super) redirect_uris: Vec<String>,
}

/// The values that replace the placeholders of a configuration template.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientValues<'a> {
    pub(super) issuer: &'a str,
    pub(super) client_id: &'a str,
    pub(super) client_secret: &'a str,
    /// A random secret of the application itself.
    pub(super) random_secret: &'a str,
}

impl Application {
    /// Returns the product name.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Grafana => "Grafana",
            Self::Gitea => "Gitea",
            Self::Nextcloud => "Nextcloud",
            Self::Apache => "Apache",
            Self::OAuth2Proxy => "oauth2-proxy",
            Self::AuthJs => "Auth.js",
            Self::JupyterHub => "JupyterHub",
        }
    }

    /// Returns the place of the application with this address or redirect URI.
    pub(super) fn place(self, uri: &RedirectUri) -> ApplicationPlace {
        let text = uri.as_str();
        let bases = self.callbacks().iter().filter_map(|path| text.strip_suffix(path));
        let base = bases.min_by_key(|base| base.len()).unwrap_or(text);
        let base = base.trim_end_matches('/').to_owned();
        let redirect_uris = self.callbacks().iter().map(|path| format!("{base}{path}")).collect();
        ApplicationPlace { base, redirect_uris }
    }

    /// Returns the post-logout redirect URI, if the application sends it.
    pub(super) fn post_logout_uri(self, place: &ApplicationPlace) -> Option<String> {
        matches!(self, Self::Nextcloud | Self::Apache).then(|| format!("{}/", place.base))
    }

    /// Returns the configuration.
    pub(super) fn configure(self, place: &ApplicationPlace, values: ClientValues<'_>) -> String {
        let redirect_uri = place.redirect_uris.first().map_or("", String::as_str);
        let mut text = self.template().trim_end().to_owned();
        for (name, value) in [
            ("@application@", place.base.as_str()),
            ("@redirect_uri@", redirect_uri),
            ("@issuer@", values.issuer),
            ("@client_id@", values.client_id),
            ("@client_secret@", values.client_secret),
            ("@drawn@", values.random_secret),
        ] {
            text = text.replace(name, value);
        }
        text
    }

    /// Returns the paths of the redirect URIs.
    fn callbacks(self) -> &'static [&'static str] {
        match self {
            Self::Grafana => &["/login/generic_oauth"],
            Self::Gitea => &["/user/oauth2/signpost/callback"],
            // The second is for servers without URL rewriting.
            Self::Nextcloud => &["/apps/user_oidc/code", "/index.php/apps/user_oidc/code"],
            Self::Apache => &["/oidc/callback"],
            Self::OAuth2Proxy => &["/oauth2/callback"],
            Self::AuthJs => &["/api/auth/callback/signpost"],
            Self::JupyterHub => &["/hub/oauth_callback"],
        }
    }

    fn template(self) -> &'static str {
        match self {
            Self::Grafana => include_str!("../../../assets/applications/grafana.ini"),
            Self::Gitea => include_str!("../../../assets/applications/gitea.sh"),
            Self::Nextcloud => include_str!("../../../assets/applications/nextcloud.sh"),
            Self::Apache => include_str!("../../../assets/applications/apache.conf"),
            Self::OAuth2Proxy => include_str!("../../../assets/applications/oauth2-proxy.cfg"),
            Self::AuthJs => include_str!("../../../assets/applications/authjs.ts"),
            Self::JupyterHub => include_str!("../../../assets/applications/jupyterhub_config.py"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(application: Application, uri: &str) -> ApplicationPlace {
        application.place(&RedirectUri::parse(uri).unwrap())
    }

    #[test]
    fn application_accepts_address_or_redirect_uri() {
        let base = "https://tools.example/grafana";
        for uri in [base, "https://tools.example/grafana/", "https://tools.example/grafana/login/generic_oauth"] {
            let place = place(Application::Grafana, uri);
            assert_eq!((&*place.base, &*place.redirect_uris), (base, &[format!("{base}/login/generic_oauth")][..]));
        }
        for uri in ["https://cloud.example", "https://cloud.example/index.php/apps/user_oidc/code"] {
            let place = place(Application::Nextcloud, uri);
            let expected = ["/apps/user_oidc/code", "/index.php/apps/user_oidc/code"];
            assert_eq!(place.redirect_uris, expected.map(|path| format!("https://cloud.example{path}")));
        }
    }

    #[test]
    fn derived_settings_are_valid() {
        for application in Application::value_variants() {
            let place = place(*application, "https://app.example");
            for uri in place.redirect_uris.iter().chain(application.post_logout_uri(&place).iter()) {
                assert!(RedirectUri::parse(uri).is_ok(), "{uri}");
            }
        }
    }

    #[test]
    fn templates_have_no_placeholders_left() {
        let values = ClientValues { issuer: "I", client_id: "C", client_secret: "S", random_secret: "D" };
        for application in Application::value_variants() {
            let text = application.configure(&place(*application, "https://app.example"), values);
            assert!(!text.contains('@'), "{text}");
            for value in ["I", "C", "S"] {
                assert!(text.contains(value), "{value}: {text}");
            }
        }
    }
}
