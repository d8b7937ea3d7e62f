//! Numbers within bounds, a digit at a time. Values are counted in units of the last fraction digit, so that no rounding enters.

/// Digits before the point that are written at most.
const WHOLE_DIGITS_MAX: u32 = 12;
/// Digits after the point that a number which is not an integer may have.
pub(super) const FRACTION_DIGITS: u32 = 3;

/// Which numbers are allowed: `least` to `most`, in units of 10^-`fraction`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NumberRule {
    pub(super) least: i128,
    pub(super) most: i128,
    /// Digits after the point; 0 for integers.
    pub(super) fraction: u32,
}

/// A number that is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Digits {
    negative: bool,
    /// All digits so far as one number.
    value: u64,
    whole: u32,
    /// Digits after the point and one for the point itself.
    after: u32,
}

fn power(exponent: u32) -> i128 {
    10_i128.pow(exponent)
}

impl NumberRule {
    /// The bounds that hold where a schema gives none.
    pub(super) fn unbounded(fraction: u32) -> Self {
        let most = power(WHOLE_DIGITS_MAX) * power(fraction) - 1;
        Self { least: -most, most, fraction }
    }

    /// Magnitudes of the numbers with this sign.
    fn magnitudes(self, negative: bool) -> (i128, i128) {
        if negative { ((-self.most).max(1), -self.least) } else { (self.least.max(0), self.most) }
    }

    /// Whether the rule allows any number.
    pub(super) fn is_possible(self) -> bool {
        self.shortest(Digits::default()).is_some()
    }

    /// The digits after `byte`, if they can still become an allowed number.
    pub(super) fn step(self, digits: Digits, byte: u8) -> Option<Digits> {
        let mut next = digits;
        match byte {
            b'-' if digits == Digits::default() => next.negative = true,
            b'.' if self.fraction > 0 && digits.whole > 0 && digits.after == 0 => next.after = 1,
            b'0'..=b'9' if digits.after > 0 => {
                next.after += 1;
                next.value = digits.value * 10 + u64::from(byte - b'0');
            }
            // No leading zero.
            b'0'..=b'9' if digits.whole == 0 || digits.value > 0 => {
                next.whole += 1;
                next.value = digits.value * 10 + u64::from(byte - b'0');
            }
            _ => return None,
        }
        let within = next.whole <= WHOLE_DIGITS_MAX && next.after <= self.fraction + 1;
        (within && self.shortest(next).is_some()).then_some(next)
    }

    /// The fewest bytes that complete the number; 0 when it is allowed as it stands.
    pub(super) fn shortest(self, digits: Digits) -> Option<u32> {
        let unsigned = self.shortest_unsigned(digits);
        if digits != Digits::default() {
            return unsigned;
        }
        let signed = self.shortest_unsigned(Digits { negative: true, ..digits }).map(|more| more + 1);
        unsigned.into_iter().chain(signed).min()
    }

    fn shortest_unsigned(self, digits: Digits) -> Option<u32> {
        let (least, most) = self.magnitudes(digits.negative);
        if least > most {
            return None;
        }
        // Whether some value of `low..high` steps of `unit` lies in the bounds.
        let meets = |low: i128, high: i128, unit: i128| {
            (low * unit).max(least.div_ceil_to(unit)) <= ((high - 1) * unit).min(most)
        };
        let value = i128::from(digits.value);
        if digits.after > 0 {
            let written = digits.after - 1;
            let first = u32::from(written == 0);
            return (first..=self.fraction.saturating_sub(written)).find(|more| {
                let unit = power(self.fraction - written - more);
                meets(value * power(*more), (value + 1) * power(*more), unit)
            });
        }
        let none_yet = digits.whole == 0;
        let more_max =
            if digits.value == 0 && !none_yet { 0 } else { WHOLE_DIGITS_MAX - digits.whole.min(WHOLE_DIGITS_MAX) };
        let whole = (u32::from(none_yet)..=more_max).find(|more| {
            // A number that starts now has no leading zero, unless it is zero.
            let low = if none_yet && *more > 1 { power(more - 1) } else { value * power(*more) };
            meets(low, (value + 1) * power(*more), power(self.fraction))
        });
        let fraction = |whole_more: u32| {
            (1..=self.fraction).find(|more| {
                let scale = power(whole_more + more);
                let low = if none_yet && whole_more > 1 { power(whole_more - 1 + more) } else { value * scale };
                meets(low, (value + 1) * scale, power(self.fraction - more))
            })
        };
        let pointed = (u32::from(none_yet)..=more_max).find_map(|more| fraction(more).map(|after| more + 1 + after));
        whole.into_iter().chain(pointed).min()
    }
}

trait CeilTo {
    fn div_ceil_to(self, unit: Self) -> Self;
}

impl CeilTo for i128 {
    /// The smallest multiple of `unit` that is not below a number that is not negative.
    fn div_ceil_to(self, unit: Self) -> Self {
        (self + unit - 1) / unit * unit
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn accepts(rule: NumberRule, text: &str) -> bool {
        let digits = text.bytes().try_fold(Digits::default(), |digits, byte| rule.step(digits, byte));
        digits.is_some_and(|digits| rule.shortest(digits) == Some(0))
    }

    #[test]
    fn integers_within_bounds_and_no_others_are_accepted() {
        for (least, most) in [(0, 23), (5, 720), (-100, 100), (80, 200), (1, 1), (-7, -3), (0, 0), (99, 101)] {
            let rule = NumberRule { least, most, fraction: 0 };
            for value in -1100..1100 {
                assert_eq!(
                    accepts(rule, &value.to_string()),
                    (least..=most).contains(&value),
                    "{value} in {least}..={most}"
                );
            }
            for text in ["", "-", "-0", "007", "1.0", "+1", "1e1"] {
                assert!(!accepts(rule, text), "`{text}` in {least}..={most}");
            }
        }
        assert!(!NumberRule { least: 5, most: 4, fraction: 0 }.is_possible());
    }

    #[test]
    fn fractions_within_bounds_are_accepted() {
        let rule = NumberRule { least: 500, most: 1250, fraction: 3 };
        for (text, expected) in [
            ("0.5", true),
            ("0.499", false),
            ("1", true),
            ("1.25", true),
            ("1.251", false),
            ("0.", false),
            ("1.0000", false),
            ("0", false),
        ] {
            assert_eq!(accepts(rule, text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_shortest_way_leads_to_an_allowed_number(least in -5000_i128..5000, width in 0_i128..300, fraction in 0_u32..=3, choices in proptest::collection::vec(any::<u8>(), 0..6)) {
            let rule = NumberRule { least, most: least + width, fraction };
            prop_assume!(rule.is_possible());
            let mut digits = Digits::default();
            let bytes = |digits: Digits| b"-.0123456789".iter().filter_map(move |byte| rule.step(digits, *byte)).collect::<Vec<_>>();
            for choice in choices {
                let next = bytes(digits);
                if next.is_empty() {
                    break;
                }
                digits = next[usize::from(choice) % next.len()];
            }
            while let Some(before @ 1..) = rule.shortest(digits) {
                digits = *bytes(digits).iter().min_by_key(|next| rule.shortest(**next)).unwrap();
                prop_assert_eq!(rule.shortest(digits), Some(before - 1));
            }
            prop_assert_eq!(rule.shortest(digits), Some(0));
        }
    }
}
