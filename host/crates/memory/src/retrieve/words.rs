//! Words that shape a question and say nothing of what is asked about. A text that is kept may well use them; a query by them finds everything.

/// Folded English words, sorted.
const ENGLISH: &[&str] = &[
    "about",
    "according",
    "after",
    "all",
    "also",
    "any",
    "as",
    "at",
    "be",
    "been",
    "before",
    "being",
    "between",
    "both",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "during",
    "feel",
    "for",
    "from",
    "get",
    "go",
    "going",
    "got",
    "had",
    "happen",
    "happened",
    "has",
    "have",
    "he",
    "her",
    "him",
    "his",
    "how",
    "in",
    "into",
    "is",
    "it",
    "its",
    "kind",
    "kinds",
    "like",
    "long",
    "lot",
    "made",
    "make",
    "many",
    "may",
    "mention",
    "mentioned",
    "might",
    "most",
    "much",
    "of",
    "often",
    "on",
    "one",
    "ones",
    "other",
    "said",
    "say",
    "says",
    "she",
    "should",
    "some",
    "sort",
    "take",
    "tell",
    "than",
    "their",
    "them",
    "there",
    "they",
    "think",
    "thought",
    "to",
    "told",
    "took",
    "type",
    "types",
    "use",
    "used",
    "was",
    "went",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "would",
];

/// Pairs of Chinese characters, sorted: a query is cut into pairs.
const CHINESE: &[&str] = &[
    "为什", "什么", "什麼", "什么", "哪一", "哪些", "哪个", "哪儿", "哪裡", "哪里", "多久", "多少", "怎么", "怎样",
    "是什", "是谁", "时候", "時候", "么时",
];

/// Whether a term of a query only shapes the question. `word` is folded and not stemmed.
pub(crate) fn shapes_a_question(word: &str) -> bool {
    let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
    ENGLISH.binary_search(&word).is_ok() || CHINESE.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_for_the_binary_search() {
        assert!(ENGLISH.is_sorted());
        assert!(shapes_a_question("what's") && shapes_a_question("什么") && !shapes_a_question("guitar"));
    }
}
