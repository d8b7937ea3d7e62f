//! The value of a number, exact.

/// A rational number: exact for everything that the two languages write, from 三分之一 to 12.5.
///
/// Always reduced, with a positive denominator, so equal values are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Number {
    numerator: i64,
    denominator: i64,
}

impl Number {
    /// The whole number `value`.
    #[must_use]
    pub fn integer(value: i64) -> Self {
        Self { numerator: value, denominator: 1 }
    }

    /// `numerator / denominator`; nothing for a denominator of 0 and for parts outside the range of `i64`.
    #[must_use]
    pub fn ratio(numerator: i64, denominator: i64) -> Option<Self> {
        Self::reduced(i128::from(numerator), i128::from(denominator))
    }

    /// The upper part of the reduced fraction; it has the sign.
    #[must_use]
    pub fn numerator(self) -> i64 {
        self.numerator
    }

    /// The lower part of the reduced fraction, at least 1.
    #[must_use]
    pub fn denominator(self) -> i64 {
        self.denominator
    }

    /// The value when it is whole.
    #[must_use]
    pub fn as_integer(self) -> Option<i64> {
        (self.denominator == 1).then_some(self.numerator)
    }

    /// The nearest floating-point value.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let (left, right) = (self.wide(), other.wide());
        Self::reduced(left.0 * right.1 + right.0 * left.1, left.1 * right.1)
    }

    pub(crate) fn times(self, other: Self) -> Option<Self> {
        let (left, right) = (self.wide(), other.wide());
        Self::reduced(left.0 * right.0, left.1 * right.1)
    }

    pub(crate) fn negated(self) -> Option<Self> {
        Some(Self { numerator: self.numerator.checked_neg()?, ..self })
    }

    /// Reads decimal digits before and after a point; at most 18 in all.
    pub(crate) fn from_digits(whole: &str, fraction: &str) -> Option<Self> {
        const DIGITS_MAX: usize = 18;
        let fraction = fraction.trim_end_matches('0');
        if whole.len() + fraction.len() > DIGITS_MAX {
            return None;
        }
        let scale = 10_i64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        Self::ratio(format!("0{whole}{fraction}").parse().ok()?, scale)
    }

    fn wide(self) -> (i128, i128) {
        (i128::from(self.numerator), i128::from(self.denominator))
    }

    fn reduced(numerator: i128, denominator: i128) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let (mut divisor, mut rest) = (numerator.unsigned_abs(), denominator.unsigned_abs());
        while rest != 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        let divisor = i128::try_from(divisor).ok()? * denominator.signum();
        Some(Self {
            numerator: (numerator / divisor).try_into().ok()?,
            denominator: (denominator / divisor).try_into().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_reduced_and_bounded() {
        assert_eq!(Number::ratio(2, -4), Number::ratio(-1, 2));
        assert_eq!(Number::ratio(1, 0), None);
        assert_eq!(Number::ratio(i64::MIN, -1), None);
        assert_eq!(Number::integer(i64::MAX).plus(Number::integer(1)), None);
        assert_eq!(Number::integer(i64::MAX).times(Number::integer(2)), None);
        assert_eq!(Number::from_digits("25", "00"), Some(Number::integer(25)));
        assert_eq!(Number::from_digits("", "125"), Number::ratio(1, 8));
        assert_eq!(Number::from_digits("1234567890123456789", ""), None);
    }
}
