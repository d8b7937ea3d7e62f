//! Mean, deviation and spread of a few numbers. It knows not what they measure.

/// Numbers that lie within this of each other are equal. Decided on greatest less least in f64: a deviation of equal numbers is rarely zero by itself.
pub const SPREAD_MAX: f64 = 1e-9;

/// What is said of a handful of finite numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moments {
    /// Their mean.
    pub(crate) mean: f64,
    /// Their population deviation (divided by n, not n - 1); exactly 0 when they are all equal.
    ///
    /// The floor of equation (8) is the population deviation of a coin; with n - 1 the two would not meet where the floor starts to bind.
    pub(crate) deviation: f64,
    /// Greatest less least.
    pub(crate) spread: f64,
}

impl Moments {
    /// Of at least one number; `None` of none.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let count = values.len() as f64;
        let (least, greatest) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), value| {
            (least.min(*value), greatest.max(*value))
        });
        let spread = greatest - least;
        let mean = values.iter().sum::<f64>() / count;
        let deviation = if spread <= SPREAD_MAX {
            0.0
        } else {
            (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt()
        };
        Some(Self { mean, deviation, spread })
    }

    /// Whether the numbers do not differ.
    pub(crate) fn all_equal(&self) -> bool {
        self.spread <= SPREAD_MAX
    }
}
