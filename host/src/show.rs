//! A trajectory in readable form: steps folded, colours only where the writer keeps them.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use loopwright_contract::action::Action;
use loopwright_contract::context::Event;
use loopwright_contract::environment::{Reply, TurnResult};
use loopwright_contract::evidence::Change;
use loopwright_contract::json::canonical;
use loopwright_contract::plain::Plain;
use loopwright_contract::skill::Advice;
use loopwright_contract::trajectory::{Kept, Trajectory, TurnRecord};
use loopwright_contract::verdict::{JudgedCheck, Outcome};

use crate::table::cut;

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const ODD: Style = AnsiColor::Yellow.on_default();
const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();

/// Cells of a folded line.
const FOLD: usize = 110;

/// Renders a trajectory with ANSI colours; the writer strips them where they are not wanted.
#[must_use]
pub fn trajectory(trajectory: &Trajectory, full: bool) -> String {
    let mut out = String::new();
    let header = &trajectory.header;
    let _ = writeln!(
        out,
        "{BOLD}{}{BOLD:#}  {DIM}{} · {} · {}{DIM:#}",
        header.episode,
        Plain(&header.task.category),
        header.task.lang,
        Plain(&header.policy.name)
    );
    let _ = writeln!(out, "{BOLD}request{BOLD:#}  {}", cut(&header.task.request, 2000));
    for turn in &trajectory.turns {
        turn_record(&mut out, turn, full);
    }
    for judged in &trajectory.verdicts {
        verdict(&mut out, judged, full);
    }
    match &trajectory.footer {
        None => {
            let _ = writeln!(
                out,
                "{ODD}cut off{ODD:#}  the run ended before its footer; {} whole turns are readable",
                trajectory.turns.len()
            );
        }
        Some(footer) => {
            let (style, word, reason) = outcome(&footer.outcome);
            let _ = writeln!(
                out,
                "{style}{word}{style:#}  {} turns, {} steps, {} tokens in, {} out{}",
                footer.turns,
                footer.steps,
                footer.usage.tokens_in,
                footer.usage.tokens_out,
                if reason.is_empty() { String::new() } else { format!(": {}", Plain(reason)) }
            );
        }
    }
    out
}

/// How an outcome is shown: style, word and reason.
#[must_use]
pub fn outcome(outcome: &Outcome) -> (Style, &'static str, &str) {
    match outcome {
        Outcome::Pass => (GOOD, "pass", ""),
        Outcome::Fail => (BAD, "fail", ""),
        Outcome::Invalid(reason) => (ODD, "invalid", reason),
        Outcome::Void(reason) => (ODD, "void", reason),
    }
}

fn turn_record(out: &mut String, turn: &TurnRecord, full: bool) {
    let _ = writeln!(out, "{DIM}{:>2}{DIM:#}", turn.turn + 1);
    if !turn.decision.text.is_empty() {
        let _ = writeln!(out, "    {DIM}says   {}{DIM:#}", fold(&turn.decision.text, full));
    }
    for repair in &turn.coercions {
        let line = format!("{} {}: {} -> {}", repair.tool, repair.at, repair.from, repair.to);
        let _ = writeln!(out, "    {ODD}repair{ODD:#} {}", fold(&line, full));
    }
    for reason in &turn.malformed {
        let _ = writeln!(out, "    {BAD}wrong{BAD:#}  {}", fold(reason, full));
    }
    let result = match &turn.result {
        Some(Kept::Full(result)) => Some(result),
        _ => None,
    };
    for action in &turn.actions {
        acted(out, action, result, full);
    }
    for advice in &turn.advice {
        match &advice.advice {
            Advice::Allow => {}
            Advice::Warn(text) => {
                let _ = writeln!(out, "    {ODD}advice{ODD:#} {}: {}", advice.skill, fold(text, full));
            }
            Advice::Block(text) => {
                let _ = writeln!(out, "    {BAD}block{BAD:#}  {}: {}", advice.skill, fold(text, full));
            }
        }
    }
    for answer in &turn.answers {
        let _ = writeln!(out, "           {}", fold(&canonical(answer), full));
    }
    if let Kept::Full(changes) = &turn.changes {
        for change in changes {
            changed(out, change, full);
        }
    }
}

fn acted(out: &mut String, action: &Action, result: Option<&TurnResult>, full: bool) {
    let (word, text) = match action {
        Action::Call(call) => ("call", format!("{} {}", call.tool, canonical(&call.arguments))),
        Action::Recall { query, .. } => ("recall", query.clone()),
        Action::Remember { content, .. } => ("keep", content.clone()),
        Action::Replace { memory, content } => ("replace", format!("{memory}: {content}")),
        Action::Forget { memory, .. } => ("forget", memory.to_string()),
        Action::LoadSkill { skill } => ("skill", skill.to_string()),
        Action::Ask { question, pending: Some(call) } => ("ask", format!("{question} (for {call})")),
        Action::Ask { question, pending: None } => ("ask", question.clone()),
        Action::Refuse { reason } => ("refuse", reason.clone()),
        Action::Delegate { agent, instruction } => ("hand", format!("{agent}: {instruction}")),
        Action::Finish { answer, .. } => ("finish", answer.clone()),
    };
    let _ = writeln!(out, "    {BOLD}{word:<6}{BOLD:#} {}", fold(&text, full));
    let Action::Call(call) = action else { return };
    for feedback in result.iter().flat_map(|result| &result.feedback).filter(|feedback| feedback.call_id == call.id) {
        let (style, text) = match &feedback.reply {
            Reply::Done(success) => (GOOD, format!("{} {}", success.message, canonical(&success.data))),
            Reply::Failed(failure) => (BAD, format!("{} {}", failure.code, failure.message)),
            Reply::NeedsConfirmation(failure) => (ODD, format!("needs confirmation: {}", failure.message)),
        };
        let _ = writeln!(out, "        {style}->{style:#} {}", fold(&text, full));
        for effect in &feedback.effects {
            let _ = writeln!(out, "        {DIM}effect {}{DIM:#}", fold(&canonical(effect), full));
        }
    }
}

fn changed(out: &mut String, change: &Change, full: bool) {
    let place = format!("{}/{}", change.collection, change.key);
    let text = match (&change.before, &change.after) {
        (None, Some(after)) => format!("+ {place} {}", canonical(after)),
        (Some(before), None) => format!("- {place} {}", canonical(before)),
        (Some(before), Some(after)) if full => format!("~ {place} {} -> {}", canonical(before), canonical(after)),
        (_, Some(after)) => format!("~ {place} {}", canonical(after)),
        (None, None) => place,
    };
    let _ = writeln!(out, "        {DIM}{}{DIM:#}", fold(&text, full));
}

fn verdict(out: &mut String, judged: &JudgedCheck, full: bool) {
    let (style, word) = if judged.verdict.passed() { (GOOD, "pass") } else { (BAD, "fail") };
    let _ = writeln!(
        out,
        "{style}{word}{style:#}  {} after {} steps: score {:.3}, progress {:.3}",
        judged.verifier,
        judged.upto,
        judged.verdict.score(),
        judged.verdict.progress()
    );
    for criterion in judged.verdict.criteria() {
        if !criterion.passed || full {
            let (style, mark) = if criterion.passed { (GOOD, "ok") } else { (BAD, "no") };
            let _ = writeln!(
                out,
                "      {style}{mark}{style:#} {}: {}",
                Plain(&criterion.id),
                fold(&criterion.reason, full)
            );
        }
    }
}

fn fold(text: &str, full: bool) -> String {
    cut(text, if full { usize::MAX } else { FOLD })
}

/// One line for a thing that happened, as free requests print while they run.
#[must_use]
pub fn event(event: &Event) -> Option<String> {
    match event {
        Event::Decided { .. } | Event::Notice { .. } => None,
        Event::Answered { name, envelope, .. } => Some(format!("{name}: {}", cut(&canonical(envelope), FOLD))),
        Event::User { text } => Some(format!("user: {}", cut(text, FOLD))),
        Event::Malformed { reason } => Some(format!("not an action: {}", cut(reason, FOLD))),
        Event::Advised { skill, text, .. } => Some(format!("{skill}: {}", cut(text, FOLD))),
    }
}
