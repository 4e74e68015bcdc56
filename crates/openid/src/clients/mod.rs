//! OpenID Connect clients: the applications that users log in to. Each client belongs to the domain
//! of its issuer.
//!
//! The rules in this module are pure; [`sql`] has the queries.

mod allow_list;
mod auth_method;
mod patch;
mod redirect_uri;
mod secret;
mod settings;
pub mod sql;

use anyhow::{Result, bail};
use jiff::{SignedDuration, Timestamp};
use signpost_login::ids::DomainId;
use signpost_store::{Json, random, rows};

use crate::ids::ClientId;

pub use allow_list::{AllowList, Allowed};
pub use auth_method::{ClientAuthMethod, SecretLocation};
pub use patch::ClientPatch;
pub use redirect_uri::{RedirectUri, RedirectUris};
pub use secret::{OAuthSecret, OAuthSecretHash};
pub use settings::{ClientName, ClientSettings, EmailClaim, InvalidClient};

/// Maximum number of clients of a domain.
pub const MAX_CLIENTS: u32 = 1000;
/// Time during which the previous secret is accepted after a rotation.
pub const PREVIOUS_SECRET_LIFETIME: SignedDuration = SignedDuration::from_hours(24);

rows! {
    /// A registered client.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub struct Client in "openid_clients" by [id] {
        pub id: ClientId,
        pub domain_id: DomainId,
        pub settings: ClientSettings as Json<ClientSettings>,
        pub created_at: Timestamp,
        /// `None` for a public client.
        pub secret_hash: Option<OAuthSecretHash>,
    } mutable {
        /// The previous secret, which is accepted until `previous_until`.
        pub previous_secret_hash: Option<OAuthSecretHash>,
        pub previous_until: Option<Timestamp>,
    } validate check_row
}

/// A newly registered client with its secret, which is shown only once.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct RegisteredClient {
    pub client: Client,
    /// `None` for a public client.
    pub secret: Option<OAuthSecret>,
}

/// The random bytes of a registration.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct ClientEntropy {
    pub id: [u8; 16],
    pub secret: [u8; 32],
}

impl ClientEntropy {
    /// Draws new random bytes.
    #[must_use]
    pub fn draw() -> Self {
        Self { id: random(), secret: random() }
    }
}

impl Client {
    /// Creates a client.
    ///
    /// # Errors
    /// Returns an error if the settings contradict each other.
    pub fn register(
        domain: &DomainId,
        settings: ClientSettings,
        now: Timestamp,
        random: &ClientEntropy,
    ) -> Result<RegisteredClient, InvalidClient> {
        settings.check()?;
        let secret = (!settings.is_public).then(|| OAuthSecret::from_bytes(&random.secret));
        let client = Self {
            id: ClientId::new(now, random.id),
            domain_id: domain.clone(),
            settings,
            created_at: now,
            secret_hash: secret.as_ref().map(OAuthSecret::hash),
            previous_secret_hash: None,
            previous_until: None,
        };
        Ok(RegisteredClient { client, secret })
    }

    /// Returns true if the text is the secret of this client, or its previous secret before that expires. Compares in
    /// constant time. Always false for a public client.
    #[must_use]
    pub fn accepts_secret(&self, presented: &str, now: Timestamp) -> bool {
        let presented = OAuthSecretHash::new(presented);
        let is_current = self.secret_hash.as_ref().is_some_and(|hash| hash.matches(&presented));
        let is_previous = self.previous_secret_hash.as_ref().is_some_and(|hash| hash.matches(&presented));
        is_current | (is_previous & self.previous_until.is_some_and(|end| now < end))
    }

    /// Returns the name for display: the client's name, or else the host of its first redirect URI.
    #[must_use]
    pub fn display_name(&self) -> &str {
        if let Some(name) = &self.settings.name {
            return name.as_str();
        }
        self.settings.redirect_uris.as_slice().first().map_or(self.id.as_str(), RedirectUri::display_host)
    }

    /// Returns true if a redirect URI is registered.
    #[must_use]
    pub fn has_redirect_uri(&self, presented: &str) -> bool {
        self.settings.redirect_uris.matches(presented)
    }

    /// Returns true if a post-logout redirect URI is registered.
    #[must_use]
    pub fn has_post_logout_uri(&self, presented: &str) -> bool {
        self.settings.post_logout_uris.matches(presented)
    }
}

/// Checks that the columns of a client's row are consistent.
fn check_row(client: &Client) -> Result<()> {
    client.settings.check().map_err(|invalid| anyhow::anyhow!("openid_clients.settings: {invalid}"))?;
    if client.settings.is_public == client.secret_hash.is_some() {
        bail!("openid_clients: settings and secret_hash contradict each other");
    }
    if client.previous_secret_hash.is_some() != client.previous_until.is_some() {
        bail!("openid_clients: previous_secret_hash and previous_until contradict each other");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: SignedDuration = SignedDuration::from_hours(24);

    fn register(settings: ClientSettings) -> RegisteredClient {
        let domain = DomainId::new(Timestamp::UNIX_EPOCH, [1; 16]);
        let random = ClientEntropy { id: [2; 16], secret: [3; 32] };
        Client::register(&domain, settings, Timestamp::UNIX_EPOCH, &random).unwrap()
    }

    fn settings() -> ClientSettings {
        ClientSettings::new(RedirectUris::parse(["https://app.example/cb"]).unwrap())
    }

    #[test]
    fn previous_secret_is_accepted_temporarily() {
        let now = Timestamp::UNIX_EPOCH;
        let RegisteredClient { mut client, secret } = register(settings());
        let secret = secret.unwrap();
        assert!(client.accepts_secret(secret.reveal(), now));
        for other in ["", "sgp_cs_", &secret.reveal()[..49], &format!("{}A", secret.reveal()), "x"] {
            assert!(!client.accepts_secret(other, now), "{other}");
        }
        let next = OAuthSecret::from_bytes(&[4; 32]);
        client.previous_secret_hash = client.secret_hash.replace(next.hash());
        client.previous_until = Some(now + DAY);
        let last = now + DAY - SignedDuration::from_millis(1);
        assert!(client.accepts_secret(secret.reveal(), last) && client.accepts_secret(next.reveal(), last));
        assert!(!client.accepts_secret(secret.reveal(), now + DAY) && client.accepts_secret(next.reveal(), now + DAY));
    }

    #[test]
    fn public_client_accepts_no_secret() {
        let RegisteredClient { client, secret } = register(ClientSettings { is_public: true, ..settings() });
        assert!(secret.is_none() && client.secret_hash.is_none());
        assert!(!client.accepts_secret("", Timestamp::UNIX_EPOCH));
    }

    #[test]
    fn inconsistent_client_row_is_an_error() {
        let RegisteredClient { client, .. } = register(settings());
        assert!(check_row(&client).is_ok());
        let public = ClientSettings { is_public: true, ..settings() };
        let hash = client.secret_hash.clone();
        for wrong in [
            Client { secret_hash: None, ..client.clone() },
            Client { settings: public.clone(), ..client.clone() },
            Client { previous_secret_hash: hash, ..client.clone() },
            Client { previous_until: Some(Timestamp::UNIX_EPOCH), ..client.clone() },
            Client { settings: ClientSettings { requires_pkce: false, ..public }, secret_hash: None, ..client.clone() },
        ] {
            assert!(check_row(&wrong).is_err(), "{wrong:?}");
        }
    }
}
