//! Authenticates clients (RFC 6749, 2.3).

use data_encoding::BASE64;
use secrecy::{ExposeSecret, SecretString};
use signpost_login::domains::Domain;
use url::form_urlencoded;

use super::FlowError;
use crate::clients::{self, Client, ClientAuthMethod, SecretLocation};
use crate::ids::ClientId;
use crate::service::OpenidService;

/// The credentials of a client.
#[derive(Clone, Debug)]
pub struct ClientCredentials {
    id: String,
    /// The secret as received. A secret from the header is also kept in decoded form, because not
    /// all clients encode it.
    secrets: Vec<SecretString>,
    place: SecretLocation,
}

/// The reason why client authentication failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientRefusal {
    /// `invalid_request`: the request has more than one kind of credentials.
    MultipleMethods,
    /// `invalid_client`: the client is unknown, or its secret is missing or wrong.
    Invalid,
    /// `invalid_client`: the secret is correct, but not sent by the client's method.
    Method(ClientAuthMethod),
}

impl ClientCredentials {
    /// Reads the header `Authorization` and the fields of the form. Both may have the credentials, if they are equal.
    ///
    /// # Errors
    /// Returns an error if the credentials are missing, different or malformed.
    pub fn read(
        authorization: Option<&str>,
        client_id: Option<&str>,
        client_secret: Option<&str>,
    ) -> Result<Self, ClientRefusal> {
        let Some(authorization) = authorization else {
            let id = client_id.ok_or(ClientRefusal::Invalid)?.to_owned();
            let secrets = client_secret.map(SecretString::from).into_iter().collect();
            return Ok(Self { id, secrets, place: SecretLocation::Form });
        };
        let mut credentials = Self::read_basic(authorization).ok_or(ClientRefusal::Invalid)?;
        if client_id.is_some_and(|id| id != credentials.id) {
            return Err(ClientRefusal::MultipleMethods);
        }
        if let Some(in_form) = client_secret {
            credentials.secrets.retain(|secret| secret.expose_secret() == in_form);
            if credentials.secrets.is_empty() {
                return Err(ClientRefusal::MultipleMethods);
            }
            credentials.place = SecretLocation::Both;
        }
        Ok(credentials)
    }

    /// Reads `Basic` credentials, whose two parts are form-encoded (RFC 6749, 2.3.1). Not all clients encode them, so
    /// the secret is also accepted as sent.
    fn read_basic(authorization: &str) -> Option<Self> {
        let (scheme, encoded) = authorization.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let text = String::from_utf8(BASE64.decode(encoded.trim().as_bytes()).ok()?).ok()?;
        let (id, secret) = text.split_once(':')?;
        let secrets = vec![decode(secret).into(), secret.into()];
        Some(Self { id: decode(id), secrets, place: SecretLocation::Header })
    }
}

/// Decodes a form-encoded text.
fn decode(text: &str) -> String {
    // An encoded text contains neither character. The parser would read several fields, and return only the first.
    if text.contains(['&', '=']) {
        return text.to_owned();
    }
    let mut pairs = form_urlencoded::parse(text.as_bytes());
    pairs.next().map(|(name, _)| name.into_owned()).unwrap_or_default()
}

/// Returns the client of this domain that these credentials authenticate.
///
/// # Errors
/// Returns [`ClientRefusal`], or a failure of the database.
pub async fn find_client(
    service: &OpenidService,
    domain: &Domain,
    credentials: &ClientCredentials,
) -> Result<Client, FlowError<ClientRefusal>> {
    let client = match ClientId::parse(&credentials.id) {
        Some(id) => clients::sql::find(&service.store, &domain.id, &id).await?,
        None => None,
    };
    let method = client.as_ref().and_then(|client| client.settings.auth_method);
    if credentials.place == SecretLocation::Both && method != Some(ClientAuthMethod::Any) {
        return Err(FlowError::Refused(ClientRefusal::MultipleMethods));
    }
    let Some(client) = client else { return Err(FlowError::Refused(ClientRefusal::Invalid)) };
    if client.settings.is_public {
        if !credentials.secrets.is_empty() {
            return Err(FlowError::Refused(ClientRefusal::Invalid));
        }
        return Ok(client);
    }
    let now = service.clock.now();
    if !credentials.secrets.iter().any(|secret| client.accepts_secret(secret.expose_secret(), now)) {
        return Err(FlowError::Refused(ClientRefusal::Invalid));
    }
    match method {
        Some(method) if !credentials.place.is_allowed(Some(method)) => {
            Err(FlowError::Refused(ClientRefusal::Method(method)))
        }
        _ => Ok(client),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basic(text: &str) -> String {
        format!("Basic {}", BASE64.encode(text.as_bytes()))
    }

    fn read(authorization: Option<&str>, id: Option<&str>, secret: Option<&str>) -> Result<Vec<String>, ClientRefusal> {
        let read = ClientCredentials::read(authorization, id, secret)?;
        Ok([read.id].into_iter().chain(read.secrets.iter().map(|text| text.expose_secret().to_owned())).collect())
    }

    #[test]
    fn repeated_client_credentials_must_match() {
        let (header, lower) = (basic("cli_1:s"), basic("cli_1:s").replacen("Basic", "basic", 1));
        for (authorization, id, secret, expected) in [
            (Some(header.as_str()), None, None, Ok(vec!["cli_1", "s", "s"])),
            (Some(&lower), Some("cli_1"), None, Ok(vec!["cli_1", "s", "s"])),
            (Some(&header), Some("cli_2"), None, Err(ClientRefusal::MultipleMethods)),
            (Some(&header), Some("cli_1"), Some("s"), Ok(vec!["cli_1", "s", "s"])),
            (Some(&header), Some("cli_2"), Some("s"), Err(ClientRefusal::MultipleMethods)),
            (Some(&header), None, Some("t"), Err(ClientRefusal::MultipleMethods)),
            (None, Some("cli_1"), Some("s"), Ok(vec!["cli_1", "s"])),
            (None, Some("cli_1"), None, Ok(vec!["cli_1"])),
            (None, None, Some("s"), Err(ClientRefusal::Invalid)),
            (None, None, None, Err(ClientRefusal::Invalid)),
            (Some("Bearer abc"), None, None, Err(ClientRefusal::Invalid)),
            (Some("Basic ~"), None, None, Err(ClientRefusal::Invalid)),
            (Some("Basic"), None, None, Err(ClientRefusal::Invalid)),
        ] {
            let expected = expected.map(|texts| texts.into_iter().map(str::to_owned).collect());
            assert_eq!(read(authorization, id, secret), expected, "{authorization:?} {id:?} {secret:?}");
        }
    }

    #[test]
    fn basic_header_is_read_encoded_and_plain() {
        let read = read(Some(&basic("cli%5F1:a%2Bb+c")), None, None).unwrap();
        assert_eq!(read, ["cli_1", "a+b c", "a%2Bb+c"]);
        for secret in ["s&more", "s=more"] {
            assert_eq!(super::tests::read(Some(&basic(&format!("cli_1:{secret}"))), None, None).unwrap()[1], secret);
        }
    }
}
