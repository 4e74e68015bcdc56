//! Parses and verifies the responses of authenticators to registrations and logins.

use data_encoding::BASE64URL_NOPAD;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::authenticator_data::AuthenticatorData;
use super::cbor::Map;
use super::client_data::{Ceremony, ClientData};
use super::cose::key_of;
use super::identifier::{PasskeyHandle, PasskeyId};
use super::key::PasskeyKey;
use super::refusal::PasskeyRefusal;
use super::relying_party::RelyingParty;

/// Maximum length of a response in bytes. Attestation statements with certificates have a few
/// thousand bytes.
const MAX_LENGTH: usize = 32 * 1024;

/// The parsed response to the registration of a new passkey (`PublicKeyCredential.toJSON()`).
#[derive(Clone, Debug)]
pub struct PasskeyRegistration {
    id: PasskeyId,
    client_data: ClientData,
    authenticator_data: Vec<u8>,
}

/// A new passkey whose registration passed every check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPasskey {
    /// The credential ID.
    pub id: PasskeyId,
    /// The public key.
    pub key: PasskeyKey,
    /// The signature counter, or 0 if the authenticator has none.
    pub sign_count: u32,
    /// The authenticator data as received.
    pub authenticator_data: Vec<u8>,
    /// The client data as received.
    pub client_data_json: Vec<u8>,
}

/// The parsed response to a login by passkey (`PublicKeyCredential.toJSON()`).
#[derive(Clone, Debug)]
pub struct PasskeyAssertion {
    id: PasskeyId,
    user_handle: Option<PasskeyHandle>,
    client_data: ClientData,
    authenticator_data: Vec<u8>,
    signature: Vec<u8>,
}

/// A login by passkey that passed every check. The signature covers the authenticator data and the
/// SHA-256 hash of the client data, so that it can be verified again with the public key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssertedPasskey {
    /// The signature counter, or 0 if the authenticator has none, as for synchronised passkeys.
    pub sign_count: u32,
    /// The signature as received: DER for an ES256 key, or the plain number for an RS256 key.
    pub signature: Vec<u8>,
    /// The authenticator data as received.
    pub authenticator_data: Vec<u8>,
    /// The client data as received.
    pub client_data_json: Vec<u8>,
}

impl PasskeyRegistration {
    /// Parses a `RegistrationResponseJSON` (Web Authentication, section 5.1). Ignores other
    /// members.
    ///
    /// # Errors
    /// Returns [`PasskeyRefusal::Malformed`], or [`PasskeyRefusal::Attestation`] for a statement
    /// with the format `none`.
    pub fn parse(json: &str) -> Result<Self, PasskeyRefusal> {
        let (id, response) = parse_credential::<RegistrationParts>(json)?;
        let object = decode_base64url(&response.attestation_object)?;
        let Some((attestation, rest)) = Map::read(&object) else {
            return Err(PasskeyRefusal::Malformed("the attestation is not a map in CBOR"));
        };
        if !rest.is_empty() {
            return Err(PasskeyRefusal::Malformed("something follows the attestation"));
        }
        let Some(Attestation { format, statement, authenticator_data }) = Attestation::from_map(attestation) else {
            return Err(PasskeyRefusal::Malformed("the attestation lacks fmt, attStmt or authData"));
        };
        // Statements of other formats identify the manufacturer of the authenticator. They are
        // neither requested nor used.
        if format == "none" && !statement.is_empty() {
            return Err(PasskeyRefusal::Attestation);
        }
        let client_data = ClientData::parse(decode_base64url(&response.client_data)?)?;
        Ok(Self { id, client_data, authenticator_data })
    }

    /// Verifies that a page of this relying party requested the passkey with this challenge, and
    /// that the user was verified.
    ///
    /// # Errors
    /// Returns the first check that fails.
    pub fn verify(&self, rp: &RelyingParty, challenge: &[u8; 32]) -> Result<NewPasskey, PasskeyRefusal> {
        self.client_data.check(Ceremony::Create, rp, challenge)?;
        let data = AuthenticatorData::parse(&self.authenticator_data)?;
        data.check(rp)?;
        let attested = data.attested.ok_or(PasskeyRefusal::Malformed("the authenticator data has no passkey"))?;
        if attested.id != self.id {
            return Err(PasskeyRefusal::CredentialId);
        }
        Ok(NewPasskey {
            id: attested.id,
            key: key_of(&attested.key)?,
            sign_count: data.sign_count,
            authenticator_data: self.authenticator_data.clone(),
            client_data_json: self.client_data.as_bytes().to_owned(),
        })
    }
}

impl PasskeyAssertion {
    /// Parses an `AuthenticationResponseJSON` (Web Authentication, section 5.1). Ignores other
    /// members.
    ///
    /// # Errors
    /// Returns [`PasskeyRefusal::Malformed`].
    pub fn parse(json: &str) -> Result<Self, PasskeyRefusal> {
        let (id, response) = parse_credential::<AssertionParts>(json)?;
        let user_handle = match response.user_handle.as_deref() {
            // Authenticators without a user handle omit the member, or send null or an empty text.
            None | Some("") => None,
            Some(text) => Some(
                PasskeyHandle::parse(text)
                    .map_err(|_| PasskeyRefusal::Malformed("userHandle is not one of this server"))?,
            ),
        };
        Ok(Self {
            id,
            user_handle,
            client_data: ClientData::parse(decode_base64url(&response.client_data)?)?,
            authenticator_data: decode_base64url(&response.authenticator_data)?,
            signature: decode_base64url(&response.signature)?,
        })
    }

    /// Returns the credential ID, to look up the public key.
    #[must_use]
    pub fn id(&self) -> &PasskeyId {
        &self.id
    }

    /// Returns the user handle. The signature does not cover it.
    #[must_use]
    pub fn user_handle(&self) -> Option<&PasskeyHandle> {
        self.user_handle.as_ref()
    }

    /// Verifies that a page of this relying party requested the login with this challenge, that the
    /// user was verified, and that the signature is valid for `key`.
    ///
    /// # Errors
    /// Returns the first check that fails.
    pub fn verify(
        &self,
        rp: &RelyingParty,
        challenge: &[u8; 32],
        key: &PasskeyKey,
    ) -> Result<AssertedPasskey, PasskeyRefusal> {
        self.client_data.check(Ceremony::Get, rp, challenge)?;
        let data = AuthenticatorData::parse(&self.authenticator_data)?;
        data.check(rp)?;
        if !key.verify(&self.client_data.signed_with(&self.authenticator_data), &self.signature) {
            return Err(PasskeyRefusal::Signature);
        }
        Ok(AssertedPasskey {
            sign_count: data.sign_count,
            signature: self.signature.clone(),
            authenticator_data: self.authenticator_data.clone(),
            client_data_json: self.client_data.as_bytes().to_owned(),
        })
    }
}

#[derive(Deserialize)]
struct CredentialJson<R> {
    id: String,
    #[serde(rename = "rawId")]
    raw_id: String,
    #[serde(rename = "type")]
    kind: String,
    response: R,
}

#[derive(Deserialize)]
struct RegistrationParts {
    #[serde(rename = "clientDataJSON")]
    client_data: String,
    #[serde(rename = "attestationObject")]
    attestation_object: String,
}

#[derive(Deserialize)]
struct AssertionParts {
    #[serde(rename = "clientDataJSON")]
    client_data: String,
    #[serde(rename = "authenticatorData")]
    authenticator_data: String,
    signature: String,
    #[serde(rename = "userHandle", default)]
    user_handle: Option<String>,
}

/// The attestation object (Web Authentication, section 6.5.4).
struct Attestation {
    format: String,
    statement: Map,
    authenticator_data: Vec<u8>,
}

impl Attestation {
    /// Converts a CBOR map. Returns `None` if a member is missing or has the wrong type.
    fn from_map(mut map: Map) -> Option<Self> {
        Some(Self {
            format: map.take("fmt")?.into_text().ok()?,
            statement: Map::of(map.take("attStmt")?)?,
            authenticator_data: map.take("authData")?.into_bytes().ok()?,
        })
    }
}

fn parse_credential<R: DeserializeOwned>(json: &str) -> Result<(PasskeyId, R), PasskeyRefusal> {
    if json.len() > MAX_LENGTH {
        return Err(PasskeyRefusal::Malformed("it has more than 32 KiB"));
    }
    let read: CredentialJson<R> = serde_json::from_str(json)
        .map_err(|_| PasskeyRefusal::Malformed("it is not what PublicKeyCredential.toJSON() writes"))?;
    if read.kind != "public-key" || read.id != read.raw_id {
        return Err(PasskeyRefusal::Malformed("its type is public-key, its id the same as its rawId"));
    }
    let id = PasskeyId::parse(&read.id).map_err(|_| PasskeyRefusal::Malformed("its id has 1 to 1023 bytes"))?;
    Ok((id, read.response))
}

fn decode_base64url(text: &str) -> Result<Vec<u8>, PasskeyRefusal> {
    BASE64URL_NOPAD
        .decode(text.as_bytes())
        .map_err(|_| PasskeyRefusal::Malformed("bytes are written in base64url without padding"))
}
