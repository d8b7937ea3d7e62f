//! Which symbols of a closed vocabulary may be chosen. It knows no meaning of a symbol.

use serde::{Deserialize, Serialize};

/// Symbols that a vocabulary can have.
pub const VOCABULARY_MAX: usize = 128;

/// A set of symbols: what may be chosen at a position. Written as the list of its symbols, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<u8>", into = "Vec<u8>")]
pub struct Allowed(u128);

/// A symbol that no vocabulary has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("symbol `{symbol}` is beyond the largest vocabulary, expected less than {VOCABULARY_MAX}")]
pub struct BeyondVocabulary {
    /// It.
    pub symbol: u8,
}

impl Allowed {
    /// The first `count` symbols; all when there are fewer than `count`.
    #[must_use]
    pub fn first(count: usize) -> Self {
        Self(if count >= VOCABULARY_MAX { u128::MAX } else { (1 << count) - 1 })
    }

    /// These symbols.
    ///
    /// # Errors
    /// A symbol of [`VOCABULARY_MAX`] or more.
    pub fn of(symbols: &[u8]) -> Result<Self, BeyondVocabulary> {
        let mut bits = 0;
        for symbol in symbols {
            match 1_u128.checked_shl(u32::from(*symbol)) {
                Some(bit) => bits |= bit,
                None => return Err(BeyondVocabulary { symbol: *symbol }),
            }
        }
        Ok(Self(bits))
    }

    /// Whether a symbol is in it.
    #[must_use]
    #[inline(always)]
    pub fn contains(self, symbol: usize) -> bool {
        symbol < VOCABULARY_MAX && self.0 >> symbol & 1 == 1
    }

    /// How many symbols are in it.
    #[must_use]
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The set as bits, the lowest for symbol 0.
    pub(crate) const fn bits(self) -> u128 {
        self.0
    }

    /// Whether nothing may be chosen.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The smallest vocabulary that has them all.
    #[must_use]
    pub fn span(self) -> usize {
        VOCABULARY_MAX - self.0.leading_zeros() as usize
    }

    /// The symbols, ascending.
    pub fn symbols(self) -> impl Iterator<Item = usize> {
        (0..VOCABULARY_MAX).filter(move |symbol| self.contains(*symbol))
    }
}

impl TryFrom<Vec<u8>> for Allowed {
    type Error = BeyondVocabulary;

    fn try_from(symbols: Vec<u8>) -> Result<Self, Self::Error> {
        Self::of(&symbols)
    }
}

impl From<Allowed> for Vec<u8> {
    fn from(allowed: Allowed) -> Self {
        (0..=u8::MAX).filter(|symbol| allowed.contains(usize::from(*symbol))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_was_put_in() {
        for symbols in [vec![], vec![0], vec![5, 64, 127], (0..128).collect::<Vec<u8>>()] {
            let allowed = Allowed::of(&symbols).unwrap();
            assert_eq!(allowed.len(), symbols.len());
            assert_eq!(allowed.is_empty(), symbols.is_empty());
            assert_eq!(allowed.span(), symbols.last().map_or(0, |last| usize::from(*last) + 1));
            assert_eq!(Vec::<u8>::from(allowed), symbols);
            assert_eq!(
                allowed.symbols().collect::<Vec<_>>(),
                symbols.iter().map(|s| usize::from(*s)).collect::<Vec<_>>()
            );
            let text = serde_json::to_string(&allowed).unwrap();
            assert_eq!(serde_json::from_str::<Allowed>(&text).unwrap(), allowed);
        }
        assert_eq!(Allowed::first(3), Allowed::of(&[0, 1, 2]).unwrap());
        assert_eq!(Allowed::first(128).len(), 128);
        assert!(!Allowed::first(128).contains(128));
    }

    #[test]
    fn symbols_beyond_the_vocabulary_are_refused() {
        assert_eq!(Allowed::of(&[3, 128]), Err(BeyondVocabulary { symbol: 128 }));
        assert!(serde_json::from_str::<Allowed>("[200]").is_err());
    }
}
