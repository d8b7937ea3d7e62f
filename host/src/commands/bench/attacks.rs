//! `bench registry-attacks`: what each attack on the registry's client meets.

use loopwright_registry::attack::run_all;

use crate::cli::Shared;
use crate::exit::Exit;
use crate::output;
use crate::table::{Align, cut, render};

/// Runs them.
///
/// # Errors
/// When an honest pull does not work, so that a refusal would say nothing.
pub(super) fn attacks(shared: &Shared) -> anyhow::Result<Exit> {
    let rows = run_all()?;
    let exit = if rows.iter().all(|row| row.is_as_expected()) { Exit::Good } else { Exit::Differs };
    if shared.json {
        output::json(&rows);
        return Ok(exit);
    }
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let refused = if row.refused { "yes" } else { "NO" };
            let message = row.message.lines().next().unwrap_or_default();
            vec![
                row.attack.to_owned(),
                row.expected.to_string(),
                row.seen.to_string(),
                refused.to_owned(),
                cut(message, 80),
            ]
        })
        .collect();
    let head = [
        ("attack", Align::Left),
        ("expected", Align::Left),
        ("seen", Align::Left),
        ("refused", Align::Left),
        ("", Align::Left),
    ];
    output::print(render(&head, &cells));
    Ok(exit)
}
