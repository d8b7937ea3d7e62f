//! What is asked: the request, and what is read out of its words.

use std::collections::BTreeSet;
use std::ops::Range;

use loopwright_contract::memory::Layer;
use loopwright_text::{
    DateExpression, MonthPart, MonthReference, Prefer, Reference, TimeExpression, Token, TokenKind, YearReference,
    find_times, query_tokens, resolve, tokenize,
};

use super::settings::{QUERY_BYTES_MAX, QUERY_TERMS_MAX};
use super::words::shapes_a_question;
use crate::index::{name_terms, names_a_day_or_more, speaker_key, traits};
use crate::moment::{EventTime, Moment};

/// A request to the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The question, in its own language.
    pub text: String,
    /// When it is asked: relative dates count from here.
    pub now: Moment,
    /// Show what was current then, and nothing that was said later; none: what is current now.
    pub as_of: Option<Moment>,
    /// The layers that are searched; empty: all of them.
    pub layers: BTreeSet<Layer>,
    /// Also return what was superseded, expired or completed, marked as such.
    pub history: bool,
    /// The most items, at most [`ITEMS_MAX`](super::ITEMS_MAX).
    pub limit: usize,
    /// The most tokens of all quotes together, as [`tokens_of`](super::tokens_of) counts them.
    pub token_budget: usize,
    /// Return all that may be seen, in its order, when it fits the budget: what is left out cannot be the answer then.
    pub whole: bool,
    /// People who speak in this memory, so that their names in the question are taken for speakers.
    pub speakers: Vec<String>,
}

impl Query {
    /// A request with everything at its default: ten items, 4,000 tokens, all layers, current units.
    #[must_use]
    pub fn new(text: impl Into<String>, now: Moment) -> Self {
        Self {
            text: text.into(),
            now,
            as_of: None,
            layers: BTreeSet::new(),
            history: false,
            limit: 10,
            token_budget: 4_000,
            whole: true,
            speakers: Vec::new(),
        }
    }
}

/// What is read out of a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parsed {
    /// The question without the speakers' names.
    pub(crate) stripped: String,
    /// Terms of the body, each once.
    pub(crate) terms: Vec<(String, f32)>,
    /// Names that are no speakers.
    pub(crate) names: Vec<(String, f32)>,
    /// Years, months and days.
    pub(crate) dates: Vec<(String, f32)>,
    /// The speaker, when exactly one is named.
    pub(crate) speaker: Option<u64>,
    /// The stretch of time that it names, in seconds since 1970.
    pub(crate) window: Option<(i64, i64)>,
    /// The traits that an answer should have.
    pub(crate) asked: u8,
}

impl Parsed {
    pub(crate) fn of(query: &Query) -> Self {
        let text = query.text.get(..query.text.floor_char_boundary(QUERY_BYTES_MAX)).unwrap_or_default();
        let (stripped, speakers) = strip_names(text, &query.speakers);
        let (dates, window, said) = times(&stripped, query);
        let speaker = match speakers.as_slice() {
            [one] => Some(speaker_key(one)),
            _ => None,
        };
        let once = |terms: Vec<String>| {
            let terms: BTreeSet<String> = terms.into_iter().collect();
            terms.into_iter().take(QUERY_TERMS_MAX).map(|term| (term, 1.0)).collect()
        };
        let names = name_terms(&stripped).into_iter().filter(|name| !shapes_a_question(name)).collect();
        Self {
            terms: once(body_terms(&stripped, &said)),
            names: once(names),
            dates: once(dates),
            speaker,
            window,
            asked: asked(text),
            stripped,
        }
    }
}

/// The terms that say what is asked about. What only says when is looked for by its date: `said` are the places of such times, with whether they
/// are counted from now. Of the others the numbers alone are left out, since names of months and years stand in texts as they do in questions.
fn body_terms(text: &str, said: &[(Range<usize>, bool)]) -> Vec<String> {
    let mut tokens = query_tokens(text);
    let dates = |token: &Token| {
        let inside = |range: &Range<usize>| range.start <= token.range.start && token.range.end <= range.end;
        let is_number = || token.text.chars().all(|ch| ch.is_ascii_digit());
        said.iter().any(|(range, relative)| inside(range) && (*relative || is_number()))
    };
    let before = tokens.len();
    tokens.retain(|token| !dates(token));
    let dated = tokens.len() < before;
    let telling =
        |range: std::ops::Range<usize>| text.get(range).is_some_and(|word| !shapes_a_question(&word.to_lowercase()));
    let kept: Vec<String> =
        tokens.iter().filter(|token| telling(token.range.clone())).map(|token| token.text.clone()).collect();
    // A question that only says when is answered by what happened then.
    if kept.is_empty() && !dated { tokens.into_iter().map(|token| token.text).collect() } else { kept }
}

/// Takes the speakers' names out of a text and says which were there.
fn strip_names(text: &str, speakers: &[String]) -> (String, Vec<String>) {
    let words: Vec<_> = tokenize(text).into_iter().filter(|token| token.kind == TokenKind::Word).collect();
    let (mut cuts, mut said): (Vec<std::ops::Range<usize>>, Vec<String>) = (Vec::new(), Vec::new());
    for speaker in speakers {
        let name = tokenize(speaker);
        let latin: Vec<&str> =
            name.iter().filter(|token| token.kind == TokenKind::Word).map(|token| token.text.as_str()).collect();
        let mut found: Vec<_> = if latin.is_empty() {
            text.match_indices(speaker.trim())
                .filter(|(_, name)| !name.is_empty())
                .map(|(at, name)| at..at + name.len())
                .collect()
        } else {
            words
                .windows(latin.len())
                .filter(|window| window.iter().map(|token| token.text.as_str()).eq(latin.iter().copied()))
                .filter_map(|window| Some(window.first()?.range.start..window.last()?.range.end))
                .collect()
        };
        if !found.is_empty() {
            said.push(speaker.clone());
            cuts.append(&mut found);
        }
    }
    cuts.sort_by_key(|cut| cut.start);
    let (mut stripped, mut at) = (String::with_capacity(text.len()), 0);
    for cut in cuts {
        stripped.push_str(text.get(at..cut.start).unwrap_or_default());
        stripped.push(' ');
        at = cut.end.max(at);
    }
    stripped.push_str(text.get(at..).unwrap_or_default());
    let stripped = stripped.replace("'s ", " ").replace("’s ", " ");
    (stripped.split_whitespace().collect::<Vec<_>>().join(" "), said)
}

/// The dates that a question names, as terms, the stretch of time that they span together, and where in the text they stand, with whether they are
/// counted from now.
type Times = (Vec<String>, Option<(i64, i64)>, Vec<(Range<usize>, bool)>);

fn times(text: &str, query: &Query) -> Times {
    let reference = Reference { now: query.now.civil(), prefer: Prefer::Past };
    let (mut terms, mut window, mut places): Times = (Vec::new(), None, Vec::new());
    for found in find_times(text) {
        let dates = date_terms(&found.expression);
        let interval = resolve(&found.expression, &reference).filter(|_| names_a_day_or_more(&found.expression));
        let event = interval.and_then(|interval| EventTime::of(&interval, query.now.zone()));
        if let Some((start, end)) = event.and_then(|event| Some((event.start.seconds(), event.end?))) {
            window = Some(window.map_or((start, end), |(first, last)| (first.min(start), last.max(end))));
            places.push((found.range.clone(), dates.is_empty()));
        }
        terms.extend(dates);
    }
    (terms, window, places)
}

/// Only what was said: a year that is guessed is no term.
fn date_terms(expression: &TimeExpression) -> Vec<String> {
    let (TimeExpression::Date(date) | TimeExpression::DateClock(date, _)) = expression else { return Vec::new() };
    let year = |year: &YearReference| match year {
        YearReference::Number(number) => Some(format!("y{number}")),
        _ => None,
    };
    match date {
        DateExpression::Year(of) => year(of).into_iter().collect(),
        DateExpression::Month { month, part } => {
            let mut terms = Vec::new();
            if let MonthReference::Named { year: of, month } = month {
                terms.extend(year(of));
                terms.push(format!("m{month}"));
            }
            if let MonthPart::Day(day) = part {
                terms.push(format!("d{day}"));
            }
            terms
        }
        _ => Vec::new(),
    }
}

/// The traits that an answer to this question should have.
fn asked(text: &str) -> u8 {
    let text = text.to_lowercase();
    let has = |any: &[&str]| any.iter().any(|phrase| text.contains(phrase));
    let word = |any: &[&str]| text.split(|ch: char| !ch.is_alphanumeric()).any(|word| any.contains(&word));
    let time = word(&["when"]) && !has(&["when she ", "when he ", "when they "])
        || has(&["how long", "what year", "what month", "what day", "what date", "which year", "which month"])
        || has(&["什么时候", "什麼時候", "何时", "哪天", "哪一天", "几号", "几点", "几月", "多久", "哪年"]);
    let number = has(&["how many", "how much", "how old", "how often", "多少", "几个", "几次", "几岁"]);
    let name = word(&["where", "who", "whom", "which"]) || has(&["哪里", "哪儿", "谁", "哪个"]);
    let bit = |asked: bool, bit: u8| if asked { bit } else { 0 };
    bit(time, traits::TIME) | bit(number, traits::NUMBER) | bit(name, traits::NAME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moment::Zone;

    fn parsed(text: &str, speakers: &[&str]) -> Parsed {
        let now = Moment::parse("2023-06-15T12:00:00Z", &Zone::utc()).expect("a moment");
        let speakers = speakers.iter().map(|name| (*name).to_owned()).collect();
        Parsed::of(&Query { speakers, ..Query::new(text, now) })
    }

    fn texts(terms: &[(String, f32)]) -> Vec<&str> {
        terms.iter().map(|(term, _)| term.as_str()).collect()
    }

    #[test]
    fn speakers_are_taken_out_and_only_one_is_matched() {
        let one = parsed("What did Caroline's dog eat?", &["Caroline", "Melanie"]);
        assert_eq!((one.speaker, one.stripped.as_str()), (Some(speaker_key("caroline")), "What did dog eat?"));
        assert_eq!(texts(&one.terms), ["dog", "eat"]);
        assert_eq!(parsed("Did Caroline meet Melanie?", &["Caroline", "Melanie"]).speaker, None);
        let chinese = parsed("小明养了什么宠物？", &["小明", "小红"]);
        assert_eq!(chinese.speaker, Some(speaker_key("小明")));
        assert!(texts(&chinese.terms).contains(&"宠物") && !texts(&chinese.terms).contains(&"什么"));
    }

    #[test]
    fn dates_are_terms_as_they_were_said_and_a_window_as_they_are_meant() {
        let day = |text: &str| Moment::parse(text, &Zone::utc()).expect("a moment").seconds();
        for (text, dates, window) in [
            (
                "What happened on 7 May 2023?",
                vec!["d7", "m5", "y2023"],
                Some(("2023-05-07T00:00:00Z", "2023-05-08T00:00:00Z")),
            ),
            ("What did I do yesterday?", vec![], Some(("2023-06-14T00:00:00Z", "2023-06-15T00:00:00Z"))),
            ("我上周做了什么", vec![], Some(("2023-06-05T00:00:00Z", "2023-06-12T00:00:00Z"))),
            ("我五月七号去了哪里", vec!["d7", "m5"], Some(("2023-05-07T00:00:00Z", "2023-05-08T00:00:00Z"))),
            ("Which tea do I like?", vec![], None),
            ("30 February 2023", vec!["m2", "y2023"], Some(("2023-02-01T00:00:00Z", "2023-03-01T00:00:00Z"))),
        ] {
            let parsed = parsed(text, &[]);
            assert_eq!(texts(&parsed.dates), dates, "{text}");
            assert_eq!(parsed.window, window.map(|(start, end)| (day(start), day(end))), "{text}");
        }
    }

    #[test]
    fn the_kind_of_answer_is_read_from_the_question() {
        for (text, asked) in [
            ("When did we meet?", traits::TIME),
            ("How many cats are there?", traits::NUMBER),
            ("他什么时候来", traits::TIME),
            ("Where does Ann live?", traits::NAME),
            ("Is it red?", 0),
        ] {
            assert_eq!(parsed(text, &[]).asked, asked, "{text}");
        }
    }

    #[test]
    fn a_query_has_a_limit() {
        let long: String = (0..5_000).map(|number| format!("w{number}x ")).collect();
        let parsed = parsed(&long, &[]);
        assert!(parsed.terms.len() == QUERY_TERMS_MAX && parsed.stripped.len() <= QUERY_BYTES_MAX);
        assert!(self::parsed("", &[]).terms.is_empty());
        assert_eq!(
            texts(&self::parsed("what is it", &["", " "]).terms),
            ["what"],
            "nothing but such words: they are kept"
        );
    }
}
