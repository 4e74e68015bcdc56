//! Finds problems of the signing keys before they make logins fail.

use jiff::{SignedDuration, Timestamp};

use super::rules::find_due;
use super::{StoredSigningKey, series, times};
use crate::jose::SigningAlgorithm;

/// Maximum delay of a due key: servers rotate keys every hour, and may have been stopped.
const MAX_DELAY: SignedDuration = SignedDuration::from_hours(24);

/// A problem of the keys that sign ID tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the text of each variant is its documentation")]
pub enum KeyProblem {
    #[error("no RSA key signs ID tokens, and this CPU cannot create one")]
    NoRsa,
    #[error("a key that signs ID tokens should have been replaced at {0}")]
    Overdue(Timestamp),
}

/// Returns the first problem of an installation with these ordered keys of both environments. If RSA keys can be
/// generated, a missing key is not a problem, because it is generated on demand.
#[must_use]
pub fn find_problem(keys: &[StoredSigningKey], supports_rsa: bool, now: Timestamp) -> Option<KeyProblem> {
    if !supports_rsa && !keys.iter().any(|key| key.algorithm == SigningAlgorithm::Rs256) {
        return Some(KeyProblem::NoRsa);
    }
    let mut due = series(keys).filter_map(|series| find_due(&times(series), now));
    due.find(|due| *due + MAX_DELAY < now).map(KeyProblem::Overdue)
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;
    use signpost_platform::accounts::Environment;

    use super::super::StoredPrivateKey;
    use super::super::rules::{ANNOUNCEMENT_PERIOD, LIFETIME};
    use super::*;
    use crate::jose::{PrivateKey, generate_pkcs8};

    /// Returns the rows of an environment; their key material is irrelevant here.
    fn rows(algorithm: SigningAlgorithm, active: &[Timestamp]) -> Vec<StoredSigningKey> {
        let pkcs8 = generate_pkcs8(SigningAlgorithm::Es256).unwrap();
        let key = PrivateKey::from_pkcs8(SigningAlgorithm::Es256, pkcs8.expose_secret()).unwrap();
        let row = |(number, active_from): (i64, &Timestamp)| StoredSigningKey {
            kid: number.to_string(),
            environment: Environment::Live,
            algorithm,
            number,
            private_key: StoredPrivateKey(String::new()),
            public_key: key.public().clone(),
            created_at: *active_from,
            active_from: *active_from,
        };
        (1..).zip(active).map(row).collect()
    }

    #[test]
    fn missing_rsa_support_is_reported() {
        let start = Timestamp::UNIX_EPOCH;
        assert_eq!(find_problem(&[], true, start), None);
        assert_eq!(find_problem(&[], false, start), Some(KeyProblem::NoRsa));
        assert_eq!(find_problem(&rows(SigningAlgorithm::Es256, &[start]), false, start), Some(KeyProblem::NoRsa));
        assert_eq!(find_problem(&rows(SigningAlgorithm::Rs256, &[start]), false, start), None);
    }

    #[test]
    fn overdue_key_is_reported_after_a_day() {
        let start = Timestamp::UNIX_EPOCH;
        let (due, millisecond) = (start + LIFETIME - ANNOUNCEMENT_PERIOD, SignedDuration::from_millis(1));
        let old = rows(SigningAlgorithm::Rs256, &[start]);
        assert_eq!(find_problem(&old, true, due + MAX_DELAY), None);
        assert_eq!(find_problem(&old, true, due + MAX_DELAY + millisecond), Some(KeyProblem::Overdue(due)));
        let replaced = rows(SigningAlgorithm::Rs256, &[start, due]);
        assert_eq!(find_problem(&replaced, true, due + MAX_DELAY + millisecond), None);
    }
}
