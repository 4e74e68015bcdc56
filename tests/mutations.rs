//! Random and malicious mutations of real texts; the test suites of several crates include this file by its path.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Pseudo-random numbers (xorshift64*).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns a number from 0 to below `most`.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(high).unwrap() % most.max(1)
    }
}

/// Applies up to four mutations to a text of the corpus.
pub(crate) fn mutated(random: &mut Random, corpus: &[Vec<u8>], tokens: &[&str]) -> Vec<u8> {
    let mut body = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(4) {
        let (from, to) = (random.below(body.len() + 1), random.below(body.len() + 1));
        let (start, end) = (from.min(to), from.max(to));
        match random.below(6) {
            0 => drop(body.drain(start..end.min(start + 16))),
            1 => drop(body.splice(start..start, tokens[random.below(tokens.len())].bytes())),
            2 => body.iter_mut().skip(start).take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
            3 => body.extend_from_within(start..end.min(start + 64)),
            4 => body.truncate(end),
            _ => {
                let other = &corpus[random.below(corpus.len())];
                let cut = random.below(other.len() + 1);
                body.truncate(start);
                body.extend_from_slice(&other[cut..]);
            }
        }
    }
    body
}

/// Returns a new seed for each run.
pub(crate) fn seed() -> u64 {
    RandomState::new().build_hasher().finish() | 1
}
