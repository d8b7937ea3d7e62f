//! Texts in a memory that read as if they gave orders to the assistant. A flag for whoever reads the item, and no filter: what a user said
//! is kept as it was said.

/// What a person writes to a person rarely, and to take over an assistant often. Compared after case folding.
const SIGNS: [&str; 28] = [
    "ignore previous",
    "ignore all previous",
    "ignore the previous",
    "ignore your",
    "ignore the above",
    "ignore the rules",
    "ignore the user",
    "disregard previous",
    "disregard the",
    "forget your instructions",
    "new instructions",
    "system prompt",
    "system:",
    "assistant:",
    "<|im_",
    "<system",
    "you must now",
    "you are now",
    "do not tell the user",
    "don't tell the user",
    "without asking the user",
    "忽略之前",
    "忽略以上",
    "忽略所有",
    "无视之前",
    "系统提示",
    "不要告诉用户",
    "无需询问用户",
];

/// Whether a text reads as if it gave orders to the assistant.
#[must_use]
pub fn instruction_like(text: &str) -> bool {
    let folded = text.to_lowercase();
    SIGNS.iter().any(|sign| folded.contains(sign))
}
