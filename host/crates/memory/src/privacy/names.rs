//! Names: of the entity table, with a title, after what introduces a name, and by their form.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::words::{GIVEN, NO_NAMES_HAN, NO_PEOPLE, PINYIN_SURNAMES};
use super::{Found, IdentifierKind};
use crate::extract::compile;
use crate::extract::view::is_han;
use crate::names::{KnownNames, fold};

/// Digits of an entity from which on it is looked for with whatever stands between them.
const ENTITY_DIGITS: usize = 5;

/// Patterns whose part `v` is a name.
const PATTERNS: &[(u16, &str)] = &[
    (
        950,
        r"\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Sir|Madam|Aunt|Auntie|Uncle|Captain|Judge|Officer|Coach)\.? (?P<v>\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+){0,2})",
    ),
    (
        940,
        r"(?i)\b(?:my name is|my name's|name is|name's|i'm called|call me|named|called|signed by|signed|dear|regards,?|sincerely,?|attn:?|contact:?|contact person:?)\s+(?P<v>(?-i:\p{Lu}[\p{L}'-]+)(?: (?-i:\p{Lu}[\p{L}'-]+)){0,3})",
    ),
    (
        930,
        r"(?i)\b(?:my|our|his|her|their) (?:\w+ )?(?:{REL}|{PET}|client|patient|customer|landlord|professor|supervisor|assistant|ex),? (?:is |named |called )?(?P<v>(?-i:\p{Lu}[\p{L}'-]+)(?: (?-i:\p{Lu}[\p{L}'-]+)){0,2})",
    ),
    (
        900,
        r"(?i)(?:^|[.!?\n] ?)(?:hi|hello|hey|thanks|thank you|bye|good morning|good night),? (?P<v>(?-i:\p{Lu}[\p{L}'-]+))\b",
    ),
    (
        820,
        r"\b(?:with|met|meet|meeting|from|by|and|told|asked|saw|visit|visited|call|called|calling|text|texted|email|emailed|invite|invited|for|to|that|when|because|remind|help|join|between|is|was|thank|see|seeing|know|like|love|joined) (?P<v>\p{Lu}[\p{Ll}'-]+ \p{Lu}[\p{Ll}'-]+)\b",
    ),
    (
        820,
        r"(?:^|[.!?\n] ?)(?P<v>\p{Lu}[\p{Ll}'-]+ \p{Lu}[\p{Ll}'-]+) (?:said|says|told|asked|is|was|has|had|will|works|lives|called|wrote|came|went|thinks|wants|likes|loves|and)\b",
    ),
    (
        950,
        r"(?:我叫|名叫|叫做|姓名(?:是|:)?|名字(?:是|叫|:)|全名(?:是|:)?|真名(?:是|叫)|联系人(?:是|:)?|收件人(?:是|:)?|患者|当事人|客户|法人(?:是)?)(?P<v>{姓}\p{Han}{1,2}?)(?:$|[^\p{Han}]|[的在是和与跟了说要会想去来,。住喜也都先女老同医电手生])",
    ),
    (
        950,
        r"(?P<v>{姓}\p{Han}{0,2}?)(?:先生|女士|小姐|太太|老师|医生|大夫|教授|律师|护士|主任|经理|总监|总裁|董事长|校长|院长|局长|处长|科长|队长|师傅|阿姨|叔叔|同学|总(?:[^\p{Han}]|说|在|的|让|叫))",
    ),
    (
        930,
        r"(?:{亲})(?:的?名字)?(?:叫|是)?(?P<v>{姓}\p{Han}{1,2}?)(?:$|[^\p{Han}]|[的在是和与跟了说要会想去来住喜也都昨今明刚])",
    ),
    (860, r"(?:{亲})(?:的?名字)?(?:叫|是)?(?P<v>{姓}\p{Han}{2})"),
    (760, r"(?:和|跟|与|给|找|请|约|陪|告诉|联系|通知)(?P<v>{姓}\p{Han}{2})"),
    (
        920,
        r"(?:[^\p{Han}]|^)(?P<v>(?:小|老|阿)(?:[王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦方白邹孟熊秦邱江]))(?:$|[^\p{Han}]|[的在是和与跟了说要会想去来住喜也都昨今明刚给])",
    ),
    (
        850,
        r"(?:和|跟|与|同|给|找|请|让|约|陪|见|问|叫|帮|向|替|对|被|由|是|联系|认识|遇到|告诉|感谢|通知|看到|碰到|采访|介绍)(?P<v>{姓}\p{Han}{1,2}?)(?:$|[^\p{Han}]|[的在是和与跟了说要会想去来住喜也都昨今明刚一打发吃见帮送借写])",
    ),
    (
        830,
        r"(?:^|[^\p{Han}])(?P<v>{姓}\p{Han}{1,2}?)(?:说|在|是|的(?:电话|手机|生日|地址|邮箱|微信|家|妈|爸|孩子|公司|工资)|住在|去了|来了|告诉|昨天|今天|明天|刚|喜欢|和|跟|给|,|:|、)",
    ),
    (900, r"\b(?P<v>\p{Lu}\. ?(?:\p{Lu}\. ?)?\p{Lu}[\p{L}'-]{2,})"),
    (
        880,
        r"(?:和|跟|与|给|找|请|让|约|陪|问|叫|联系|通知|告诉)(?P<v>(?:小|老|阿)[王李张刘陈杨赵吴周徐孙朱胡郭何林罗郑梁谢宋唐许韩冯邓曹彭曾田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢崔谭陆汪范廖贾夏韦傅邹孟熊秦邱尹薛])",
    ),
];

static COMPILED: LazyLock<Vec<(u16, Regex)>> =
    LazyLock::new(|| PATTERNS.iter().filter_map(|(sure, pattern)| Some((*sure, compile(pattern)?))).collect());
static CAPITALISED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(r"\p{Lu}[\p{Ll}'-]+(?: (?:\p{Lu}\.|\p{Lu}[\p{Ll}'-]+|van|von|de|der|da|del)(?:\b|$)){0,3}")
});
static HAN_NAME: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r"{姓}\p{Han}{1,2}"));

pub(super) fn find(text: &str, entities: &KnownNames) -> Vec<Found> {
    let mut found = known(text, entities);
    for (sure, pattern) in COMPILED.iter() {
        let names = pattern.captures_iter(text).filter_map(|captures| captures.name("v"));
        found.extend(
            names
                .filter(|name| may_be_name(name.as_str()))
                .map(|name| Found::new(IdentifierKind::Name, name.range(), *sure)),
        );
    }
    found.extend(given(text));
    found.extend(given_in_lower_case(text));
    found
}

/// Given names that are written small. Many are other words too, so that a person should look.
fn given_in_lower_case(text: &str) -> Vec<Found> {
    const OTHER_WORDS: &[&str] = &[
        "frank",
        "jack",
        "max",
        "jean",
        "amber",
        "christian",
        "mason",
        "tyler",
        "lily",
        "ruth",
        "ann",
        "ali",
        "mei",
        "dan",
        "ray",
        "long",
    ];
    let words = LOWER.iter().flat_map(|pattern| pattern.find_iter(text));
    let names = words.filter(|word| GIVEN.contains(word.as_str()) && !OTHER_WORDS.contains(&word.as_str()));
    names.map(|word| Found::new(IdentifierKind::Name, word.range(), 700)).collect()
}

static LOWER: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r"\b[a-z]{3,12}\b"));

/// The names of the entity table.
fn known(text: &str, entities: &KnownNames) -> Vec<Found> {
    let lower = lower_same_length(text);
    let mut found = Vec::new();
    for alias in entities.aliases() {
        let mut from = 0;
        while let Some(at) = lower.get(from..).and_then(|rest| rest.find(alias)) {
            let range = from + at..from + at + alias.len();
            if stands_alone(&lower, &range) {
                found.push(Found::new(IdentifierKind::Name, range.clone(), 1_000));
            }
            from = range.end;
        }
    }
    found
}

/// Lower case where that keeps the bytes in their places.
fn lower_same_length(text: &str) -> String {
    text.chars()
        .map(|ch| {
            let mut lower = ch.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(one), None) if one.len_utf8() == ch.len_utf8() => one,
                _ => ch,
            }
        })
        .collect()
}

/// Whether no letter or digit of a script with spaces touches the range.
fn stands_alone(text: &str, range: &Range<usize>) -> bool {
    let is_word = |ch: char| ch.is_alphanumeric() && !is_han(ch);
    let inner = text.get(range.clone()).unwrap_or_default();
    let before = text.get(..range.start).and_then(|before| before.chars().next_back());
    let after = text.get(range.end..).and_then(|after| after.chars().next());
    let touches = |inner: Option<char>, outer: Option<char>| inner.is_some_and(is_word) && outer.is_some_and(is_word);
    !touches(inner.chars().next(), before) && !touches(inner.chars().next_back(), after)
}

fn may_be_name(name: &str) -> bool {
    if name.chars().any(is_han) {
        return !NO_NAMES_HAN.iter().any(|word| name.starts_with(word));
    }
    let lower = name.to_lowercase();
    !lower.split(' ').any(|word| NO_PEOPLE.contains(word))
}

/// Capitalised runs with a word that is a given name, or a surname beside another word.
fn given(text: &str) -> Vec<Found> {
    let runs = CAPITALISED.iter().flat_map(|pattern| pattern.find_iter(text));
    let mut found = Vec::new();
    for run in runs {
        let words: Vec<(Range<usize>, String)> = words(run.as_str(), run.start());
        let is = |list: &BTreeSet<&str>, word: &str| list.contains(word.trim_end_matches("'s"));
        let first = words.iter().position(|(_, word)| is(&GIVEN, word));
        let surname = words.iter().position(|(_, word)| is(&PINYIN_SURNAMES, word)).filter(|_| words.len() > 1);
        let Some(place) = first.or(surname.map(|place| place.saturating_sub(1))) else { continue };
        // "Tell Anna Weber": the name begins at its first word that is one.
        let tail: Vec<&(Range<usize>, String)> =
            words.iter().skip(place).take_while(|(_, word)| !NO_PEOPLE.contains(word.as_str())).take(3).collect();
        if let (Some((start, _)), Some((end, last))) = (tail.first(), tail.last()) {
            let end = if last.ends_with("'s") { end.end - 2 } else { end.end };
            found.push(Found::new(IdentifierKind::Name, start.start..end, 880));
        }
    }
    found
}

fn words(run: &str, start: usize) -> Vec<(Range<usize>, String)> {
    let mut at = start;
    run.split(' ')
        .map(|word| {
            let range = at..at + word.len();
            at = range.end + 1;
            (range, word.to_lowercase())
        })
        .collect()
}

/// Capitalised words in the middle of a sentence that are in no list: a person should look.
pub(super) fn suspects(text: &str) -> Vec<Range<usize>> {
    let runs = CAPITALISED.iter().flat_map(|pattern| pattern.find_iter(text));
    runs.filter(|run| {
        let before = text.get(..run.start()).unwrap_or_default().trim_end();
        let opens =
            before.is_empty() || before.ends_with(['.', '!', '?', '\n', ':', '"', '“', ';', '。', '-', '(', '[']);
        let unknown =
            words(run.as_str(), 0).into_iter().any(|(_, word)| !NO_PEOPLE.contains(word.trim_end_matches("'s")));
        !opens && unknown
    })
    .map(|run| run.range())
    .collect()
}

/// Three Han characters by themselves that have the form of a name.
pub(super) fn suspects_han(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for run in HAN_NAME.iter().flat_map(|pattern| pattern.find_iter(text)) {
        let before = text.get(..run.start()).and_then(|before| before.chars().next_back());
        let after = text.get(run.end()..).and_then(|after| after.chars().next());
        let alone = !before.is_some_and(is_han) && !after.is_some_and(is_han);
        if alone && may_be_name(run.as_str()) {
            found.push(run.range());
        }
    }
    found
}

/// What may be a name in a run of Han: 小芳, 老李 and 阿强 whatever follows, and a name before what people do.
pub(super) fn suspects_in_han(text: &str) -> Vec<Range<usize>> {
    let called = |pattern: &'static LazyLock<Option<Regex>>| {
        pattern.iter().flat_map(|pattern| pattern.captures_iter(text)).filter_map(|captures| captures.name("v"))
    };
    let familiar = called(&FAMILIAR).filter(|name| {
        let mut chars = name.as_str().chars();
        let (first, second) = (chars.next(), chars.next());
        let words = match first {
            Some('小') => NO_FAMILIAR_SMALL,
            Some('老') => NO_FAMILIAR_OLD,
            _ => NO_FAMILIAR_A,
        };
        second.is_some_and(|second| !words.contains(second))
    });
    let doing = called(&DOING).filter(|name| may_be_name(name.as_str()));
    familiar.chain(doing).map(|name| name.range()).collect()
}

static FAMILIAR: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r"(?P<v>[小老阿]\p{Han})"));
static DOING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?:^|[^\p{Han}])(?P<v>{姓}\p{Han}{1,2}?)(?:推荐|介绍|喜欢|讨厌|爱吃|爱喝|爱看|教|送|借|帮|寄|卖|请|带|陪|开的|写的|做的|打来|打了|发来|家里?的|住|认识|觉得|答应|生病|结婚|离婚|怀孕)",
    )
});

/// What follows 小, 老 and 阿 in words that are no names.
const NO_FAMILIAR_SMALL: &str = "学时心区说孩朋店型声吃费组姐伙狗猫鸟鱼雨麦米菜路巷镇村城河山岛桥屋房院楼提程票偷腿便数看气丑号的了一点儿女子弟妹叔姨姑舅伴份步睡结笔额众样包本册贩生标作巧康资于人物名事到有间吧车船火牛羊鸡鸭猪虎兔熊鬼憩怪吵修憨溪湖径径道型半二三四五六七八九十两几多少年月周日夜腹肠脑指臂脚手刀勺碗杯瓶盒箱袋球灯花草树豆葱蒜辣炒面饼苏打视频而或和是在不很太";
const NO_FAMILIAR_OLD: &str = "师板公婆人家是外百年乡爸妈爷太大二三四五头虎鼠鹰实练旧化龄友同朋伴房城街店字总早样款了的不在牌干手汉道伯弟哥姐领底话远天式路楼机车东西北京上下来去想要会有没花式";
const NO_FAMILIAR_A: &str = "姨姆拉尔里富根司胶莫联迪曼婆公伯爸妈哥妹姐弟爷斯塔巴布尼克德们飘是的";

/// How many tokens of the entity table are still in a text, placeholders apart.
pub(super) fn survivors(text: &str, entities: &KnownNames) -> usize {
    let folded = fold(&without_placeholders(text));
    let digits: String = folded.chars().filter(char::is_ascii_digit).collect();
    let mut tokens = BTreeSet::new();
    for alias in entities.aliases() {
        let han = alias.chars().any(is_han);
        if han {
            tokens.insert(alias.to_owned());
        } else {
            tokens.extend(alias.split([' ', '-', '_']).filter(|token| token.chars().count() > 1).map(str::to_owned));
        }
        let numbers: String = alias.chars().filter(char::is_ascii_digit).collect();
        if numbers.len() >= ENTITY_DIGITS && digits.contains(&numbers) {
            tokens.insert(numbers);
        }
    }
    let squeezed: String = folded.chars().filter(|ch| ch.is_alphanumeric()).collect();
    let survives = |token: &&String| {
        if token.chars().any(is_han) {
            return squeezed.contains(token.as_str());
        }
        let is_digits = token.chars().all(|ch| ch.is_ascii_digit()) && token.len() >= ENTITY_DIGITS;
        is_digits && digits.contains(token.as_str()) || contains_word(&folded, token)
    };
    tokens.iter().filter(survives).count()
}

fn contains_word(text: &str, token: &str) -> bool {
    text.match_indices(token).any(|(at, _)| stands_alone(text, &(at..at + token.len())))
}

static PLACEHOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"\[(?:NAME|PHONE|ID|CARD|EMAIL|ADDRESS|PLATE|ACCOUNT|URL|PASSPORT)-\d{1,3}\]|\[DATE [0-9-]{2,7}\]|\[AMOUNT about \d{1,19}\]",
    )
});

fn without_placeholders(text: &str) -> String {
    PLACEHOLDER.as_ref().map_or_else(|| text.to_owned(), |pattern| pattern.replace_all(text, " ").into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert_eq!(COMPILED.len(), PATTERNS.len());
        assert!(LOWER.is_some() && CAPITALISED.is_some() && HAN_NAME.is_some() && PLACEHOLDER.is_some());
        assert!(FAMILIAR.is_some() && DOING.is_some());
    }
}
