//! Parses authenticator data (Web Authentication, section 6.1).

use sha2::{Digest, Sha256};

use super::cbor::Map;
use super::identifier::PasskeyId;
use super::refusal::PasskeyRefusal;
use super::relying_party::RelyingParty;

const USER_PRESENT: u8 = 1;
const USER_VERIFIED: u8 = 1 << 2;
const BACKUP_ELIGIBLE: u8 = 1 << 3;
const BACKED_UP: u8 = 1 << 4;
const HAS_CREDENTIAL: u8 = 1 << 6;
const HAS_EXTENSIONS: u8 = 1 << 7;

/// The parsed authenticator data (Web Authentication, section 6.1).
pub(super) struct AuthenticatorData {
    rp_id_hash: [u8; 32],
    flags: u8,
    /// The signature counter, or 0 if the authenticator has none.
    pub(super) sign_count: u32,
    pub(super) attested: Option<AttestedCredential>,
}

/// The attested credential data: the credential of a new passkey.
pub(super) struct AttestedCredential {
    pub(super) id: PasskeyId,
    /// The public key of the credential as a `COSE_Key` map.
    pub(super) key: Map,
}

impl AuthenticatorData {
    /// Parses authenticator data. Trailing bytes are an error.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, PasskeyRefusal> {
        let Some((data, rest)) = Self::read(bytes) else {
            return Err(PasskeyRefusal::Malformed("authenticator data has 37 bytes and what its flags say"));
        };
        if !rest.is_empty() {
            return Err(PasskeyRefusal::Malformed("something follows the authenticator data"));
        }
        Ok(data)
    }

    /// Checks that the data belongs to this relying party, and that the user was verified.
    pub(super) fn check(&self, rp: &RelyingParty) -> Result<(), PasskeyRefusal> {
        if self.rp_id_hash[..] != Sha256::digest(rp.id())[..] {
            return Err(PasskeyRefusal::RelyingParty);
        }
        if !self.has_flag(USER_PRESENT) {
            return Err(PasskeyRefusal::UserPresence);
        }
        if !self.has_flag(USER_VERIFIED) {
            return Err(PasskeyRefusal::UserVerification);
        }
        if self.has_flag(BACKED_UP) && !self.has_flag(BACKUP_ELIGIBLE) {
            return Err(PasskeyRefusal::Backup);
        }
        Ok(())
    }

    /// Parses authenticator data at the start of `bytes`. Returns it with the remaining bytes.
    fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (&rp_id_hash, rest) = bytes.split_first_chunk()?;
        let (&flags, rest) = rest.split_first()?;
        let (&sign_count, mut rest) = rest.split_first_chunk()?;
        let mut data = Self { rp_id_hash, flags, sign_count: u32::from_be_bytes(sign_count), attested: None };
        if data.has_flag(HAS_CREDENTIAL) {
            let (credential, after) = AttestedCredential::read(rest)?;
            data.attested = Some(credential);
            rest = after;
        }
        if data.has_flag(HAS_EXTENSIONS) {
            (_, rest) = Map::read(rest)?;
        }
        Some((data, rest))
    }

    fn has_flag(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

impl AttestedCredential {
    /// Parses a credential at the start of `bytes`. Returns it with the remaining bytes. The first
    /// 16 bytes (AAGUID) identify the model of the authenticator and are ignored.
    fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (_aaguid, rest) = bytes.split_at_checked(16)?;
        let (length, rest) = rest.split_first_chunk()?;
        let (id, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        let (key, rest) = Map::read(rest)?;
        Some((Self { id: PasskeyId::from_bytes(id).ok()?, key }, rest))
    }
}
