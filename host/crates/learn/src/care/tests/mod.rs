//! Groups and schedules for the tests of credit assignment.

mod consequences;
mod edges;
mod rivals;
mod simulation;
mod whole;

use proptest::prelude::*;

use super::*;

/// Success, progress and cost of a slot; `None` is void.
pub(crate) type Slot = Option<(bool, f64, f64)>;

/// A group from its measured slots.
pub(crate) fn group_of(id: u64, slots: &[Slot]) -> Group {
    let slots: Vec<_> = slots
        .iter()
        .map(|slot| match slot {
            Some((success, progress, cost)) => {
                Member::new(Measured { success: *success, progress: *progress, cost: *cost })
            }
            None => Err(Void::Infrastructure),
        })
        .collect();
    Group::new(GroupId(id), GroupSize::new(slots.len()).unwrap(), slots).unwrap()
}

/// A group in which each member has the cost that is given, and all succeed.
pub(crate) fn saturated(costs: &[f64]) -> Group {
    let slots: Vec<_> = costs.iter().map(|cost| Some((true, 1.0, *cost))).collect();
    group_of(0, &slots)
}

/// A group of so many members of which the first so many succeed, at no cost.
pub(crate) fn outcomes(successes: usize, members: usize) -> Group {
    let slots: Vec<_> = (0..members).map(|member| Some((member < successes, 0.0, 0.0))).collect();
    group_of(0, &slots)
}

pub(crate) fn phi(lambda_prog: f64, lambda_eff: f64, p_low: f64, p_high: f64) -> Phi {
    Phi::new(PhiValues { lambda_prog, lambda_eff, p_low, p_high }).unwrap()
}

pub(crate) fn scheme(estimator: Estimator, phi: Phi) -> Scheme {
    Scheme { estimator, phi, options: Options { epsilon: Epsilon::new(0.0).unwrap(), ..Options::default() } }
}

/// What one group is assigned by itself.
pub(crate) fn alone(scheme: &Scheme, group: &Group) -> GroupCredit {
    scheme.assign(std::slice::from_ref(group)).unwrap().groups()[0].clone()
}

pub(crate) fn advantages(credit: &GroupCredit) -> Vec<f64> {
    credit.credits().map(|credit| credit.advantage).collect()
}

/// The population's mean and deviation, by another way than the code's: from the sum of squared differences of all pairs.
pub(crate) fn population(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().fold(0.0, |sum, value| sum + value / count);
    let pairs: f64 = values.iter().flat_map(|left| values.iter().map(move |right| (left - right).powi(2))).sum();
    (mean, (pairs / 2.0).sqrt() / count)
}

pub(crate) fn rms(values: &[f64]) -> f64 {
    (values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64).sqrt()
}

pub(crate) fn close(left: f64, right: f64, tolerance: f64) -> bool {
    (left - right).abs() <= tolerance * (1.0 + left.abs().max(right.abs()))
}

pub(crate) fn any_phi() -> impl Strategy<Value = Phi> {
    (0.0..0.999, 0.0..0.999, 0.0..=1.0, P_HIGH_MIN..P_HIGH_MAX)
        .prop_map(|(lambda_prog, lambda_eff, low, p_high)| phi(lambda_prog, lambda_eff, low * p_high, p_high))
}

pub(crate) fn any_options() -> impl Strategy<Value = Options> {
    let scope = prop_oneof![Just(FloorScope::All), Just(FloorScope::Efficiency)];
    let eff_on = prop_oneof![Just(EffOn::All), Just(EffOn::Success)];
    (scope, eff_on, 0.0..=EPSILON_MAX).prop_map(|(floor_scope, eff_on, epsilon)| Options {
        floor_scope,
        eff_on,
        epsilon: Epsilon::new(epsilon).unwrap(),
    })
}

pub(crate) fn any_estimator() -> impl Strategy<Value = Estimator> {
    proptest::sample::select(Estimator::ALL.to_vec())
}

/// A slot of a group; one in eight is void.
pub(crate) fn any_slot() -> impl Strategy<Value = Slot> {
    // Round numbers too, so that equal rewards come up.
    let share = prop_oneof![0.0..=1.0, proptest::sample::select(vec![0.0, 0.5, 1.0])];
    proptest::option::weighted(0.875, (any::<bool>(), share.clone(), share))
}

pub(crate) fn any_slots() -> impl Strategy<Value = Vec<Slot>> {
    proptest::collection::vec(any_slot(), 2..12)
}
