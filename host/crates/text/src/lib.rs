//! Tokens, dates and numbers in English and Chinese.
