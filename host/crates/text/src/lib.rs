//! Tokens, dates and numbers in English and Chinese; knows no index, no clock, no time zone and no file.

mod clause;
mod compound;
mod fold;
mod lex;
mod number;
mod script;
mod stop;
mod time;
mod token;

pub use clause::{CLAUSES_MAX, clauses, quotations};
pub use fold::TEXT_BYTES_MAX;
pub use number::{Number, NumberKind, NumberMatch, find_numbers, parse_number};
pub use stop::{STOP_WORDS_CHINESE, STOP_WORDS_ENGLISH};
pub use time::{
    CivilSpan, ClockExpression, DateExpression, DayPart, Direction, Granularity, Interval, MonthPart, MonthReference,
    Prefer, Reference, SPAN_YEARS_MAX, TimeExpression, TimeMatch, TimeOfDay, YearReference, find_times, parse_time,
    resolve,
};
pub use token::{SYMBOLS, TOKEN_CHARS_MAX, Token, TokenKind, query_tokens, tokenize};
