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

/// What an authenticator says about itself and the person (Web Authentication, 6.1).
pub(super) struct AuthenticatorData {
    rp_id_hash: [u8; 32],
    flags: u8,
    /// How often the passkey was used, or 0 forever.
    pub(super) sign_count: u32,
    pub(super) attested: Option<AttestedCredential>,
}

/// The passkey that was just made.
pub(super) struct AttestedCredential {
    pub(super) id: PasskeyId,
    /// Its public key as `COSE_Key`.
    pub(super) key: Map,
}

impl AuthenticatorData {
    /// Reads all of the bytes.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, PasskeyRefusal> {
        let short = || PasskeyRefusal::Malformed("authenticator data has 37 bytes and what its flags say");
        let (rp_id_hash, rest) = bytes.split_first_chunk().ok_or_else(short)?;
        let (&[flags], rest) = rest.split_first_chunk().ok_or_else(short)?;
        let (sign_count, mut rest) = rest.split_first_chunk().ok_or_else(short)?;
        let mut attested = None;
        if flags & HAS_CREDENTIAL != 0 {
            let (credential, behind) = AttestedCredential::read(rest).ok_or_else(short)?;
            (attested, rest) = (Some(credential), behind);
        }
        if flags & HAS_EXTENSIONS != 0 {
            (_, rest) = Map::read(rest).ok_or_else(short)?;
        }
        if !rest.is_empty() {
            return Err(PasskeyRefusal::Malformed("something follows the authenticator data"));
        }
        Ok(Self { rp_id_hash: *rp_id_hash, flags, sign_count: u32::from_be_bytes(*sign_count), attested })
    }

    /// Whether it is about this relying party, and a person who was verified.
    pub(super) fn check(&self, rp: &RelyingParty) -> Result<(), PasskeyRefusal> {
        let is_set = |flag| self.flags & flag != 0;
        if self.rp_id_hash[..] != Sha256::digest(rp.id())[..] {
            return Err(PasskeyRefusal::RelyingParty);
        }
        if !is_set(USER_PRESENT) {
            return Err(PasskeyRefusal::UserPresence);
        }
        if !is_set(USER_VERIFIED) {
            return Err(PasskeyRefusal::UserVerification);
        }
        if is_set(BACKED_UP) && !is_set(BACKUP_ELIGIBLE) {
            return Err(PasskeyRefusal::Backup);
        }
        Ok(())
    }
}

impl AttestedCredential {
    /// That at the start, behind 16 bytes which name the authenticator's make, and what follows.
    fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (_make, rest) = bytes.split_at_checked(16)?;
        let (length, rest) = rest.split_first_chunk()?;
        let (id, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        let (key, rest) = Map::read(rest)?;
        Some((Self { id: PasskeyId::from_bytes(id).ok()?, key }, rest))
    }
}
