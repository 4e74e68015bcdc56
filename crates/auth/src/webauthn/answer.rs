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

/// The largest answer that is read, in bytes: statements with certificates have a few thousand.
const MAX_LENGTH: usize = 32 * 1024;

/// An authenticator's new passkey, as `PublicKeyCredential.toJSON()` writes it.
#[derive(Clone, Debug)]
pub struct PasskeyRegistration {
    id: PasskeyId,
    client_data: ClientData,
    authenticator_data: Vec<u8>,
}

/// A registration that passed every check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPasskey {
    /// What the authenticator calls it.
    pub id: PasskeyId,
    /// What it will sign with.
    pub key: PasskeyKey,
    /// How often it was used, or 0 from authenticators that do not count.
    pub sign_count: u32,
    /// As the authenticator wrote it.
    pub authenticator_data: Vec<u8>,
    /// As the browser wrote it.
    pub client_data_json: Vec<u8>,
}

/// A login by passkey, as `PublicKeyCredential.toJSON()` writes it.
#[derive(Clone, Debug)]
pub struct PasskeyAssertion {
    id: PasskeyId,
    user_handle: Option<PasskeyHandle>,
    client_data: ClientData,
    authenticator_data: Vec<u8>,
    signature: Vec<u8>,
}

/// A login by passkey that passed every check. Anybody can repeat the check of the signature with the public key: signed
/// are the authenticator's data and the SHA-256 of the client data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssertedPasskey {
    /// How often the passkey was used, or 0 from authenticators that do not count. Synchronised passkeys do not.
    pub sign_count: u32,
    /// As it was sent: DER of an ES256 key, the bare number of an RS256 key.
    pub signature: Vec<u8>,
    /// As the authenticator wrote it.
    pub authenticator_data: Vec<u8>,
    /// As the browser wrote it.
    pub client_data_json: Vec<u8>,
}

impl PasskeyRegistration {
    /// Reads a `RegistrationResponseJSON` (Web Authentication, 5.1). Members that it does not need are left alone.
    ///
    /// # Errors
    /// [`PasskeyRefusal::Malformed`], and [`PasskeyRefusal::Attestation`] for a statement where there is none.
    pub fn parse(json: &str) -> Result<Self, PasskeyRefusal> {
        let (id, response) = parts::<RegistrationParts>(json)?;
        let (mut attestation, rest) = Map::read(&bytes(&response.attestation_object)?)
            .map(|(map, rest)| (map, rest.len()))
            .ok_or(PasskeyRefusal::Malformed("the attestation is not a map in CBOR"))?;
        if rest != 0 {
            return Err(PasskeyRefusal::Malformed("something follows the attestation"));
        }
        let format = attestation.take("fmt").and_then(|value| value.into_text().ok());
        let statement = attestation.take("attStmt").and_then(Map::of);
        let data = attestation.take("authData").and_then(|value| value.into_bytes().ok());
        let (Some(format), Some(statement), Some(authenticator_data)) = (format, statement, data) else {
            return Err(PasskeyRefusal::Malformed("the attestation lacks fmt, attStmt or authData"));
        };
        // Other formats say who made the authenticator. Nobody asked, so nobody believes it.
        if format == "none" && !statement.is_empty() {
            return Err(PasskeyRefusal::Attestation);
        }
        Ok(Self { id, client_data: ClientData::parse(bytes(&response.client_data)?)?, authenticator_data })
    }

    /// The new passkey, if this relying party's page asked for it with this challenge and the person was verified.
    ///
    /// # Errors
    /// The first check that fails.
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
    /// Reads an `AuthenticationResponseJSON` (Web Authentication, 5.1). Members that it does not need are left alone.
    ///
    /// # Errors
    /// [`PasskeyRefusal::Malformed`].
    pub fn parse(json: &str) -> Result<Self, PasskeyRefusal> {
        let (id, response) = parts::<AssertionParts>(json)?;
        // Authenticators that have nothing to say about the user send nothing, null or no bytes.
        let handle = response.user_handle.filter(|text| !text.is_empty());
        let user_handle = handle.map(|text| PasskeyHandle::parse(&text)).transpose();
        Ok(Self {
            id,
            user_handle: user_handle.map_err(|_| PasskeyRefusal::Malformed("userHandle is not one of this server"))?,
            client_data: ClientData::parse(bytes(&response.client_data)?)?,
            authenticator_data: bytes(&response.authenticator_data)?,
            signature: bytes(&response.signature)?,
        })
    }

    /// Which passkey this is said to be: its key is looked up by it.
    #[must_use]
    pub fn id(&self) -> &PasskeyId {
        &self.id
    }

    /// Whose passkey the authenticator says it is. It is not signed.
    #[must_use]
    pub fn user_handle(&self) -> Option<&PasskeyHandle> {
        self.user_handle.as_ref()
    }

    /// What the answer proves, if this relying party's page asked for it with this challenge, the person was verified
    /// and `key` signed it.
    ///
    /// # Errors
    /// The first check that fails.
    pub fn verify(
        &self,
        rp: &RelyingParty,
        challenge: &[u8; 32],
        key: &PasskeyKey,
    ) -> Result<AssertedPasskey, PasskeyRefusal> {
        self.client_data.check(Ceremony::Get, rp, challenge)?;
        let data = AuthenticatorData::parse(&self.authenticator_data)?;
        data.check(rp)?;
        if !key.signed(&self.client_data.signed_with(&self.authenticator_data), &self.signature) {
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

fn parts<R: DeserializeOwned>(json: &str) -> Result<(PasskeyId, R), PasskeyRefusal> {
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

fn bytes(text: &str) -> Result<Vec<u8>, PasskeyRefusal> {
    let decoded = BASE64URL_NOPAD.decode(text.as_bytes());
    decoded.map_err(|_| PasskeyRefusal::Malformed("bytes are written in base64url without padding"))
}
