//! `show`: a trajectory in readable form.

use loopwright_contract::json::{JsonLimits, parse};
use loopwright_harness::trajectory::read_file;
use serde_json::Value;

use crate::cli::{Shared, ShowArgs};
use crate::exit::Exit;
use crate::{output, show as render};

/// Runs it.
///
/// # Errors
/// An unreadable or damaged file.
pub fn show(shared: &Shared, args: &ShowArgs) -> anyhow::Result<Exit> {
    let stored = read_file(&args.file)?;
    if shared.json {
        let lines: Vec<Value> =
            stored.lines.iter().map(|line| parse(line, &JsonLimits::FILE)).collect::<Result<_, _>>()?;
        output::json(&lines);
    } else {
        output::print(render::trajectory(&stored.trajectory, args.full));
        if stored.torn_bytes > 0 {
            output::note(format_args!(
                "{} bytes after the last whole line were left out: the run was cut off while it wrote",
                stored.torn_bytes
            ));
        }
    }
    Ok(Exit::Good)
}
