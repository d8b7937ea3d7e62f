//! Numbers written in digits, in English words and in Chinese characters.

pub(crate) mod digits;
