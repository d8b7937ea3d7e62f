//! Quantiles and bounds against published tables, and intervals against their own definitions.

use proptest::prelude::*;

use super::distribution::{beta_lower, normal_upper, t_tail, t_upper};
use super::*;

fn level(confidence: f64) -> Level {
    Level::new(confidence).unwrap()
}

fn binomial(successes: u64, trials: u64) -> Binomial {
    Binomial::new(successes, trials).unwrap()
}

fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "found {found}, expected {expected}");
}

/// The table of Student's t as it is printed in textbooks: one-sided 0.95, 0.975 and 0.995.
#[test]
fn t_quantiles_are_those_of_the_table() {
    for (freedom, expected) in [
        (1.0, [6.314, 12.706, 63.657]),
        (2.0, [2.920, 4.303, 9.925]),
        (3.0, [2.353, 3.182, 5.841]),
        (4.0, [2.132, 2.776, 4.604]),
        (5.0, [2.015, 2.571, 4.032]),
        (9.0, [1.833, 2.262, 3.250]),
        (10.0, [1.812, 2.228, 3.169]),
        (20.0, [1.725, 2.086, 2.845]),
        (30.0, [1.697, 2.042, 2.750]),
        (60.0, [1.671, 2.000, 2.660]),
        (120.0, [1.658, 1.980, 2.617]),
    ] {
        for (tail, expected) in [0.05, 0.025, 0.005].into_iter().zip(expected) {
            near(t_upper(tail, freedom), expected, 5.1e-4);
        }
    }
}

/// One and two degrees of freedom have closed forms: tan(pi (1/2 - q)) and (1 - 2q) / sqrt(2q (1 - q)).
#[test]
fn t_quantiles_of_one_and_two_degrees_are_exact() {
    for tail in [0.5, 0.4, 0.1, 0.025, 1e-3, 5e-7] {
        let one = (std::f64::consts::PI * (0.5 - tail)).tan();
        near(t_upper(tail, 1.0) / (1.0 + one), one / (1.0 + one), 1e-9);
        let two = (1.0 - 2.0 * tail) / (2.0 * tail * (1.0 - tail)).sqrt();
        near(t_upper(tail, 2.0) / (1.0 + two), two / (1.0 + two), 1e-9);
    }
}

/// With many degrees t is normal, up to (z^3 + z) / (4 n) + (5 z^5 + 16 z^3 + 3 z) / (96 n^2) and what is smaller.
#[test]
fn t_quantiles_of_many_degrees_are_normal() {
    let z = normal_upper(0.025);
    for freedom in [999.0, 9_999.0, 99_999.0, 999_999.0] {
        let first = (z.powi(3) + z) / (4.0 * freedom);
        let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * freedom * freedom);
        near(t_upper(0.025, freedom), z + first + second, 1e-8);
    }
}

#[test]
fn normal_quantiles_are_those_of_the_table() {
    for (tail, expected) in [(0.5, 0.0), (0.1, 1.281_552), (0.05, 1.644_854), (0.025, 1.959_964), (0.005, 2.575_829)] {
        near(normal_upper(tail), expected, 5e-7);
    }
}

proptest! {
    #[test]
    fn t_quantiles_invert_the_tail(tail in 1e-6..0.5, freedom in 1u32..2_000) {
        let freedom = f64::from(freedom);
        let back = t_tail(t_upper(tail, freedom), freedom);
        prop_assert!((back - tail).abs() <= 1e-9 * tail.max(1e-3), "{} {}", back, tail);
    }

    /// The exact bound is where the binomial tail, added up term by term, has the chance that it should have.
    #[test]
    fn the_exact_bound_inverts_the_binomial_tail(trials in 1u64..400, part in 0.0..=1.0f64, confidence in 0.5..0.999) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a small count")]
        let successes = ((part * trials as f64).round() as u64).max(1);
        let rate = binomial(successes, trials).clopper_pearson_lower(level(confidence));
        near(tail_by_sum(successes, trials, rate), 1.0 - confidence, 1e-8);
    }

    #[test]
    fn bounds_lie_below_the_rate_and_tighten_with_trials(trials in 1u64..500, part in 0.0..=1.0f64, confidence in 0.6..0.99) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a small count")]
        let successes = (part * trials as f64).round() as u64;
        let (few, many) = (binomial(successes, trials), binomial(successes * 10, trials * 10));
        let level = level(confidence);
        for (few_low, many_low) in [
            (few.wilson_lower(level), many.wilson_lower(level)),
            (few.clopper_pearson_lower(level), many.clopper_pearson_lower(level)),
        ] {
            prop_assert!((0.0..=few.rate() + 1e-12).contains(&few_low));
            prop_assert!(few_low <= many_low + 1e-9);
        }
        for interval in [few.wilson(level), few.clopper_pearson(level)] {
            prop_assert!(interval.low <= few.rate() + 1e-12 && few.rate() <= interval.high + 1e-12);
        }
        prop_assert!(few.clopper_pearson(level).low <= few.clopper_pearson_lower(level));
    }

    #[test]
    fn paired_intervals_move_with_the_numbers(differences in proptest::collection::vec(-10.0..10.0, 2..30), shift in -5.0..5.0f64) {
        let interval = |values: Vec<f64>| Paired::new(values).unwrap().interval(level(0.95));
        let (here, there) = (interval(differences.clone()), interval(differences.iter().map(|value| value + shift).collect()));
        prop_assert!((there.low - here.low - shift).abs() < 1e-7 && (there.high - here.high - shift).abs() < 1e-7);
        let narrow = Paired::new(differences.clone()).unwrap().interval(level(0.8));
        prop_assert!(here.low <= narrow.low && narrow.high <= here.high);
    }

    /// Two one-sided tests at 95 % accept exactly when the 90 % interval lies within the margin.
    #[test]
    fn equivalence_is_the_interval_within_the_margin(differences in proptest::collection::vec(-1.0..1.0, 2..12), margin in 0.01..2.0f64) {
        let paired = Paired::new(differences).unwrap();
        let interval = paired.interval(level(0.9));
        prop_assume!((interval.low + margin).abs() > 1e-6 && (interval.high - margin).abs() > 1e-6);
        let found = paired.equivalence(margin, level(0.95)).unwrap();
        prop_assert_eq!(found.equivalent, interval.low > -margin && interval.high < margin);
    }
}

/// P(X >= successes), by adding up the terms.
fn tail_by_sum(successes: u64, trials: u64, rate: f64) -> f64 {
    let mut ln_choose = 0.0;
    let mut tail = 0.0;
    for count in 0..=trials {
        if count > 0 {
            ln_choose += ((trials - count + 1) as f64).ln() - (count as f64).ln();
        }
        if count >= successes {
            tail += (ln_choose + count as f64 * rate.ln() + (trials - count) as f64 * (1.0 - rate).ln()).exp();
        }
    }
    tail
}

/// Exact intervals as published: 0, 1 and 5 of 10 at 95 %, and "the rule of three" made exact.
#[test]
fn exact_intervals_are_those_of_the_table() {
    for (successes, low, high) in [(0, 0.0, 0.3085), (1, 0.0025, 0.4450), (5, 0.1871, 0.8129), (10, 0.6915, 1.0)] {
        let found = binomial(successes, 10).clopper_pearson(level(0.95));
        near(found.low, low, 5e-5);
        near(found.high, high, 5e-5);
    }
    // All of n: the one-sided bound is (1 - confidence)^(1/n).
    for trials in [1, 2, 59, 1_000, TRIALS_MAX] {
        near(binomial(trials, trials).clopper_pearson_lower(level(0.95)), 0.05f64.powf(1.0 / trials as f64), 1e-10);
    }
}

/// Wilson's interval as published: 8 of 10, and 81 of 263 (Newcombe 1998, table I), at 95 %.
#[test]
fn score_intervals_are_those_of_the_table() {
    for (successes, trials, low, high) in [(8, 10, 0.4902, 0.9433), (81, 263, 0.2553, 0.3662), (0, 20, 0.0, 0.1611)] {
        let found = binomial(successes, trials).wilson(level(0.95));
        near(found.low, low, 5e-5);
        near(found.high, high, 5e-5);
    }
    near(binomial(81, 263).clopper_pearson(level(0.95)).low, 0.2527, 5e-5);
    near(binomial(81, 263).clopper_pearson(level(0.95)).high, 0.3676, 5e-5);
}

/// Up to the greatest number of trials, the incomplete beta function still converges.
#[test]
fn the_exact_bound_holds_up_to_the_most_trials() {
    for rate in [0.001, 0.3, 0.5, 0.9, 0.999] {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a count")]
        let successes = (rate * TRIALS_MAX as f64) as u64;
        let low = binomial(successes, TRIALS_MAX).clopper_pearson_lower(level(0.95));
        near(tail_by_sum(successes, TRIALS_MAX, low), 0.05, 1e-6);
    }
    near(beta_lower(0.5, 3.0, 3.0), 0.5, 1e-12);
}

/// Student's own example: hours of sleep gained with one drug over the other.
#[test]
fn students_sleep_data() {
    let gains = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
    let paired = Paired::new(gains.to_vec()).unwrap();
    near(paired.mean(), 1.58, 1e-12);
    near(paired.mean() / paired.standard_error(), 4.0621, 5e-5);
    let interval = paired.interval(level(0.95));
    near(interval.low, 0.7001, 5e-5);
    near(interval.high, 2.4599, 5e-5);
    assert!(!interval.contains(0.0) && interval.contains(1.0));
    // Above a margin of 1 they are not the same, within one of 3 they are.
    assert!(!paired.equivalence(1.0, level(0.95)).unwrap().equivalent);
    let same = paired.equivalence(3.0, level(0.95)).unwrap();
    assert!(same.equivalent);
    // t = (3 - 1.58) / 0.38896 = 3.651 with 9 degrees: between the table's 0.005 (3.250) and 0.0025 (3.690).
    assert!((0.0025..0.005).contains(&same.p_below_high), "{same:?}");
}

#[test]
fn without_deviation_luck_has_no_part() {
    let paired = Paired::new(vec![0.25; 3]).unwrap();
    assert_eq!(paired.interval(level(0.95)), Interval { low: 0.25, high: 0.25 });
    for (margin, expected) in [(0.5, true), (0.25, false), (0.1, false)] {
        assert_eq!(paired.equivalence(margin, level(0.95)).unwrap().equivalent, expected, "{margin}");
    }
    for found in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(paired.equivalence(found, level(0.95)).is_err());
    }
}

/// With many pairs the bootstrap comes to the interval of the normal law; the same seed gives the same bits, another one others.
#[test]
fn the_paired_bootstrap_agrees_with_the_normal_law() {
    let differences: Vec<f64> = (0..400).map(|index| f64::from(index * 37 % 101) / 100.0).collect();
    let paired = Paired::new(differences).unwrap();
    let resampling = |seed| Resampling::new(2_000, seed).unwrap();
    let found = paired.bootstrap(level(0.95), resampling(1));
    let expected = paired.interval(level(0.95));
    near(found.low, expected.low, 0.15 * (expected.high - expected.low));
    near(found.high, expected.high, 0.15 * (expected.high - expected.low));
    assert_eq!(found, paired.bootstrap(level(0.95), resampling(1)));
    assert_ne!(found, paired.bootstrap(level(0.95), resampling(2)));
}

/// What is drawn does not depend on what is drawn from: scaled numbers give scaled intervals.
#[test]
fn draws_are_blind_to_content() {
    let numbers = [0.25, 0.5, 0.75, 2.0, 4.0];
    let interval = |scale: f64| {
        let paired = Paired::new(numbers.iter().map(|number| number * scale).collect()).unwrap();
        paired.bootstrap(level(0.9), Resampling::new(500, 3).unwrap())
    };
    let (one, eight) = (interval(1.0), interval(-8.0));
    // Powers of two scale without rounding; a negative one swaps the ends, up to the place between two resamples.
    near(eight.low, one.high * -8.0, 1e-9);
    near(eight.high, one.low * -8.0, 1e-9);
}

/// Numbers that are alike within a cluster are worth one number each, whatever their count.
#[test]
fn clusters_are_drawn_whole() {
    let clusters: Vec<Vec<f64>> = (0..10).map(|cluster| vec![f64::from(cluster % 2); 50]).collect();
    let resampling = Resampling::new(4_000, 5).unwrap();
    let by_cluster = Clusters::new(&clusters).unwrap();
    near(by_cluster.mean(), 0.5, 1e-12);
    let wide = by_cluster.bootstrap(level(0.95), resampling);
    let narrow = Paired::new(clusters.concat()).unwrap().bootstrap(level(0.95), Resampling::new(400, 5).unwrap());
    // sqrt(50) = 7 times as wide.
    let ratio = (wide.high - wide.low) / (narrow.high - narrow.low);
    assert!((5.0..9.0).contains(&ratio), "{ratio}");
    // Means of ten coins: 2.5 % and 97.5 % of the binomial are 2 and 8 of 10.
    assert_eq!((wide.low, wide.high), (0.2, 0.8));
    // A cluster counts by its size.
    near(Clusters::new(&[vec![0.0; 3], vec![1.0]]).unwrap().mean(), 0.25, 1e-12);
}

#[test]
fn what_cannot_be_estimated_is_refused() {
    let count = |error: EstimateError| matches!(error, EstimateError::Count { .. });
    assert!(count(Paired::new(vec![1.0]).unwrap_err()));
    assert_eq!(Paired::between(&[1.0], &[]), Err(EstimateError::Unpaired { left: 1, right: 0 }));
    for found in [f64::NAN, f64::INFINITY, SIZE_MAX * 1.01] {
        assert!(matches!(Paired::new(vec![0.0, found]), Err(EstimateError::NotFinite { index: 1, .. })));
    }
    #[expect(clippy::cast_possible_truncation, reason = "a limit that fits")]
    let many = PAIRS_MAX as usize + 1;
    assert!(count(Paired::new(vec![0.0; many]).unwrap_err()));
    assert!(count(Clusters::new(&[vec![1.0]]).unwrap_err()));
    assert!(count(Clusters::new(&[vec![1.0], Vec::new()]).unwrap_err()));
    assert!(count(Binomial::new(0, 0).unwrap_err()));
    assert!(count(Binomial::new(0, TRIALS_MAX + 1).unwrap_err()));
    assert_eq!(Binomial::new(3, 2), Err(EstimateError::Successes { successes: 3, trials: 2 }));
    assert!(serde_json::from_str::<Binomial>(r#"{"successes":3,"trials":2}"#).is_err());
    for resamples in [RESAMPLES_MIN - 1, RESAMPLES_MAX + 1] {
        assert!(count(Resampling::new(resamples, 0).unwrap_err()));
    }
    for found in [LEVEL_MIN - 0.01, LEVEL_MAX + 1e-7, f64::NAN] {
        assert!(Level::new(found).is_err());
    }
}
