//! Plain tables for people: columns that line up, also where text is Chinese.

use std::fmt::Write as _;

use loopwright_contract::plain::is_unsafe;

/// How a column is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// The width of a text on a terminal, in cells.
#[must_use]
pub fn width(text: &str) -> usize {
    text.chars().map(|character| if is_wide(character) { 2 } else { 1 }).sum()
}

fn is_wide(character: char) -> bool {
    matches!(u32::from(character), 0x1100..=0x115f | 0x2e80..=0x303e | 0x3041..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd)
}

/// Sets rows under a head; cells beyond the head's columns are left out.
#[must_use]
pub fn render(head: &[(&str, Align)], rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> = head
        .iter()
        .enumerate()
        .map(|(column, (title, _))| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(|cell| width(cell))
                .chain([width(title)])
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut out = String::new();
    let titles: Vec<String> = head.iter().map(|(title, _)| (*title).to_owned()).collect();
    for row in std::iter::once(&titles).chain(rows) {
        let mut line = String::new();
        for ((cell, cells), (_, align)) in row.iter().zip(&widths).zip(head) {
            let padding = " ".repeat(cells.saturating_sub(width(cell)));
            let _ = match align {
                Align::Left => write!(line, "{cell}{padding}  "),
                Align::Right => write!(line, "{padding}{cell}  "),
            };
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Cuts a text to `cells`, with a mark where something is missing; what a terminal acts on becomes a space.
#[must_use]
pub fn cut(text: &str, cells: usize) -> String {
    let clean: String = text.chars().map(|character| if is_unsafe(character) { ' ' } else { character }).collect();
    if width(&clean) <= cells {
        return clean;
    }
    let mut kept = String::new();
    let mut used = 0;
    for character in clean.chars() {
        let cell = if is_wide(character) { 2 } else { 1 };
        if used + cell + 1 > cells {
            break;
        }
        used += cell;
        kept.push(character);
    }
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_with_wide_text() {
        let rows = vec![vec!["打开".to_owned(), "7".to_owned()], vec!["alarm".to_owned(), "12".to_owned()]];
        assert_eq!(render(&[("name", Align::Left), ("n", Align::Right)], &rows), "name    n\n打开    7\nalarm  12\n");
    }

    #[test]
    fn a_cut_text_fits_and_carries_no_control_characters() {
        assert_eq!(cut("a\u{1b}[31mred", 20), "a [31mred");
        assert_eq!(cut("gnp\u{202e}exe\u{9b}2J", 20), "gnp exe 2J");
        assert_eq!(cut("打开手机", 5), "打开…");
        assert_eq!(width(&cut("打开手机热点", 6)), 5);
    }
}
