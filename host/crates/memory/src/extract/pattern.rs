//! Patterns with named parts, compiled once.

use regex::{Regex, RegexBuilder};

/// The most memory of one compiled pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 4 << 20;

/// Parts that several patterns have, each behind the name that stands for it.
const PARTS: &[(&str, &str)] = &[
    ("{VALUE}", r"(?P<v>[^,;!?。\n]+)"),
    ("{LIST}", r"(?P<v>[^;!?。\n]+)"),
    (
        "{WHO}",
        r"(?P<v>(?-i:\p{Lu}(?:'\p{Lu})?[\p{L}-]*)(?: (?:(?-i:\p{Lu}(?:'\p{Lu})?[\p{L}-]*)|(?:de|van|von|der|da|la|bin|al)\b)){0,3})",
    ),
    ("{NAME}", r"(?P<name>(?-i:\p{Lu}[\p{L}'-]*))"),
    (
        "{ADV}",
        r"(?:(?:currently|now|still|actually|also|since|really|just|recently|finally|already|usually|always|generally|normally|typically|often|mostly|absolutely|truly|particularly|especially|personally|definitely|both|do|all|quite) )*",
    ),
    ("{IAM}", r"\b(?:i am|i'm|im)"),
    ("{NOT}", r"(?:don't|do not|dont|no longer)"),
    (
        "{REL}",
        r"(?:best friend|girlfriend|boyfriend|wife|husband|partner|fianc(?:ee|é|ée|e)|mother|mum|mom|mommy|father|dad|daddy|sister|brother|son|daughter|grandmother|grandma|grandfather|grandpa|aunt|uncle|cousin|niece|nephew|friend|colleague|coworker|boss|manager|roommate|flatmate|neighbou?r|doctor|dentist|therapist|teacher|kid|baby|twin|mother-in-law|father-in-law|stepson|stepdaughter)",
    ),
    (
        "{PET}",
        r"(?:dog|puppy|cat|kitten|rabbit|bunny|hamster|parrot|bird|fish|turtle|tortoise|horse|guinea pig|snake|lizard)",
    ),
    (
        "{亲}",
        r"(?:女朋友|男朋友|老爸|老妈|爱人|未婚妻|未婚夫|妹妹|姐姐|哥哥|弟弟|爸爸|妈妈|父亲|母亲|老婆|老公|妻子|丈夫|太太|媳妇|儿子|女儿|爷爷|奶奶|外公|外婆|姥姥|姥爷|叔叔|阿姨|姑姑|舅舅|上司|下属|婶婶|婶子|伯伯|伯父|伯母|嫂子|姐夫|妹夫|姑妈|姨妈|舅妈|侄子|侄女|外甥女|外甥|孙子|孙女|导师|客户|房东|前男友|前女友|前妻|前夫|岳父|岳母|公公|婆婆|表哥|表弟|表姐|表妹|堂哥|堂弟|堂姐|堂妹|闺蜜|同事|同学|室友|邻居|老板|领导|朋友|好友|爸|妈|哥|姐|弟|妹)",
    ),
    ("{宠}", r"(?:小狗|小猫|狗狗|猫咪|狗|猫|兔子|仓鼠|鹦鹉|乌龟|金鱼|鱼|鸟)"),
    (
        "{副}",
        r"(?:也|还|都|就|现在|目前|如今|一直|已经|刚刚|刚|最近|终于|真的|很|非常|特别|特|超级|超|最近|平时|平常|通常|一般|从小|其实|挺|蛮|比较|会|总是|经常|常常|常|又)*",
    ),
    ("{时}", r"(?P<t>[^,;!?。\n]{0,16}?)"),
    (
        "{姓}",
        r"(?:欧阳|司马|上官|诸葛|慕容|[王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤])",
    ),
];

/// A pattern with its named parts filled in; none when it does not compile, which tests rule out.
pub(crate) fn compile(pattern: &str) -> Option<Regex> {
    let mut filled = pattern.to_owned();
    for (name, part) in PARTS {
        if filled.contains(name) {
            filled = filled.replace(name, part);
        }
    }
    // A letter with a mark for which there is no character of its own goes on behind the mark.
    let filled = filled.replace(r"[\p{L}", r"[\p{L}\p{M}").replace(r"\p{Han}\p{L}", r"\p{Han}\p{L}\p{M}");
    RegexBuilder::new(&filled).size_limit(PATTERN_BYTES_MAX).build().ok()
}
