//! GDPO: each component of the reward is normalised by itself within the group. It knows no schedule.
//!
//! With components c of weight w_c: z_ic = (c_i - c') / (sigma_c + epsilon) within the group, a_i = sum_c w_c z_ic, and over all members of the
//! batch A_i = (a_i - a') / (sigma_a + epsilon). The components are success (weight 1) and cost (weight -lambda_eff).

use super::assignment::{GroupCredit, Scored};
use super::group::Group;
use super::moments::Moments;
use super::options::Epsilon;
use super::regime::Regime;
use super::scheme::Scheme;

/// The weighted sums a_i of one group, before whitening. `deviation` is that of the composite reward, for the record.
pub(crate) fn within_group(group: &Group, deviation: f64, regime: Regime, scheme: &Scheme) -> (Scored, Vec<f64>) {
    let epsilon = scheme.options.epsilon;
    let success: Vec<_> = group.members().map(|member| f64::from(u8::from(member.success()))).collect();
    let cost: Vec<_> = group.members().map(|member| member.cost()).collect();
    let weight = scheme.phi.lambda_eff();
    let told_apart = [(&success, 1.0), (&cost, weight)]
        .iter()
        .any(|(values, weight)| *weight > 0.0 && Moments::of(values).is_some_and(|moments| !moments.all_equal()));
    let sums = normalised(&success, epsilon)
        .into_iter()
        .zip(normalised(&cost, epsilon))
        .map(|(success, cost)| success - weight * cost)
        .collect();
    (Scored { regime, degenerate: !told_apart, deviation, divisor: 0.0, floor_active: false }, sums)
}

/// One component of one group; exact zeros where it does not differ.
fn normalised(values: &[f64], epsilon: Epsilon) -> Vec<f64> {
    let Some(moments) = Moments::of(values).filter(|moments| !moments.all_equal()) else {
        return vec![0.0; values.len()];
    };
    values.iter().map(|value| (value - moments.mean) / (moments.deviation + epsilon.get())).collect()
}

/// Whitens the sums over the batch. Degenerate groups count in its deviation, and stay exact zeros.
pub(crate) fn whiten(credits: &mut [GroupCredit], epsilon: Epsilon) {
    let batch: Vec<_> = credits.iter().flat_map(GroupCredit::credits).map(|credit| credit.advantage).collect();
    let Some(moments) = Moments::of(&batch) else { return };
    for group in credits {
        let Some(scored) = group.scored.as_mut() else { continue };
        scored.degenerate |= moments.all_equal();
        if !scored.degenerate {
            scored.divisor = moments.deviation;
        }
        let silent = scored.degenerate;
        for credit in group.slots.iter_mut().flatten() {
            credit.advantage =
                if silent { 0.0 } else { (credit.advantage - moments.mean) / (moments.deviation + epsilon.get()) };
        }
    }
}
