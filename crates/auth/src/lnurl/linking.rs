//! Derives the keys that a wallet uses for logins by Lightning wallet, a separate key for each host
//! (LUD-05).

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use secp256k1::{Message, Scalar, SecretKey};
use sha2::{Sha256, Sha512};

use super::k1::K1;
use crate::wallet::{InvalidSecretKey, Wallet};

/// The first index of hardened children, which are derived from the secret key instead of the
/// public key.
const HARDENED: u32 = 1 << 31;
/// The index of the branch for LNURL-auth (LUD-05).
const BRANCH: u32 = HARDENED + 138;

/// An extended private key (BIP-32).
struct ExtendedKey {
    secret: SecretKey,
    chain_code: [u8; 32],
}

impl ExtendedKey {
    /// Derives the root key from a seed.
    fn master(seed: &[u8]) -> Result<Self, InvalidSecretKey> {
        Self::from_halves(hmac_sha512(b"Bitcoin seed", &[seed]), |bytes| SecretKey::from_secret_bytes(bytes).ok())
    }

    fn child(&self, index: u32) -> Result<Self, InvalidSecretKey> {
        let number = index.to_be_bytes();
        let halves = if index >= HARDENED {
            hmac_sha512(&self.chain_code, &[&[0], &self.secret.to_secret_bytes(), &number])
        } else {
            hmac_sha512(&self.chain_code, &[&self.secret.public_key().serialize(), &number])
        };
        Self::from_halves(halves, |bytes| self.secret.add_tweak(&Scalar::from_be_bytes(bytes).ok()?).ok())
    }

    fn from_halves(
        halves: [u8; 64],
        secret: impl FnOnce([u8; 32]) -> Option<SecretKey>,
    ) -> Result<Self, InvalidSecretKey> {
        let left = std::array::from_fn(|index| halves[index]);
        let right = std::array::from_fn(|index| halves[32 + index]);
        // This happens with a probability of 2⁻¹²⁷.
        Ok(Self { secret: secret(left).ok_or(InvalidSecretKey)?, chain_code: right })
    }

    /// Derives the key for a host. `self` must be the key of the LNURL-auth branch.
    fn linking_key(&self, host: &str) -> Result<Wallet, InvalidSecretKey> {
        let mut key = Self { secret: self.secret, chain_code: self.chain_code };
        for index in path(&self.child(0)?.secret.to_secret_bytes(), host) {
            key = key.child(index)?;
        }
        Wallet::from_bytes(key.secret.to_secret_bytes())
    }
}

impl Wallet {
    /// Signs the 32 bytes of a Lightning login without hashing them. Returns DER in lower-case hex,
    /// with a low `s`.
    #[must_use]
    pub fn sign_k1(&self, k1: K1) -> String {
        HEXLOWER.encode(&self.key().sign_ecdsa(Message::from_digest(k1.0)).serialize_der())
    }

    /// Derives this wallet's key for Lightning logins at a host (LUD-05), with the secret key as
    /// the seed. `host` is a name without a port; case and a trailing dot are ignored. The keys for
    /// two hosts cannot be linked to each other.
    ///
    /// # Errors
    /// Returns [`InvalidSecretKey`] if no key exists for the host, with a probability of 2⁻¹²⁵.
    pub fn linking_key(&self, host: &str) -> Result<Self, InvalidSecretKey> {
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        ExtendedKey::master(&self.key().to_secret_bytes())?.child(BRANCH)?.linking_key(&host)
    }
}

/// Returns the derivation path of a host: the first four numbers of a keyed hash of the host.
fn path(hashing_key: &[u8; 32], host: &str) -> [u32; 4] {
    let mut mac = Hmac::<Sha256>::new_from_slice(hashing_key).expect("HMAC takes keys of any length");
    mac.update(host.as_bytes());
    let hash = mac.finalize().into_bytes();
    let mut numbers = hash.chunks_exact(4).map(|bytes| u32::from_be_bytes(bytes.try_into().expect("four bytes")));
    std::array::from_fn(|_| numbers.next().expect("32 bytes are eight numbers"))
}

fn hmac_sha512(key: &[u8], parts: &[&[u8]]) -> [u8; 64] {
    let mut mac = Hmac::<Sha512>::new_from_slice(key).expect("HMAC takes keys of any length");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivation_path_matches_lud_05() {
        let hashing_key = HEXLOWER.decode(b"7d417a6a5e9a6a4a879aeaba11a11838764c8fa2b959c242d43dea682b3e409b").unwrap();
        let path = path(&hashing_key.try_into().unwrap(), "site.com");
        assert_eq!(path, [1_588_488_367, 2_659_270_754, 38_110_259, 4_136_336_762]);
    }

    #[test]
    fn key_and_signature_match_other_wallets() {
        // This is the result of LDK Node and of vss-client, whose branch is the root of this tree.
        let key = ExtendedKey::master(&[0xab; 32]).unwrap().linking_key("example.com").unwrap();
        assert_eq!(key.public_key().canonical(), "02d9eb1b467517d685e3b5439082c14bb1a2c9ae672df4d9046d208c193a5846e0");
        let k1 = "e2af6254a8df433264fa23f67eb8188635d15ce883e8fc020989d5f82ae6f11e".parse().unwrap();
        assert_eq!(
            key.sign_k1(k1),
            "3045022100a75df468de452e618edb8030016eb0894204655c7d93ece1be007fcf36843522\
             022048bc2f00a0a5a30601d274b49cfaf9ef4c76176e5401d0dfb195f5d6ab8ab4c4"
        );
    }

    #[test]
    fn host_spellings_share_one_key() {
        let wallet = Wallet::from_bytes([7; 32]).unwrap();
        let key = |host: &str| wallet.linking_key(host).unwrap().public_key().canonical();
        assert_eq!(key("Login.Example.com."), key("login.example.com"));
        assert_ne!(key("login.example.com"), key("example.com"));
        assert_ne!(key("example.com"), wallet.public_key().canonical());
    }
}
