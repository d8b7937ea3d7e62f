//! A plain `SKILL.md`: a head with name and description, and a body of guidance.

use loopwright_contract::digest::ContentDigest;
use loopwright_contract::name::{Lang, NameError, SkillName, ToolName};
use loopwright_contract::skill::SkillCard;
use loopwright_contract::tool::Localized;

use super::front_matter::{Entry, split};

/// Bytes of one file.
pub const SKILL_FILE_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a description.
const SUMMARY_BYTES_MAX: usize = 1024;
/// Tools in one list.
const TOOLS_MAX: usize = 64;

/// Why a file is no skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillFileError {
    /// Too large.
    #[error("{found} bytes, at most {SKILL_FILE_BYTES_MAX} are allowed")]
    TooLong {
        /// Bytes found.
        found: usize,
    },
    /// Not UTF-8.
    #[error("the file is not UTF-8 text")]
    NotText,
    /// The head cannot be read; the text says where.
    #[error("{0}")]
    Head(String),
    /// A key is missing or of the wrong form.
    #[error("`{key}` is {found}, expected {expected}")]
    Key {
        /// Which.
        key: &'static str,
        /// What was found.
        found: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// A name breaks its rule.
    #[error(transparent)]
    Name(#[from] NameError),
}

/// A skill out of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFile {
    card: SkillCard,
    body: String,
    digest: ContentDigest,
}

impl SkillFile {
    /// Reads a file's content. Keys: `name`, `description`, and optional `description-zh` (or another language), `about` and `exposes`
    /// with lists of tools; others are left alone.
    ///
    /// # Errors
    /// [`SkillFileError`] says what is wrong and what is expected.
    pub fn parse(content: &[u8]) -> Result<Self, SkillFileError> {
        if content.len() > SKILL_FILE_BYTES_MAX {
            return Err(SkillFileError::TooLong { found: content.len() });
        }
        let text = std::str::from_utf8(content).map_err(|_| SkillFileError::NotText)?;
        let (head, body) = split(text).map_err(SkillFileError::Head)?;
        let name = match head.get("name") {
            Some(Entry::Text(name)) => SkillName::new(name)?,
            other => return Err(wrong("name", other, "a skill's name")),
        };
        let mut summary = Vec::new();
        for (key, entry) in &head {
            let lang = match key.strip_prefix("description") {
                Some("") => Lang::english(),
                Some(suffix) => match suffix.strip_prefix('-') {
                    Some(tag) => Lang::new(tag)?,
                    None => continue,
                },
                None => continue,
            };
            match entry {
                Entry::Text(text) if !text.is_empty() && text.len() <= SUMMARY_BYTES_MAX => {
                    summary.push(Localized { lang, text: text.clone() })
                }
                other => return Err(wrong("description", Some(other), "a text of 1 to 1024 bytes")),
            }
        }
        if !head.contains_key("description") {
            return Err(wrong("description", None, "a text of 1 to 1024 bytes"));
        }
        let card = SkillCard {
            name,
            summary,
            about: tools("about", head.get("about"))?,
            exposes: tools("exposes", head.get("exposes"))?,
        };
        Ok(Self { card, body: body.trim().to_owned(), digest: ContentDigest::of(content) })
    }

    /// What a planner sees before it loads the skill.
    #[must_use]
    pub fn card(&self) -> &SkillCard {
        &self.card
    }

    /// Of the file's bytes.
    #[must_use]
    pub fn digest(&self) -> ContentDigest {
        self.digest
    }

    /// The body for the offered tools: a paragraph or a list item that names a tool of `about` or `exposes` which is not offered is left
    /// out.
    #[must_use]
    pub fn guidance(&self, offered: &[ToolName]) -> String {
        let absent: Vec<&ToolName> =
            self.card.about.iter().chain(&self.card.exposes).filter(|tool| !offered.contains(tool)).collect();
        if absent.is_empty() {
            return self.body.clone();
        }
        let mut kept: Vec<&str> = Vec::new();
        let mut unit: Vec<&str> = Vec::new();
        for line in self.body.lines() {
            if line.trim().is_empty() || starts_item(line) {
                keep_unit(&mut kept, &mut unit, &absent);
            }
            unit.push(line);
        }
        keep_unit(&mut kept, &mut unit, &absent);
        kept.join("\n")
    }
}

fn keep_unit<'a>(kept: &mut Vec<&'a str>, unit: &mut Vec<&'a str>, absent: &[&ToolName]) {
    if unit.iter().any(|line| absent.iter().any(|tool| mentions(line, tool.as_str()))) {
        unit.clear();
    }
    kept.append(unit);
}

/// Whether a line begins an item of a list, or a heading, which stands by itself.
fn starts_item(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = line.trim_start_matches(|character: char| character.is_ascii_digit());
    line.starts_with("- ")
        || line.starts_with("* ")
        || line.starts_with('#')
        || (numbered.len() < line.len() && numbered.starts_with(". "))
}

/// Whether a line names a tool as a whole word.
fn mentions(line: &str, tool: &str) -> bool {
    let inside = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    line.match_indices(tool).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + tool.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(inside) && !after.is_some_and(inside)
    })
}

fn tools(key: &'static str, entry: Option<&Entry>) -> Result<Vec<ToolName>, SkillFileError> {
    match entry {
        None => Ok(Vec::new()),
        Some(Entry::Text(text)) if text.is_empty() => Ok(Vec::new()),
        Some(Entry::List(names)) if names.len() <= TOOLS_MAX => {
            Ok(names.iter().map(ToolName::new).collect::<Result<_, _>>()?)
        }
        other => Err(wrong(key, other, "a list of at most 64 tool names")),
    }
}

fn wrong(key: &'static str, found: Option<&Entry>, expected: &'static str) -> SkillFileError {
    let found = match found {
        None => "missing".to_owned(),
        Some(Entry::Text(text)) => format!("a text of {} bytes", text.len()),
        Some(Entry::List(items)) => format!("a list of {}", items.len()),
    };
    SkillFileError::Key { key, found, expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "---\nname: night-mode\ndescription: >\n  Quiet evenings,\n  in one go.\ndescription-zh: \"安静的夜晚\"\nlicense: MIT # free\nmetadata:\n  author: someone\nabout: [set_torch, \"set_volume\"]\nexposes:\n  - set_alarm\n---\n\n# Night\n\n- Turn off the torch with `set_torch`\n  and check it.\n- Lower the sound with set_volume.\n- Nothing about set_volume_max.\n\nThen set_alarm once.\n\nSay good night.\n";

    fn offered(names: &[&str]) -> Vec<ToolName> {
        names.iter().map(|name| ToolName::new(name).expect("a name")).collect()
    }

    #[test]
    fn a_file_is_a_card_and_guidance() {
        let file = SkillFile::parse(FILE.as_bytes()).expect("a skill");
        assert_eq!(file.card().name, "night-mode");
        assert_eq!(
            file.card().summary.iter().map(|text| text.text.as_str()).collect::<Vec<_>>(),
            ["Quiet evenings, in one go.", "安静的夜晚"]
        );
        assert_eq!(file.card().exposes, offered(&["set_alarm"]));
        let whole = file.guidance(&offered(&["set_torch", "set_volume", "set_alarm"]));
        assert!(whole.contains("set_alarm") && whole.contains("and check it"));
        let part = file.guidance(&offered(&["set_volume"]));
        expect_test::expect![[r##"
            # Night

            - Lower the sound with set_volume.
            - Nothing about set_volume_max.

            Say good night."##]]
        .assert_eq(&part.replace("\n\n\n", "\n\n"));
    }

    #[test]
    fn what_is_no_skill_says_why() {
        let head = |lines: &str| format!("---\n{lines}\n---\nbody");
        for (text, part) in [
            ("no head".to_owned(), "line 1: expected `---`"),
            ("---\nname: a\n".to_owned(), "not closed"),
            (head("description: x"), "`name` is missing"),
            (head("name: ../etc\ndescription: x"), "is not a skill name"),
            (head("name: a"), "`description` is missing"),
            (head("name: a\nname: b\ndescription: x"), "`name` is given twice"),
            (head("name: a\ndescription: x\nabout: [a, b"), "not closed by `]`"),
            (head("name: a\ndescription: \"x"), "not closed by `\"`"),
            (head("name: a\ndescription: x\nabout: tool"), "expected a list"),
            (head("name: a\ndescription: x\nexposes: [a b]"), "is not a tool name"),
            (head("what is this"), "expected `key: value`"),
            (head(&format!("name: a\ndescription: {}", "x".repeat(2000))), "1 to 1024 bytes"),
            (head(&"a: b\n".repeat(300)), "more than 200 lines"),
            ("x".repeat(SKILL_FILE_BYTES_MAX + 1), "at most 65536"),
        ] {
            let error = SkillFile::parse(text.as_bytes()).expect_err("accepted what is no skill").to_string();
            assert!(error.contains(part), "`{error}` does not say `{part}`");
        }
        assert_eq!(SkillFile::parse(&[0xff, 0xfe]), Err(SkillFileError::NotText));
    }
}
