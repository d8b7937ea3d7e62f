//! Words that end or spoil a value.

/// What happens to somebody, said in one word.
pub(super) const HAPPENINGS: &[&str] = &["graduated", "retired", "eloped"];

pub(super) const NO_ACTION: &[&str] = &[
    "go", "go now", "leave", "run", "do that", "do it", "that", "this", "it", "一下", "的是", "是", "再说", "再聊",
    "见", "再见",
];

pub(super) const NO_CALL: &[&str] = &[
    "when", "if", "at", "back", "later", "tomorrow", "tonight", "today", "now", "a", "an", "the", "on", "in", "after",
    "before", "crazy", "again", "as", "soon", "once", "maybe", "please", "first", "anytime", "whenever", "out", "up",
    "names", "by", "that", "this", "your", "old", "lucky",
];

pub(super) const NO_PLACE: &[&str] = &[
    "a", "an", "my", "his", "her", "their", "our", "your", "this", "that", "fear", "constant", "peace", "harmony",
    "hope", "it", "here", "there", "some", "one", "another", "bed", "silence", "denial", "poverty", "hell", "luxury",
    "what", "which", "two",
];

pub(super) const NO_PLACE_HAN: &[&str] =
    &["哪", "什么", "这里", "那里", "这儿", "那儿", "我", "你", "他", "她", "一起", "一个", "隔壁", "做", "不"];

pub(super) const NO_ORGANISATION: &[&str] = &[
    "home", "night", "it", "myself", "fun", "them", "you", "me", "a living", "least", "hours", "free", "people",
    "kids", "children",
];

pub(super) const NO_ORGANISATION_HAN: &[&str] =
    &["家里", "哪", "什么", "我", "你", "他", "她", "开会", "晚上", "白天", "努力", "认真", "做"];

pub(super) const NO_THING: &[&str] = &[
    "to",
    "that",
    "this",
    "it",
    "you",
    "him",
    "her",
    "them",
    "how",
    "when",
    "what",
    "where",
    "the way",
    "being",
    "me",
    "us",
    "your",
    "his",
    "these",
    "those",
    "my",
    "at",
    "in",
    "for",
    "hard",
    "one",
    "both",
    "all",
    "everything",
    "nothing",
    "if",
    "too",
    "not",
    "so",
    "very",
    "there",
    "here",
    "who",
];

pub(super) const NO_THING_HAN: &[&str] =
    &["人", "你", "他", "她", "它", "这", "那", "什么", "谁", "怎么", "哪", "我", "的", "上你", "上他", "上她", "不"];

pub(super) const NO_NAME: &[&str] = &[
    "not", "a", "an", "the", "so", "very", "too", "just", "sorry", "fine", "good", "ok", "okay", "here", "back",
    "home", "sure", "glad", "happy", "late", "going", "on", "in", "at", "from", "what", "when", "where", "who",
    "never", "always", "still", "my", "your", "his", "her", "it", "this", "that", "no",
];

pub(super) const NO_NAME_HAN: &[&str] = &[
    "了", "你", "他", "她", "我", "外卖", "车", "什么", "谁", "不", "醒", "起床", "名字", "的", "在", "是", "有", "到",
    "去", "做", "说",
];

/// Words written with a capital that say of somebody what they are, not who.
pub(super) const NO_STRICT_NAME: &[&str] = &[
    "american",
    "british",
    "chinese",
    "german",
    "french",
    "italian",
    "indian",
    "spanish",
    "christian",
    "muslim",
    "jewish",
    "buddhist",
    "catholic",
    "irish",
    "canadian",
    "australian",
    "japanese",
    "korean",
    "russian",
    "mexican",
    "dutch",
    "swedish",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "hindu",
    "european",
    "asian",
    "african",
    "brazilian",
    "i",
];

pub(super) const NO_TOWN_HAN: &[&str] =
    &["医院", "公司", "学校", "家", "银行", "超市", "健身房", "公园", "看", "吃", "买", "电影", "外面", "哪"];
