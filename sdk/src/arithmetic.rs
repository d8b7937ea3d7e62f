//! Arithmetic expressions: `+ - * / % ^`, parentheses, decimals. Hostile input is bounded in length and depth.
//!
//! Several apps calculate for their users; they agree on what an expression means because they share this.
//!
//! ```
//! use loopwright_sdk::arithmetic::evaluate;
//!
//! assert_eq!(evaluate("(12.5 + 3) * 2"), Ok(31.0));
//! assert!(evaluate("1 / 0").is_err());
//! ```

use core::fmt;

/// Characters of an expression.
const LENGTH_MAX: usize = 200;
/// Nested parentheses and signs.
const DEPTH_MAX: u8 = 32;

/// What is wrong with an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Empty, or too long.
    Length,
    /// Something else stands at this character, counted from 1.
    Unexpected {
        /// What stands there; none at the end.
        found: Option<char>,
        /// Where.
        at: usize,
    },
    /// Nested too deeply.
    Depth,
    /// Division by zero.
    DivisionByZero,
    /// The result is not a finite number.
    NotFinite,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => formatter.write_str("1 to 200 characters"),
            Self::Unexpected { found: Some(found), at } => write!(
                formatter,
                "a number, an operator out of + - * / % ^ or a parenthesis at character {at} instead of `{found}`"
            ),
            Self::Unexpected { found: None, at } => {
                write!(formatter, "a number or a parenthesis at character {at}, where it ends")
            }
            Self::Depth => formatter.write_str("at most 32 nested parentheses"),
            Self::DivisionByZero => formatter.write_str("no division by zero"),
            Self::NotFinite => formatter.write_str("a result that is a finite number"),
        }
    }
}

impl core::error::Error for Problem {}

/// The value of an expression of 1 to 200 characters, with at most 32 nested parentheses and signs.
///
/// # Errors
/// [`Problem`] says what was expected and where.
pub fn evaluate(text: &str) -> Result<f64, Problem> {
    let characters: Vec<char> = text.chars().collect();
    if text.trim().is_empty() || characters.len() > LENGTH_MAX {
        return Err(Problem::Length);
    }
    let mut parser = Parser { characters: &characters, position: 0, depth: 0 };
    let value = parser.sum()?;
    match parser.peek() {
        None if value.is_finite() => Ok(value),
        None => Err(Problem::NotFinite),
        Some(_) => Err(parser.unexpected()),
    }
}

struct Parser<'a> {
    characters: &'a [char],
    position: usize,
    depth: u8,
}

impl Parser<'_> {
    /// The next character that is not white space, with the typographic operators read as the plain ones.
    fn peek(&mut self) -> Option<char> {
        while self.characters.get(self.position).is_some_and(|character| character.is_whitespace()) {
            self.position += 1;
        }
        self.characters.get(self.position).map(|character| match character {
            '×' | '✕' | '·' => '*',
            '÷' => '/',
            '−' | '–' => '-',
            '（' => '(',
            '）' => ')',
            other => *other,
        })
    }

    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let found = self.peek().filter(|found| wanted.contains(found))?;
        self.position += 1;
        Some(found)
    }

    fn unexpected(&mut self) -> Problem {
        let found = self.peek();
        Problem::Unexpected { found, at: self.position + 1 }
    }

    fn sum(&mut self) -> Result<f64, Problem> {
        let mut value = self.product()?;
        while let Some(operator) = self.take(&['+', '-']) {
            let right = self.product()?;
            value = if operator == '+' { value + right } else { value - right };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<f64, Problem> {
        let mut value = self.signed()?;
        while let Some(operator) = self.take(&['*', '/', '%']) {
            let right = self.signed()?;
            if operator != '*' && right == 0.0 {
                return Err(Problem::DivisionByZero);
            }
            value = match operator {
                '*' => value * right,
                '/' => value / right,
                _ => value % right,
            };
        }
        Ok(value)
    }

    /// A sign binds weaker than a power: `-2^2` is -4.
    fn signed(&mut self) -> Result<f64, Problem> {
        match self.take(&['-', '+']) {
            Some(sign) => {
                let value = self.nested(Self::signed)?;
                Ok(if sign == '-' { -value } else { value })
            }
            None => self.power(),
        }
    }

    /// Powers bind to the right: `2^3^2` is 512.
    fn power(&mut self) -> Result<f64, Problem> {
        let base = self.atom()?;
        if self.take(&['^']).is_none() {
            return Ok(base);
        }
        let exponent = self.nested(Self::signed)?;
        Ok(base.powf(exponent))
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Result<f64, Problem>) -> Result<f64, Problem> {
        if self.depth >= DEPTH_MAX {
            return Err(Problem::Depth);
        }
        self.depth += 1;
        let value = inner(self);
        self.depth -= 1;
        value
    }

    fn atom(&mut self) -> Result<f64, Problem> {
        if self.take(&['(']).is_some() {
            let value = self.nested(Self::sum)?;
            return if self.take(&[')']).is_some() { Ok(value) } else { Err(self.unexpected()) };
        }
        self.peek();
        let start = self.position;
        let rest = self.characters.get(start..).unwrap_or_default();
        let length = rest.iter().take_while(|character| character.is_ascii_digit() || **character == '.').count();
        let text: String = rest.iter().take(length).collect();
        match text.parse::<f64>() {
            Ok(value) if text != "." => {
                self.position += length;
                Ok(value)
            }
            _ => Err(self.unexpected()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_follow_the_usual_precedence() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("-2^2", -4.0),
            ("2^3^2", 512.0),
            ("2^-1", 0.5),
            ("10 % 4", 2.0),
            ("8 ÷ 2 × 3", 12.0),
            ("（1+1）*3", 6.0),
            ("--3", 3.0),
            (".5 + 1.", 1.5),
            ("100 - 20 - 5", 75.0),
        ] {
            assert_eq!(evaluate(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn broken_expressions_say_where() {
        for (text, expected) in [
            ("", Problem::Length),
            ("1 +", Problem::Unexpected { found: None, at: 4 }),
            ("1 + x", Problem::Unexpected { found: Some('x'), at: 5 }),
            ("(1", Problem::Unexpected { found: None, at: 3 }),
            ("1)", Problem::Unexpected { found: Some(')'), at: 2 }),
            ("1.2.3", Problem::Unexpected { found: Some('1'), at: 1 }),
            (".", Problem::Unexpected { found: Some('.'), at: 1 }),
            ("1 / 0", Problem::DivisionByZero),
            ("9^999", Problem::NotFinite),
        ] {
            assert_eq!(evaluate(text), Err(expected), "{text}");
        }
        assert_eq!(evaluate(&"(".repeat(100)), Err(Problem::Depth));
        assert_eq!(evaluate(&"-".repeat(150)), Err(Problem::Depth));
        assert_eq!(evaluate(&"1+".repeat(200)), Err(Problem::Length));
    }
}
