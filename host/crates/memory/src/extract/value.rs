//! Cuts what a pattern took to the value that was meant, and refuses what is none.

use std::ops::Range;
use std::sync::LazyLock;

use loopwright_text::find_times;
use regex::Regex;

use super::pattern::compile;
use super::rule::Take;
use super::view::is_han;
use super::words::{
    HAPPENINGS, NO_ACTION, NO_CALL, NO_NAME, NO_NAME_HAN, NO_ORGANISATION, NO_ORGANISATION_HAN, NO_PLACE, NO_PLACE_HAN,
    NO_STRICT_NAME, NO_THING, NO_THING_HAN, NO_TOWN_HAN,
};

/// The longest value, in characters.
pub const VALUE_CHARS_MAX: usize = 160;
/// The longest thing or activity, in words: what is longer is a reaction to something, not a taste.
const THING_WORDS_MAX: usize = 6;
/// How far into a date or a time its first words may reach, in bytes: "at the latest on Friday".
const TIME_WITHIN_BYTES: usize = 16;
/// The most values of one list.
pub const LIST_MAX: usize = 12;

static CONNECTIVE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?ix)[\ ,]+(?:(?:and|or)\ (?:i|we|my|he|she|they|it|you|that|have|am)\b|but\b|because\b|since\b|so\b|which\b|where\b|while\b|though\b|although\b|except\b|unless\b|however\b
          |for\ now\b|these\ days\b|at\ the\ moment\b|right\ now\b|now\b|nowadays\b|any\ ?more\b|too\b|also\b|as\ well\b|please\b|by\ the\ way\b|instead\b|a\ lot\b|very\ much\b|so\ much\b)
         |,|就(?:可以|行|好)|但是|不过|因为|所以|而且|然后|可是|但|,?我(?:也|还|们|的|现在|在|是)|哦$|呢$",
    )
});
static PLACE_END: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(r"(?i) (?:with|for|near|in|on|at|next|from|until|till|to|and|as|after|before|when|if|last|this|again)\b")
});
static JOB_END: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(r"(?i) (?:at|for|in|from|with|who|by|and|on|working|based|here|there|when|if|as)\b"));
static THING_END: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i) (?:over|rather|when|whenever|if|than|instead|as|after|before|every|each|to (?:the |an? )?[a-z]+ (?:ones|seats|flights|rooms))\b|胜过|而不是|多过",
    )
});
static TIME_LEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)(?:^|[ ,]+)(?:on|in|at|by|around|before|until|till|since|from|for|back|about|early|late|the|this|next|of)?$|(?:在|于|从|到|大概|大约)$",
    )
});
static SEPARATOR: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(r"(?i)\s*(?:,\s*(?:and |or )?|、|;| and | or | & |/|还有|以及|和|与|及|跟)\s*"));
static OCCUPATION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?ix)(?:\b(?:\w+(?:er|or|ist|ian|ant|man|woman|smith|wright)|nurse|chef|cook|pilot|judge|coach|student|vet|surgeon|clerk|guide|host|analyst|architect|intern|freelance\w*|cto|ceo|cfo|vp|professor|athlete|mechanic|scientist|engineer|agent|associate|executive|officer|head|lead|aide|paramedic|midwife|therapist|diplomat|priest|monk|model|spy|poet|tutor)$)
         |[师生员家长理手工匠警官者司机会计护士律师秘书教授农民设计演员导游作家老师医生经理厨子]$",
    )
});
static NO_OCCUPATION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)^(?:expert|bit|big|huge|little|lot|lover|morning person|night owl|fan|member|beginner|mother|father|brother|sister|reader|loner|believer|winner|loser|user|customer|newcomer|vegetarian|vegan|pescatarian|person|human|christian|libran?|canadian|italian|australian|american|russian|brazilian|egyptian|dreamer|better|former|never|number|matter|longer|manner|wonder|foodie|newer|regular|minor|worrier|early)\b|(?:lover|believer|drinker|eater|sleeper|starter|newcomer|earlier|later|better|worse|person|fan|eater|owner|citizen)$|好|问题",
    )
});

/// The values in what was taken, as ranges of `text`; none when it is no value of its kind.
pub(super) fn values(text: &str, taken: Range<usize>, take: Take) -> Vec<Range<usize>> {
    let Some(trimmed) = trim(text, taken) else { return Vec::new() };
    let cut = match take {
        Take::Whole | Take::Plain | Take::When => Some(trimmed),
        Take::Things | Take::Towns => return listed(text, trimmed, take),
        Take::Action | Take::Happening => without_times(text, trimmed),
        _ => cut_short(text, trimmed, take),
    };
    cut.and_then(|range| trim(text, range)).filter(|range| is_value(slice(text, range), take)).into_iter().collect()
}

fn slice<'a>(text: &'a str, range: &Range<usize>) -> &'a str {
    text.get(range.clone()).unwrap_or_default()
}

/// The range without marks, spaces and closing particles.
fn trim(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let whole = text.get(range.clone())?;
    let is_edge = |ch: char| {
        ch.is_whitespace()
            || matches!(
                ch,
                '.' | ','
                    | ':'
                    | '-'
                    | '!'
                    | '?'
                    | '。'
                    | '"'
                    | '“'
                    | '”'
                    | '《'
                    | '》'
                    | '「'
                    | '」'
                    | '('
                    | ')'
                    | '~'
                    | '…'
                    | '、'
                    | '*'
            )
    };
    let start = range.start + (whole.len() - whole.trim_start_matches(|ch| is_edge(ch) && ch != '-').len());
    let mut rest = text.get(start..range.end)?;
    loop {
        let before = rest.len();
        rest = rest.trim_end_matches(is_edge);
        if rest.chars().last().is_some_and(|ch| is_particle(ch, rest)) {
            rest = rest.get(..rest.len() - rest.chars().last().map_or(0, char::len_utf8)).unwrap_or_default();
        }
        if rest.len() == before {
            break;
        }
    }
    (!rest.is_empty()).then_some(start..start + rest.len())
}

fn is_particle(ch: char, rest: &str) -> bool {
    let several = rest.chars().nth(1).is_some();
    several && matches!(ch, '了' | '啊' | '呢' | '吧' | '呀' | '哦' | '哈' | '啦' | '嘛' | '哟' | '噢' | '喔' | '吗')
}

fn first_match(pattern: &LazyLock<Option<Regex>>, text: &str) -> Option<usize> {
    pattern.as_ref().and_then(|pattern| pattern.find(text)).map(|found| found.start())
}

/// Where a value ends before what follows it in its clause.
fn cut_short(text: &str, range: Range<usize>, take: Take) -> Option<Range<usize>> {
    let until = |value: &'_ str, end: Option<usize>| end.unwrap_or(value.len());
    let mut value = slice(text, &range);
    value = value.get(..until(value, first_match(&CONNECTIVE, value))).unwrap_or_default();
    let ending = match take {
        Take::Place | Take::Organisation | Take::Name => first_match(&PLACE_END, value),
        Take::Job => first_match(&JOB_END, value),
        Take::Thing => first_match(&THING_END, value),
        _ => None,
    };
    value = value.get(..until(value, ending)).unwrap_or_default();
    let range = range.start..range.start + value.len();
    let range = if take == Take::Called { range } else { without_trailing_time(text, range) };
    let article = if take == Take::Job { leading_article(slice(text, &range)) } else { 0 };
    Some(range.start + article..range.end)
}

fn leading_article(value: &str) -> usize {
    ["a ", "an ", "the ", "my "]
        .into_iter()
        .find(|article| value.get(..article.len()).is_some_and(|start| start.eq_ignore_ascii_case(article)))
        .map_or(0, str::len)
}

/// The range up to the first time in it, unless it begins with it.
fn without_trailing_time(text: &str, range: Range<usize>) -> Range<usize> {
    let value = slice(text, &range);
    let Some(time) = find_times(value).into_iter().find(|found| found.range.start > 0) else { return range };
    let mut head = value.get(..time.range.start).unwrap_or_default();
    while let Some(lead) =
        TIME_LEAD.as_ref().and_then(|pattern| pattern.find(head)).filter(|lead| lead.start() < head.len())
    {
        head = head.get(..lead.start()).unwrap_or_default();
    }
    if head.trim().is_empty() { range } else { range.start..range.start + head.len() }
}

/// What is done, without the times before and after it.
fn without_times(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let mut range = range;
    if let Some(first) = find_times(slice(text, &range)).into_iter().find(|found| found.range.start == 0) {
        let after = slice(text, &range).get(first.range.end..)?;
        let skipped = after.len() - after.trim_start_matches([' ', ',', '前', '之', '的', '要']).len();
        let after = after.get(skipped..)?;
        let to = if after.starts_with("to ") { 3 } else { 0 };
        range = range.start + first.range.end + skipped + to..range.end;
    }
    let value = slice(text, &range);
    let cut = first_match(&ACTION_END, value).map_or(range.end, |at| range.start + at);
    Some(without_trailing_time(text, range.start..cut))
}

static ACTION_END: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)[ ,]+(?:when i|once i|as soon as|after i|before i|if it|if i|and then i|and i|but|because|so that|please|thanks|thank you|ok)\b|,(?:好吗|可以吗|行吗|谢谢|因为|不然|否则)|,$",
    )
});

fn listed(text: &str, range: Range<usize>, take: Take) -> Vec<Range<usize>> {
    let whole = slice(text, &range);
    // In Chinese a comma parts clauses, and 、 the items of a list.
    let clause = if whole.starts_with(is_han) { whole.split(',').next().unwrap_or_default() } else { whole };
    let whole = clause;
    let cut = LIST_END.as_ref().and_then(|pattern| pattern.find(whole)).map_or(whole.len(), |found| found.start());
    let range = range.start..range.start + cut;
    let mut found = Vec::new();
    for piece in split(text, range.clone()) {
        let piece = without_trailing_time(text, piece);
        let cut = if take == Take::Towns {
            first_match(&PLACE_END, slice(text, &piece))
        } else {
            first_match(&THING_END, slice(text, &piece))
        };
        let piece = piece.start..cut.map_or(piece.end, |at| piece.start + at);
        if let Some(piece) = trim(text, piece).filter(|piece| is_value(slice(text, piece), take)) {
            found.push(piece);
        } else {
            break;
        }
    }
    let length = |piece: Option<&Range<usize>>| piece.map_or(0, |piece| slice(text, piece).split(' ').count());
    let long = found.iter().any(|piece| length(Some(piece)) > 2);
    let shared = length(found.first()) < length(found.last());
    if take == Take::Things && found.len() > 1 && (long || shared) && !slice(text, &range).contains(',') {
        // "the sound of rain and wind" is one thing, and so are "action and crime films".
        let whole = without_trailing_time(text, range);
        return trim(text, whole).filter(|piece| is_value(slice(text, piece), take)).into_iter().collect();
    }
    found.truncate(LIST_MAX);
    found
}

static LIST_END: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?ix)[\ ,]+(?:(?:and|or)\ (?:i|we|my|he|she|they|it|you|that|have|am)\b|but\b|because\b|since\b|so\b|which\b|where\b|while\b|though\b|although\b|except\b|unless\b|however\b
          |for\ now\b|these\ days\b|right\ now\b|now\b|nowadays\b|any\ ?more\b|too\b|as\ well\b|please\b|a\ lot\b|very\ much\b|so\ much\b|(?:i|we|my|it's|that's|can|could|do|does|what|where|which)\b)
         |但是|不过|因为|所以|而且|然后|可是|,?我(?:也|还|们|的|现在|在|是|想)|,(?:有|能|请|帮|你|在|是|不|也)",
    )
});

fn split(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let whole = slice(text, &range);
    let mut found = Vec::new();
    let mut start = 0;
    let separators = SEPARATOR.as_ref().into_iter().flat_map(|pattern| pattern.find_iter(whole));
    for separator in separators.take(LIST_MAX) {
        found.push(range.start + start..range.start + separator.start());
        start = separator.end();
    }
    found.push(range.start + start..range.end);
    found
}

/// Whether the text can be a value of its kind.
fn is_value(value: &str, take: Take) -> bool {
    let chars = value.chars().count();
    if chars == 0 || chars > VALUE_CHARS_MAX || !value.chars().any(char::is_alphanumeric) {
        return false;
    }
    let lower = value.to_lowercase();
    let first = lower.split(' ').next().unwrap_or_default();
    let han = value.chars().any(is_han);
    match take {
        Take::Name => chars <= 40 && is_name(&lower, han),
        Take::StrictName => {
            chars <= 40
                && is_name(&lower, han)
                && (han || value.starts_with(char::is_uppercase))
                && looks_like_name(value, han)
        }
        Take::Called => {
            chars <= 30 && is_name(&lower, han) && (han || value.split(' ').count() <= 2) && !NO_CALL.contains(&first)
        }
        Take::Place => {
            chars <= 60 && !NO_PLACE.contains(&first) && !NO_PLACE_HAN.iter().any(|word| value.contains(word))
        }
        Take::Towns => is_town(value, han),
        Take::Organisation => {
            chars <= 60
                && !NO_ORGANISATION.contains(&lower.as_str())
                && !NO_ORGANISATION_HAN.iter().any(|word| value.contains(word))
        }
        Take::Job => {
            chars <= 60
                && OCCUPATION.as_ref().is_some_and(|pattern| pattern.is_match(value))
                && !NO_OCCUPATION.as_ref().is_some_and(|pattern| pattern.is_match(value))
        }
        Take::Thing | Take::Things => {
            value.split(' ').count() <= THING_WORDS_MAX
                && !NO_THING.contains(&first)
                && !NO_THING_HAN.iter().any(|word| value.starts_with(word))
        }
        Take::Plain => true,
        Take::Whole => !NO_ACTION.contains(&lower.as_str()),
        Take::When => {
            let time = find_times(value).first().map(|found| found.range.start);
            time.map_or_else(|| value.chars().any(|ch| ch.is_ascii_digit()), |start| start <= TIME_WITHIN_BYTES)
        }
        Take::Happening if !han => value.contains(' ') || HAPPENINGS.contains(&lower.as_str()),
        Take::Action | Take::Happening => chars >= 2 && !NO_ACTION.contains(&lower.as_str()),
    }
}

fn is_name(lower: &str, han: bool) -> bool {
    let first = lower.split(' ').next().unwrap_or_default();
    if han {
        let chars = lower.chars().count();
        return chars <= 8 && !NO_NAME_HAN.iter().any(|word| lower.contains(word));
    }
    !NO_NAME.contains(&first) && lower.split(' ').count() <= 4 && !lower.chars().any(|ch| ch.is_ascii_digit())
}

fn looks_like_name(value: &str, han: bool) -> bool {
    if han {
        // 我叫 with more than a name behind it is a call for something.
        return (2..=4).contains(&value.chars().count()) || value.contains('·');
    }
    !NO_STRICT_NAME.contains(&value.to_lowercase().as_str())
}

fn is_town(value: &str, han: bool) -> bool {
    if han {
        let chars = value.chars().count();
        return (2..=8).contains(&chars)
            && !NO_PLACE_HAN.iter().any(|word| value.contains(word))
            && !NO_TOWN_HAN.iter().any(|word| value.contains(word));
    }
    let capital = value.starts_with(|ch: char| ch.is_uppercase())
        || (value.starts_with("the ") && value.chars().nth(4).is_some_and(char::is_uppercase));
    capital && value.split(' ').count() <= 4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, take: Take) -> Vec<&str> {
        values(text, 0..text.len(), take).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn values_end_where_they_were_meant_to() {
        for (text, take, expected) in [
            ("Berlin last month.", Take::Place, &["Berlin"][..]),
            ("San Francisco with my cousin", Take::Place, &["San Francisco"]),
            ("fear of spiders", Take::Place, &[]),
            ("杭州了。", Take::Place, &["杭州"]),
            ("Tokyo and Osaka in May", Take::Towns, &["Tokyo", "Osaka"]),
            ("the gym", Take::Towns, &[]),
            ("东京和大阪", Take::Towns, &["东京", "大阪"]),
            ("the sound of rain and wind", Take::Things, &["the sound of rain and wind"]),
            ("software engineer at Bosch", Take::Job, &["software engineer"]),
            ("bit tired", Take::Job, &[]),
            ("tomorrow at 9 to water the plants", Take::Action, &["water the plants"]),
            ("明天交电费", Take::Action, &["交电费"]),
        ] {
            assert_eq!(cut(text, take), expected, "{text:?} as {take:?}");
        }
    }

    #[test]
    fn lists_and_values_are_bounded() {
        let list = "Rome, ".repeat(LIST_MAX * 3);
        assert_eq!(cut(&list, Take::Towns).len(), LIST_MAX);
        assert_eq!(cut(&"x".repeat(VALUE_CHARS_MAX + 1), Take::Thing), Vec::<&str>::new());
    }

    #[test]
    fn patterns_compile() {
        for pattern in [
            &CONNECTIVE,
            &PLACE_END,
            &JOB_END,
            &THING_END,
            &TIME_LEAD,
            &SEPARATOR,
            &OCCUPATION,
            &NO_OCCUPATION,
            &ACTION_END,
            &LIST_END,
        ] {
            assert!(pattern.is_some());
        }
    }
}
