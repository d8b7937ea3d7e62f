//! What a time expression says, before it is placed on a calendar.

use jiff::civil::Weekday;

use super::span::CivilSpan;

/// What a text says about time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeExpression {
    /// A day, week, month or year: "next Friday", 三月四日.
    Date(DateExpression),
    /// A time of day without a date: "7:30 am", 晚上.
    Clock(ClockExpression),
    /// Both: 明天早上七点半.
    DateClock(DateExpression, ClockExpression),
    /// A distance from the moment of speaking: "in 20 minutes", 三天前.
    Offset {
        /// How far.
        span: CivilSpan,
        /// To which side.
        direction: Direction,
    },
    /// A length of time that is tied to no moment: "for two hours", 一刻钟.
    Length(CivilSpan),
}

/// To which side of the reference an offset goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Later.
    Forward,
    /// Earlier.
    Back,
}

/// A date as it was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DateExpression {
    /// Days from today: 1 is tomorrow.
    Day(i32),
    /// A day of the week.
    Weekday {
        /// Which day.
        weekday: Weekday,
        /// Weeks from this one, weeks beginning on Monday; without it the nearest such day is meant.
        week: Option<i32>,
    },
    /// Saturday and Sunday, in weeks from this one.
    Weekend(i32),
    /// A whole week, in weeks from this one.
    Week(i32),
    /// A month or a part of it.
    Month {
        /// Which month.
        month: MonthReference,
        /// Which part of it.
        part: MonthPart,
    },
    /// A whole year.
    Year(YearReference),
}

/// Which month is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MonthReference {
    /// Only a day was said: "the 15th", 15号.
    Unstated,
    /// Months from this one.
    Offset(i32),
    /// A month by its number, 1 to 12.
    Named {
        /// The year that was said with it.
        year: YearReference,
        /// 1 to 12.
        month: i8,
    },
}

/// Which year is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum YearReference {
    /// None was said.
    Unstated,
    /// By its number, 1 to 9999.
    Number(i16),
    /// Years from this one.
    Offset(i32),
}

/// A part of a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MonthPart {
    /// All of it.
    Whole,
    /// Its first ten days: 月初.
    Start,
    /// Its second ten days: 月中.
    Middle,
    /// What is left of it: 月底.
    End,
    /// One day, 1 to 31; a day that the month lacks places nowhere.
    Day(i8),
}

/// A time of day as it was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClockExpression {
    /// A time on the clock.
    At(TimeOfDay),
    /// A part of the day.
    Part(DayPart),
}

/// A time on the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeOfDay {
    /// 0 to 27; from 24 on it is in the night after the day that is meant: 晚上十二点 is 24, 晚上一点 is 25.
    pub hour: i8,
    /// 0 to 59.
    pub minute: i8,
    /// 0 to 59.
    pub second: i8,
    /// Whether the text told morning from afternoon ("7 pm", 早上七点, `19:00`); without it `hour` is as written.
    pub half_stated: bool,
}

/// A part of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DayPart {
    /// 00:00 to 06:00: 凌晨.
    EarlyMorning,
    /// 06:00 to 12:00: 早上, 上午.
    Morning,
    /// 11:00 to 13:00: 中午.
    Noon,
    /// 12:00 to 18:00: 下午.
    Afternoon,
    /// 18:00 to 24:00: 晚上.
    Evening,
    /// 21:00 to 06:00 of the next day: 夜里.
    Night,
}

impl DayPart {
    /// First hour, and the hour after the last, counted on past 24 into the next day.
    #[must_use]
    pub fn hours(self) -> (i8, i8) {
        match self {
            Self::EarlyMorning => (0, 6),
            Self::Morning => (6, 12),
            Self::Noon => (11, 13),
            Self::Afternoon => (12, 18),
            Self::Evening => (18, 24),
            Self::Night => (21, 30),
        }
    }

    /// The hour on the 24-hour clock of an hour that was said with this part of the day.
    pub(crate) fn place(self, hour: i8) -> i8 {
        match (self, hour) {
            (Self::EarlyMorning, 12) => 0,
            (Self::Noon, 1..=3) | (Self::Afternoon, 1..=11) | (Self::Evening, 4..=11) | (Self::Night, 6..=11) => {
                hour + 12
            }
            (Self::Evening, 1..=3) => hour + 24,
            (Self::Evening | Self::Night, 12) => 24,
            _ => hour,
        }
    }
}
