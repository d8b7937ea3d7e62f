//! Where in a text somebody else's words stand: in quotation marks, on lines that begin with `>`, and after "Tom wrote:".

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::pattern::compile;

/// The most colons of one line that are looked at.
const COLONS_MAX: usize = 8;

/// What stands before the colon after which somebody else's words begin.
static INTRODUCES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?ix)\b(?:said|says|wrote|writes|replied|replies|answered|texted|texts|emailed|posted|messaged|reads)\b[^:]{0,40}$
         |\b(?:e-?mail|message|letter|text|post)\ from\b[^:]{1,60}$
         |\bforwarded\ message\b[^:]{0,20}$
         |(?:说道?|写道|写着|写的是|回复(?:说|道)?|回信|留言|问道|喊道|表示|原文|转发|念道)[^:,。\n]{0,6}$
         |(?:邮件|短信|信|微信|消息|帖子)(?:里|中|上|内容)(?:[^:,。\n]{0,4})$",
    )
});
/// Words that make the speaker the one who said it.
static OWN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:i|we)(?:'ve| have)? (?:already |just |also )?(?:said|say|wrote|write|replied|answered|texted|emailed|posted|messaged)\b|(?:^|[^跟和对给向与同])(?:我|我们)(?:已经|刚才|刚|之前|先|想|要)?(?:说(?:过|了)?|写道|写着|回复|留言|表示)|(?:顺便|总的来|一般来|老实|坦白|换句话|简单|先)说|说(?:真的|实话|一下|一句|到这)|话说|也就是说",
    )
});

/// The bytes of a view's text that are somebody else's words, in order of their kind.
pub(crate) fn quoted(text: &str) -> Vec<Range<usize>> {
    let mut found = loopwright_text::quotations(text);
    let mut at = 0;
    // Whether an introduction stands at the end of a line above, and the lines since then are empty.
    let mut introduced = false;
    // From where on everything is quoted: a message that was pasted has no mark at its end.
    let mut pasted = None;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let content = line.trim();
        if content.is_empty() {
            continue;
        }
        if content.starts_with('>') {
            found.push(start..end);
            // The introduction was of the marked lines, and ends with them.
            introduced = false;
            continue;
        }
        if introduced {
            pasted = Some(start);
            break;
        }
        if let Some(colon) = introduction(line) {
            let after = start + colon + 1;
            introduced = text.get(after..end).is_none_or(|rest| rest.trim().is_empty());
            if !introduced {
                found.push(after..end);
            }
        }
    }
    found.extend(pasted.map(|start| start..text.len()));
    found
}

/// The colon of a line after which somebody else's words stand.
fn introduction(line: &str) -> Option<usize> {
    let colons = line.match_indices(':').map(|(at, _)| at).take(COLONS_MAX);
    let ends = |at: usize| {
        let next = line.get(at + 1..).and_then(|rest| rest.chars().next());
        // Not "at 10:30", and not "https://".
        next.is_none_or(|next| !next.is_ascii_digit() && next != '/')
    };
    let introduces = |at: usize| {
        let before = line.get(..at).unwrap_or_default().trim_end();
        let without = OWN.as_ref().map_or(before.into(), |own| own.replace_all(before, " "));
        INTRODUCES.as_ref().is_none_or(|pattern| pattern.is_match(&without))
    };
    colons.filter(|at| ends(*at)).find(|at| introduces(*at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_elses_words_are_found_by_their_form() {
        for (text, expected) in [
            ("> I live in Rome.\nI live in Bonn.", &["> I live in Rome.\n"][..]),
            (
                "On Monday, Tom wrote:\n> I live in Rome.\n> I'm Tom.\nI live in Bonn.",
                &["> I live in Rome.\n", "> I'm Tom.\n"],
            ),
            ("Tom said:\nI live in Rome.\n\nI work at Bosch.", &["I live in Rome.\n\nI work at Bosch."]),
            ("Tom wrote: I live in Rome. I work at Bosch.\nI live in Bonn.", &[" I live in Rome. I work at Bosch.\n"]),
            ("Email from Tom Miller:\n\nI live in Rome.", &["I live in Rome."]),
            ("她写道:我住在上海。我对花生过敏。", &["我住在上海。我对花生过敏。"]),
            ("邮件里说:我住在上海。", &["我住在上海。"]),
            ("妈妈跟我说:\n我住在上海。", &["我住在上海。"]),
            ("I said: I live in Bonn.", &[]),
            ("顺便说一下:我住在杭州。", &[]),
            ("我说过:我住在杭州。", &[]),
            ("The meeting that Tom said is at 10:30 is mine.", &[]),
            ("My address: Bonn.", &[]),
        ] {
            let found: Vec<&str> = quoted(text).into_iter().filter_map(|range| text.get(range)).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn patterns_compile() {
        assert!(INTRODUCES.is_some() && OWN.is_some());
    }
}
