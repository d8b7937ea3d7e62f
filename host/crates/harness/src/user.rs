//! The scripted user: tells what it knows when it is asked for it, and says yes to exactly the calls that it agrees to.

use loopwright_contract::json::canonical;
use loopwright_contract::name::Lang;
use loopwright_contract::task::UserScript;
use loopwright_contract::tool::ToolCall;

/// What the user says to a question: the answers of all slots that it asks for, in the order of the script.
#[must_use]
pub(crate) fn answer(script: &UserScript, lang: &Lang, question: &str) -> String {
    let question = folded(question);
    let asked = |words: &[String]| words.iter().any(|word| !word.trim().is_empty() && question.contains(&folded(word)));
    let answers: Vec<&str> =
        script.slots.iter().filter(|slot| asked(&slot.asked_by)).map(|slot| slot.answer.as_str()).collect();
    if answers.is_empty() { words(lang).unknown.to_owned() } else { answers.join(" ") }
}

/// Whether the user agrees to a call: some consent names its tool and, where it names arguments, equal ones.
#[must_use]
pub(crate) fn consents(script: &UserScript, call: &ToolCall) -> bool {
    let arguments = canonical(&call.arguments);
    script.consents.iter().any(|consent| {
        consent.tool == call.tool && consent.arguments.as_ref().is_none_or(|agreed| canonical(agreed) == arguments)
    })
}

/// What the user says to a call that waits for confirmation.
#[must_use]
pub(crate) fn decision(lang: &Lang, agreed: bool) -> &'static str {
    let words = words(lang);
    if agreed { words.yes } else { words.no }
}

struct Words {
    unknown: &'static str,
    yes: &'static str,
    no: &'static str,
}

fn words(lang: &Lang) -> Words {
    if crate::context::is_chinese(lang) {
        Words { unknown: "我不知道。", yes: "好的，请执行。", no: "不，不要执行。" }
    } else {
        Words { unknown: "I don't know.", yes: "Yes, do it.", no: "No, do not do it." }
    }
}

fn folded(text: &str) -> String {
    text.to_lowercase()
}

#[cfg(test)]
mod tests {
    use loopwright_contract::task::{Consent, Slot};
    use loopwright_testkit::task::call;
    use serde_json::json;

    use super::*;

    fn script() -> UserScript {
        let slot = |name: &str, asked_by: &[&str], answer: &str| Slot {
            name: name.to_owned(),
            asked_by: asked_by.iter().map(|word| (*word).to_owned()).collect(),
            answer: answer.to_owned(),
        };
        UserScript {
            slots: vec![slot("time", &["What TIME", "几点"], "At seven."), slot("place", &["where", ""], "At home.")],
            consents: vec![
                Consent { tool: call("a", "wipe_notes", json!({})).tool, arguments: None },
                Consent { tool: call("a", "pay", json!({})).tool, arguments: Some(json!({"amount": 25, "to": "Ann"})) },
            ],
        }
    }

    #[test]
    fn slots_are_revealed_on_request() {
        for (lang, question, expected) in [
            ("en", "At what time, please?", "At seven."),
            ("en", "What time and WHERE?", "At seven. At home."),
            ("en", "Which colour?", "I don't know."),
            ("zh", "几点开始？", "At seven."),
            ("zh-CN", "什么颜色？", "我不知道。"),
            ("fr", "Pourquoi ?", "I don't know."),
        ] {
            assert_eq!(answer(&script(), &Lang::new(lang).expect("a tag"), question), expected, "{question}");
        }
    }

    #[test]
    fn exactly_the_agreed_calls_are_confirmed() {
        for (tool, arguments, expected) in [
            ("wipe_notes", json!({"anything": 1}), true),
            ("pay", json!({"to": "Ann", "amount": 25.0}), true),
            ("pay", json!({"to": "Ann", "amount": 26}), false),
            ("pay", json!({"to": "Ann", "amount": 25, "tip": 1}), false),
            ("reset", json!({}), false),
        ] {
            assert_eq!(consents(&script(), &call("c", tool, arguments.clone())), expected, "{tool} {arguments}");
        }
    }
}
