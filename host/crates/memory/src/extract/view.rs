//! A text as the rules read it: composed characters (NFC), one spelling for each mark, no invisible characters, simplified Han; and where each byte
//! came from.

use std::ops::Range;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::canonical_combining_class;

/// Traditional characters that occur in the rules, each before its simplified form.
const TRADITIONAL: &str = "\
    們们說说話话時时後后從从這这個个來来過过對对會会開开關关為为還还記记別别讓让請请給给應应該该經经幾几點点號号電电機机買买賣卖訂订錢钱\
    敏敏喜喜歡欢愛爱討讨厭厌吃吃飯饭養养貓猫條条隻只媽妈爸爸爺爷奶奶哥哥弟弟姐姐妹妹兒儿婆婆師师醫医學学專专業业職职員员覺觉習习慣惯總总\
    決决議议將将飛飞遊游廣广東东雲云蘇苏慶庆門门灣湾國国華华聽听問问題题氣气溫温單单價价發发動动樓楼層层區区縣县鎮镇鄉乡無无沒没於于邊边\
    裡里裏里處处變变離离辭辞畢毕婚婚結结參参聚聚預预約约診诊檢检課课試试產产見见讀读書书寫写樂乐歲岁雙双貸贷費费繳缴還还樣样實实錯错麼么\
    與与並并雖虽當当鄰邻顏颜綠绿紅红藍蓝黃黄車车號号碼码郵邮網网帳账賬账戶户護护證证陳陈張张劉刘楊杨趙赵吳吴孫孙馬马鄭郑謝谢許许鄧邓馮冯\
    韓韩葉叶蔣蒋盧卢龍龙萬万錢钱羅罗賴赖";

static SIMPLIFIED: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
    let mut pairs = Vec::new();
    let mut chars = TRADITIONAL.chars().filter(|ch| !ch.is_whitespace());
    while let (Some(from), Some(to)) = (chars.next(), chars.next()) {
        pairs.push((from, to));
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
});

/// The text to read, and the way back to the original.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    text: String,
    /// For each byte of the text: where its character begins and ends in the original.
    origins: Vec<(u32, u32)>,
}

impl View {
    /// Reads at most `bytes_max` bytes, cut at a character.
    pub(crate) fn new(original: &str, bytes_max: usize) -> Self {
        let (original, _) = original.split_at(original.floor_char_boundary(bytes_max));
        let mut view =
            Self { text: String::with_capacity(original.len()), origins: Vec::with_capacity(original.len()) };
        let mut rest = original.char_indices().peekable();
        while let Some((start, ch)) = rest.next() {
            let mut end = start + ch.len_utf8();
            while let Some((at, mark)) = rest.next_if(|(_, next)| joins(*next)) {
                end = at + mark.len_utf8();
            }
            let origin = (offset(start), offset(end));
            // A letter and its marks are read as one character where there is one, and each stands for all of them.
            let written = original.get(start..end).unwrap_or_default();
            let alone = end == start + ch.len_utf8();
            if alone { view.push(ch, origin) } else { written.nfc().for_each(|ch| view.push(ch, origin)) }
        }
        view
    }

    fn push(&mut self, ch: char, origin: (u32, u32)) {
        if let Some(read) = read(ch) {
            self.text.push(read);
            self.origins.extend(std::iter::repeat_n(origin, read.len_utf8()));
        }
    }

    /// What the rules read.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the original that a range of the view stands for.
    pub(crate) fn origin(&self, range: Range<usize>) -> Range<usize> {
        let start = self.origins.get(range.start).map_or(0, |(start, _)| *start);
        let end = range.end.checked_sub(1).and_then(|last| self.origins.get(last)).map_or(start, |(_, end)| *end);
        if range.is_empty() { start as usize..start as usize } else { start as usize..end.max(start) as usize }
    }

    /// Where in the view the byte of the original is, or what follows it.
    pub(crate) fn position(&self, original: usize) -> usize {
        self.origins.partition_point(|(_, end)| (*end as usize) <= original)
    }
}

/// Offsets lie within a message, far below 4 GiB.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Whether a character belongs to the one before it: a mark that combines, or a later part of a Hangul syllable.
fn joins(ch: char) -> bool {
    ch > '\u{2ff}' && (canonical_combining_class(ch) != 0 || matches!(ch, '\u{1160}'..='\u{11ff}'))
}

/// How a character is read; none for one that has no width.
fn read(ch: char) -> Option<char> {
    match ch {
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' => None,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' => None,
        '\u{2018}' | '\u{2019}' | '\u{2bc}' | '\u{201b}' => Some('\''),
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(ch) - 0xfee0),
        '\u{2010}'..='\u{2013}' | '\u{2212}' => Some('-'),
        '\u{3000}' | '\u{a0}' => Some(' '),
        '\n' => Some('\n'),
        ch if ch.is_control() => Some(' '),
        ch if u32::from(ch) >= 0x3400 => Some(simplified(ch)),
        ch => Some(ch),
    }
}

fn simplified(ch: char) -> char {
    let table = &*SIMPLIFIED;
    table.binary_search_by_key(&ch, |(from, _)| *from).ok().and_then(|at| table.get(at)).map_or(ch, |(_, to)| *to)
}

/// Whether a character is Han.
pub(crate) fn is_han(ch: char) -> bool {
    matches!(ch, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_invisible_goes_and_ranges_lead_back() {
        let original = "我\u{200f}對\u{202e}ＡＢ，it’s";
        let view = View::new(original, 1_000);
        assert_eq!(view.text(), "我对AB,it's");
        let at = view.text().find("AB").expect("there");
        assert_eq!(original.get(view.origin(at..at + 2)), Some("ＡＢ"));
        assert_eq!(view.origin(0..view.text().len()), 0..original.len());
        assert_eq!(view.origin(3..3).len(), 0);
    }

    #[test]
    fn a_letter_and_its_marks_are_one_character() {
        let original = "Zoe\u{308} a\u{323}\u{302} \u{1112}\u{1161}\u{11ab} x\u{302} \u{301}";
        let view = View::new(original, 1_000);
        assert_eq!(view.text(), "Zo\u{eb} \u{1ead} \u{d55c} x\u{302} \u{301}");
        assert_eq!(original.get(view.origin(0..4)), Some("Zoe\u{308}"));
        assert_eq!(view.position(3), 2, "the mark is where its letter is");
        assert_eq!(view.origin(0..view.text().len()), 0..original.len());
        assert_eq!(view.text(), View::new(view.text(), 1_000).text());
    }

    #[test]
    fn what_is_over_the_limit_is_not_read() {
        assert_eq!(View::new("灯灯灯", 7).text(), "灯灯");
    }

    #[test]
    fn the_table_has_pairs_of_han() {
        let chars: Vec<char> = TRADITIONAL.chars().filter(|ch| !ch.is_whitespace()).collect();
        assert!(chars.len().is_multiple_of(2) && chars.iter().all(|ch| is_han(*ch)));
        assert_eq!(simplified('說'), '说');
    }
}
