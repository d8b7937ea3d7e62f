//! How a quote stands in its message: said, asked, supposed, or somebody else's.

use std::ops::Range;

use super::quoted::quoted;
use super::sentence::{has_role_label, is_not_own, is_reported, is_supposed, sentences};
use super::view::View;
use crate::flags::reads_as_instruction;
use crate::message::TEXT_BYTES_MAX;

/// How a quote stands in its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Standing {
    /// Said by the speaker.
    Said,
    /// Part of a question.
    Asked,
    /// Supposed, wished or reported.
    NotOwn,
    /// Inside quotation marks, on a line that quotes, or after "Tom wrote:".
    Quoted,
    /// On a line that is labelled as another role's.
    Labelled,
    /// Part of what reads as an instruction to the assistant.
    Instruction,
}

/// How the bytes `value` of a message's text stand there. What is to be done may be conditional and asked for: `request`.
pub(crate) fn standing(text: &str, quote: &Range<usize>, value: &Range<usize>, request: bool) -> Standing {
    let view = View::new(text, TEXT_BYTES_MAX);
    let (start, at) = (view.position(quote.start), view.position(value.start));
    let read = view.text();
    let line = read.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    if has_role_label(read.get(line..).unwrap_or_default().lines().next().unwrap_or_default()) {
        return Standing::Labelled;
    }
    if text.get(quote.clone()).is_some_and(reads_as_instruction) {
        return Standing::Instruction;
    }
    let sentences = sentences(read);
    let Some(sentence) = sentences.iter().rev().find(|sentence| sentence.start <= at) else { return Standing::NotOwn };
    if reads_as_instruction(sentence.text) {
        return Standing::Instruction;
    }
    // The quote begins with its subject, so that what stands before it tells whose words it holds.
    let from = start.max(sentence.start);
    let before = read.get(sentence.start..from).unwrap_or_default();
    let between = read.get(from..at).unwrap_or_default();
    let foreign = if request { is_reported(before) } else { is_not_own(before) || is_not_own(between) };
    if quoted(read).iter().any(|quotation| quotation.start <= start && start < quotation.end) {
        return Standing::Quoted;
    }
    if foreign || (!request && is_supposed(read.get(from..).unwrap_or_default())) {
        return Standing::NotOwn;
    }
    let asked = sentence.asks_from.is_some_and(|asks| sentence.start + asks <= at);
    if asked && !request { Standing::Asked } else { Standing::Said }
}
