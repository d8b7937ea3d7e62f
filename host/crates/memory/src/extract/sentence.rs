//! Cuts a message into sentences and tells what in them is asked, supposed, quoted or said by somebody else.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::pattern::compile;

/// The most sentences of one message that are read.
pub const SENTENCES_MAX: usize = 512;
/// The longest sentence that is read, in bytes; of a longer one only its beginning.
pub const SENTENCE_BYTES_MAX: usize = 1_024;

/// One sentence of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sentence<'a> {
    /// Its text, without spaces at either end.
    pub(crate) text: &'a str,
    /// Where it begins in the view, in bytes.
    pub(crate) start: usize,
    /// From which byte of it on it asks something.
    pub(crate) asks_from: Option<usize>,
}

static ABBREVIATION: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(r"(?i)(?:\b(?:dr|mr|mrs|ms|prof|st|mt|no|vs|etc|e\.g|i\.e|a\.m|p\.m|[a-z]))$"));
static OPENS_QUESTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?ix)^(?:(?:so|and|but|ok|okay|well|then|now|hey|also)[\ ,]+)*
          (?:(?:do|does|did|is|are|was|were|am|can|could|should|would|will|have|has|had|may|might|shall|isn't|aren't|don't|didn't|won't|wouldn't|couldn't)
             \ (?:i|you|we|he|she|it|they|my|your|our|the|there|this|that|these|those|a|an|any|anyone|somebody|someone)\b
            |(?:what|which|who|whom|whose|where|how|why|what's|who's|where's|how's)\b|when\ (?:is|are|was|were|do|does|did|will|can|should)\b)",
    )
});
static ASKS_TO_CONFIRM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)^(?:right|correct|yes|no|ok|okay|isn't it|don't i|do i|am i|aren't i|didn't i|对吗|对吧|是吗|是吧|对不对|是不是|没错吧)\W*$",
    )
});
static ASKS_CHINESE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?:吗|么)\W*$|是不是|有没有|能不能|会不会|要不要|什么|哪里|哪儿|哪个|哪些|怎么|为什么|谁|多少|几点|几岁|呢\W*\?$",
    )
});

/// The sentences of a text, in order.
pub(crate) fn sentences(text: &str) -> Vec<Sentence<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, ch)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match ch {
            '\n' | '!' | '?' | '。' | ';' => true,
            '.' => {
                next.is_none_or(char::is_whitespace) && !is_abbreviation(text.get(start..at).unwrap_or_default(), next)
            }
            _ => false,
        };
        if ends {
            push(text, start..at + ch.len_utf8(), &mut found);
            start = at + ch.len_utf8();
            if found.len() >= SENTENCES_MAX {
                return found;
            }
        }
    }
    push(text, start..text.len(), &mut found);
    found.truncate(SENTENCES_MAX);
    found
}

fn is_abbreviation(before: &str, next: Option<char>) -> bool {
    // What ends the text ends its last sentence too.
    let from = before.len().saturating_sub(8);
    let tail = before.get(before.floor_char_boundary(from)..).unwrap_or_default();
    next.is_some() && ABBREVIATION.as_ref().is_some_and(|pattern| pattern.is_match(tail))
}

fn push<'a>(text: &'a str, range: Range<usize>, found: &mut Vec<Sentence<'a>>) {
    let Some(whole) = text.get(range.clone()) else { return };
    let start = range.start + (whole.len() - whole.trim_start().len());
    let trimmed = whole.trim();
    let cut = trimmed.get(..trimmed.floor_char_boundary(SENTENCE_BYTES_MAX)).unwrap_or_default().trim_end();
    if cut.chars().any(char::is_alphanumeric) {
        found.push(Sentence { text: cut, start, asks_from: asks_from(cut) });
    }
}

/// From which byte on a sentence asks: a statement may stand before its question.
fn asks_from(text: &str) -> Option<usize> {
    let is =
        |pattern: &LazyLock<Option<Regex>>, text: &str| pattern.as_ref().is_some_and(|pattern| pattern.is_match(text));
    let clauses = clauses(text);
    let last = clauses.last().and_then(|range| text.get(range.clone())).unwrap_or_default();
    if is(&ASKS_TO_CONFIRM, last) {
        return Some(0);
    }
    let marked = text.ends_with('?');
    let asking = clauses.iter().find(|range| {
        let clause = text.get((*range).clone()).unwrap_or_default().trim_start();
        let chinese = clause.chars().any(super::view::is_han);
        if chinese { is(&ASKS_CHINESE, clause) } else { is(&OPENS_QUESTION, clause) }
    });
    match (asking, marked) {
        (Some(range), _) => Some(range.start),
        (None, true) => Some(0),
        (None, false) => None,
    }
}

/// What stands between commas.
fn clauses(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(',') {
        found.push(start..at);
        start = at + 1;
    }
    found.push(start..text.len());
    found
}

static OWN_SPEECH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:i|we)(?:'ve| have)? (?:already |just )?(?:told|said|say|mentioned|think|believe|guess|know)(?: you| that)*\b|(?:先|我)说一下|话说|说实话|说真的|不得不说|顺便说|我(?:已经)?(?:说过|说了|告诉过你|告诉你|觉得|跟你说过)",
    )
});
static REPORTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?ix)\b(?:said|says|say|told|tells|thinks?|thought|believes?|claims?|claimed|asked|asks|wrote|writes|assumes?|suspects?|heard|wonders?|insists?|reckons?|maybe|perhaps)\b
         |也许|或许|听说|据说|说|告诉|以为|认为|问|[写唱念喊答]道|写着|台词|歌词|唱",
    )
});
static SUPPOSED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?ix)\b(?:if|unless|suppose|supposing|imagine|pretend|whether|wish|hope|dreamt|dreamed|would|could|might|maybe|perhaps|hypothetically|let's\ say
           |for\ example|e\.g|such\ as|not\ sure|as\ though)\b
         |如果|假如|要是|假设|假使|万一|倘若|假装|好像|似乎|希望|梦见|例如|比如|譬如|是不是|也许|可能|或许|觉得",
    )
});
static SUPPOSED_AFTER: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r"^[^,]{0,40}?的话(?:\W|$)"));

/// Whether what follows `before` in its sentence is somebody else's or supposed.
pub(crate) fn is_not_own(before: &str) -> bool {
    let before = without_own_speech(before);
    [&REPORTED, &SUPPOSED].into_iter().any(|pattern| pattern.as_ref().is_none_or(|pattern| pattern.is_match(&before)))
}

/// Whether what follows `before` in its sentence is somebody else's, or only considered.
pub(crate) fn is_reported(before: &str) -> bool {
    REPORTED.as_ref().is_none_or(|pattern| pattern.is_match(&without_own_speech(before)))
}

/// Without "I told you", which makes nobody else the speaker.
fn without_own_speech(before: &str) -> std::borrow::Cow<'_, str> {
    OWN_SPEECH.as_ref().map_or(before.into(), |pattern| pattern.replace_all(before, " "))
}

/// Whether what begins with `rest` is supposed by the words after it: 我住在海边的话.
pub(crate) fn is_supposed(rest: &str) -> bool {
    SUPPOSED_AFTER.as_ref().is_some_and(|pattern| pattern.is_match(rest))
}

static ROLE_LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)^\W{0,6}(?:system|assistant|developer|tool|function|user|human|ai|bot|admin|系统|助手|用户|管理员|开发者|工具)(?: (?:prompt|message|note|output|result))?\W{0,4}[:：]",
    )
});

/// Whether a line is written as if somebody of another role said it.
pub(crate) fn has_role_label(text: &str) -> bool {
    ROLE_LABEL.as_ref().is_none_or(|pattern| pattern.is_match(text))
}

static LOOKS_AHEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:will|shall|going to|about to|plan(?:ning|s)? to|need to|have to|must|remind|don't forget|upcoming)\b|\b(?:i|we|he|she|it|they)'ll\b|将|准备|打算|计划|要|提醒|记得",
    )
});

/// Whether the sentence around a place of a text speaks of what is to come.
pub(crate) fn looks_ahead(text: &str, at: usize) -> bool {
    let ends = ['.', '!', '?', ';', '\n', '。', '！', '？', '；'];
    let start = text.get(..at).and_then(|before| before.rfind(ends)).unwrap_or(0);
    let end = text.get(at..).and_then(|after| after.find(ends)).map_or(text.len(), |end| at + end);
    let sentence = text.get(start..end).unwrap_or_default();
    LOOKS_AHEAD.as_ref().is_some_and(|pattern| pattern.is_match(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_a_reader_ends_them() {
        let cut = |text| sentences(text).into_iter().map(|sentence| sentence.text).collect::<Vec<_>>();
        assert_eq!(cut("Dr. Wu is here. At 7 a.m. sharp! Ok"), ["Dr. Wu is here.", "At 7 a.m. sharp!", "Ok"]);
        assert_eq!(cut("我来了。你呢?\n好"), ["我来了。", "你呢?", "好"]);
        assert_eq!(cut(" .. \n ?"), Vec::<&str>::new());
    }

    #[test]
    fn a_statement_may_stand_before_its_question() {
        for (text, expected) in [
            ("I live in Berlin, do you know a bakery?", Some(17)),
            ("Do I live here?", Some(0)),
            ("My name is Bob, right?", Some(0)),
            ("我住在杭州,有什么好吃的?", Some(16)),
            ("我住在杭州", None),
            ("I live here.", None),
        ] {
            assert_eq!(sentences(text).first().and_then(|sentence| sentence.asks_from), expected, "{text}");
        }
    }

    #[test]
    fn sentences_are_bounded() {
        let many = "ab. ".repeat(SENTENCES_MAX + 10);
        assert_eq!(sentences(&many).len(), SENTENCES_MAX);
        let long = "灯".repeat(SENTENCE_BYTES_MAX);
        assert!(sentences(&long).iter().all(|sentence| sentence.text.len() <= SENTENCE_BYTES_MAX));
    }

    #[test]
    fn patterns_compile() {
        for pattern in [
            &ABBREVIATION,
            &OPENS_QUESTION,
            &ASKS_TO_CONFIRM,
            &ASKS_CHINESE,
            &OWN_SPEECH,
            &REPORTED,
            &SUPPOSED,
            &SUPPOSED_AFTER,
            &ROLE_LABEL,
            &LOOKS_AHEAD,
        ] {
            assert!(pattern.is_some());
        }
    }
}
