//! The only source of random bytes, so that all other code takes them as arguments.

/// Returns `N` random bytes from the operating system.
///
/// # Panics
/// Panics if the operating system fails to provide random bytes.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the place that all others are sent to")]
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    bytes
}
