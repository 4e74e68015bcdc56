//! The one place where random bytes are drawn.

/// `N` random bytes from the operating system.
///
/// # Panics
/// Where the operating system has none to give.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the place that all others are sent to")]
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("a machine without randomness cannot keep a secret");
    bytes
}
