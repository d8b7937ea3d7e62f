//! Tables for the ablation world (the plugin `ablation`): a teacher for a cold start, and the best way. They know the world's tools and codes,
//! and none of its chances.

use loopwright_contract::name::ToolName;

use super::tabular::{Look, Tabular};

/// The world's tools.
const THINK: &str = "think";
const READ: &str = "read_setting";
const SET: &str = "set_setting";
const VERIFY: &str = "verify_setting";
const NEXT: &str = "next_setting";

/// One row: the last code, then tools with their weights.
type Row = (&'static str, &'static [(&'static str, f64)]);

/// A verbose teacher that sometimes errs. It thinks, reads and verifies more than anybody needs to, of whatever kind the settings are; it now and
/// then writes without reading, leaves a write unverified, or leaves a setting that it saw is not set. The table comes to 18.95 tokens and 93.9 %
/// of success over an even mix of the kinds, with the budget left out.
const TEACHER: [Row; 7] = [
    ("", BEGIN),
    ("next", BEGIN),
    ("thought", &[(THINK, 0.54), (READ, 0.46)]),
    ("read", &[(READ, 0.28), (SET, 0.72)]),
    ("set", &[(VERIFY, 0.8), (NEXT, 0.2)]),
    ("ok", &[(VERIFY, 0.25), (NEXT, 0.75)]),
    ("bad", &[(SET, 0.66), (READ, 0.3), (NEXT, 0.04)]),
];

/// How the teacher begins a setting.
const BEGIN: &[(&str, f64)] = &[(THINK, 0.8), (READ, 0.18), (SET, 0.02)];

/// A table out of rows, for every request or for one.
fn with(table: Tabular, request: Option<&str>, rows: &[Row]) -> Tabular {
    rows.iter().fold(table, |table, (last, weights)| {
        let weights: Vec<(ToolName, f64)> =
            weights.iter().filter_map(|(tool, weight)| Some((ToolName::new(*tool).ok()?, *weight))).collect();
        let look = Look { request: request.map(str::to_owned), at: None, last: (*last).to_owned() };
        // The rows are constants, and a test holds them against what is said of them.
        table.clone().with(look, &weights).unwrap_or(table)
    })
}

/// The verbose, sometimes erring teacher.
#[must_use]
pub fn teacher() -> Tabular {
    with(Tabular::new("ablation-teacher"), None, &TEACHER)
}

/// The best way: reads, sets, and verifies the settings of the requests in `fragile` alone, until a write took.
#[must_use]
pub fn best(fragile: &[&str]) -> Tabular {
    let straight: [Row; 6] = [
        ("", &[(READ, 1.0)]),
        ("next", &[(READ, 1.0)]),
        ("read", &[(SET, 1.0)]),
        ("set", &[(NEXT, 1.0)]),
        ("ok", &[(NEXT, 1.0)]),
        ("bad", &[(SET, 1.0)]),
    ];
    let table = with(Tabular::new("ablation-best"), None, &straight);
    fragile.iter().fold(table, |table, request| with(table, Some(request), &[("set", &[(VERIFY, 1.0)])]))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// A place in one setting: the last code, whether it was read, whether it is really set.
    type State = (&'static str, bool, bool);

    /// What the teacher's table comes to for a setting, by following all its ways: mean calls, and the chance that it is really set when left.
    fn follow(silent: f64) -> (f64, f64) {
        let (mut calls, mut success) = (0.0, 0.0);
        let mut mass: BTreeMap<State, f64> = BTreeMap::from([(("", false, false), 1.0)]);
        // After 300 calls less than 1e-30 of the mass is left.
        for _ in 0..300 {
            let mut next: BTreeMap<State, f64> = BTreeMap::new();
            for ((last, read, really), share) in mass {
                let row = TEACHER.iter().find(|(code, _)| *code == last).expect("a row for every code").1;
                assert!((row.iter().map(|(_, weight)| weight).sum::<f64>() - 1.0).abs() < 1e-12, "row `{last}`");
                for (tool, weight) in row {
                    let share = share * weight;
                    calls += share;
                    let mut goes = |state: State, part: f64| *next.entry(state).or_default() += share * part;
                    let takes = if read { 1.0 } else { 0.1 } * (1.0 - silent);
                    match *tool {
                        THINK => goes(("thought", read, really), 1.0),
                        READ => goes(("read", true, really), 1.0),
                        SET => {
                            goes(("set", read, true), takes);
                            goes(("set", read, false), 1.0 - takes);
                        }
                        VERIFY => goes((if really { "ok" } else { "bad" }, read, really), 1.0),
                        _ => success += share * f64::from(u8::from(really)),
                    }
                }
            }
            mass = next;
        }
        (calls, success)
    }

    #[test]
    fn the_teacher_is_as_verbose_and_as_reliable_as_is_said() {
        let [reliable, fragile] = [0.005, 0.1].map(follow);
        let tokens = 3.0 * f64::midpoint(reliable.0, fragile.0);
        let success = f64::midpoint(reliable.1.powi(3), fragile.1.powi(3));
        assert!((tokens - 18.95).abs() < 0.01, "{tokens}");
        assert!((success - 0.939).abs() < 0.001, "{success}");
    }

    #[test]
    fn tables_are_named_by_what_is_in_them() {
        use loopwright_contract::planner::Planner as _;
        let digests =
            [teacher(), teacher().greedy(), best(&[]), best(&["fragile"])].map(|table| table.version().digest);
        assert_eq!(digests.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
        assert_eq!(teacher().version(), teacher().version());
    }
}
