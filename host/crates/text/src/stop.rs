//! The words that carry no subject, kept few and listed in full.

/// English words that say nothing about the subject of a request. Words that change what is asked for (`not`, `on`,
/// `off`, `all`, `before`) stay out of the list.
pub const STOP_WORDS_ENGLISH: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "could", "d", "did", "do", "does", "for",
    "from", "had", "has", "have", "hey", "hi", "i", "if", "im", "in", "is", "it", "its", "ive", "just", "let", "lets",
    "ll", "m", "may", "me", "my", "of", "or", "please", "re", "s", "shall", "should", "so", "t", "thanks", "that",
    "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "ve", "was", "we", "were", "will",
    "with", "would", "you", "your",
];

/// Chinese words, simplified and traditional, that say nothing about the subject of a request; longer ones are matched
/// first. Words that change what is asked for (不, 开, 关, 全) stay out of the list.
pub const STOP_WORDS_CHINESE: &[&str] = &[
    "可不可以",
    "能不能",
    "麻烦你",
    "帮我",
    "幫我",
    "给我",
    "給我",
    "我的",
    "你的",
    "我想",
    "我要",
    "可以",
    "能否",
    "麻烦",
    "一下",
    "这个",
    "那个",
    "那么",
    "如果",
    "的话",
    "然后",
    "并且",
    "还有",
    "以及",
    "现在",
    "已经",
    "的",
    "了",
    "吗",
    "嗎",
    "呢",
    "吧",
    "啊",
    "呀",
    "哦",
    "请",
    "請",
    "把",
    "将",
    "將",
    "被",
    "我",
    "你",
    "您",
    "它",
    "他",
    "她",
    "是",
    "在",
    "和",
    "与",
    "與",
    "及",
    "或",
    "就",
    "都",
    "也",
    "这",
    "那",
    "帮",
    "幫",
    "让",
    "讓",
    "给",
    "給",
    "要",
    "想",
    "个",
    "個",
];

/// Whether a folded, unstemmed English word is a stop word.
pub(crate) fn is_english_stop(word: &str) -> bool {
    STOP_WORDS_ENGLISH.binary_search(&word).is_ok()
}

/// For each character of a Chinese run, whether a stop word covers it.
pub(crate) fn chinese_stops(run: &[char]) -> Vec<bool> {
    let mut stops = vec![false; run.len()];
    let mut at = 0;
    while at < run.len() {
        let rest = run.get(at..).unwrap_or(&[]);
        let length = STOP_WORDS_CHINESE.iter().find_map(|word| {
            let length = word.chars().count();
            (rest.len() >= length && word.chars().zip(rest).all(|(expected, found)| expected == *found))
                .then_some(length)
        });
        match length {
            Some(length) => {
                stops.iter_mut().skip(at).take(length).for_each(|stop| *stop = true);
                at += length;
            }
            None => at += 1,
        }
    }
    stops
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_list_is_sorted_for_the_binary_search() {
        assert!(STOP_WORDS_ENGLISH.is_sorted());
        assert!(is_english_stop("please") && !is_english_stop("off"));
    }

    #[test]
    fn chinese_list_has_longer_words_first() {
        assert!(STOP_WORDS_CHINESE.is_sorted_by(|left, right| left.chars().count() >= right.chars().count()));
    }

    #[test]
    fn covers_the_longest_stop_word() {
        let run: Vec<char> = "请帮我开灯".chars().collect();
        assert_eq!(chinese_stops(&run), [true, true, true, false, false]);
    }
}
