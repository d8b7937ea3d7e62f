//! Skill plugins: know-how about some tools. They advise, and cannot act.

use crate::call::ToolCall;
use crate::failure::Fault;
use crate::phone::PhoneView;
use crate::plugin::Identity;

/// A skill plugin.
///
/// Export it with [`export_skill!`](crate::export_skill).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a skill plugin",
    label = "not a skill plugin",
    note = "write `impl SkillPlugin for {Self}` with `IDENTITY`, `card`, `guidance` and `check`"
)]
pub trait SkillPlugin {
    /// Who the plugin is.
    const IDENTITY: Identity;

    /// What a planner sees before it loads the skill: a constant.
    fn card() -> Card;

    /// The instructions, for the tools that are offered right now, in a language such as `en` or `zh`. At most 16,384 bytes.
    /// [`Guidance`] leaves out what concerns absent tools.
    fn guidance(offered: &[String], lang: &str) -> String;

    /// Judges a call before it runs. The host asks only loaded skills, in the order in which they were loaded.
    ///
    /// # Errors
    /// When the skill cannot judge, such as for a state that it cannot reach; a planner can do nothing about it.
    fn check(phone: &PhoneView, call: &ToolCall) -> Result<Advice, Fault>;
}

/// What a planner sees of a skill before it loads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    pub(crate) name: &'static str,
    pub(crate) summary: Vec<(&'static str, &'static str)>,
    pub(crate) about: Vec<&'static str>,
    pub(crate) exposes: Vec<&'static str>,
}

impl Card {
    /// A card for the skill `name` (`a-z`, `0-9` and `-`, 1 to 48 characters), with one or two English sentences on when to load it.
    ///
    /// ```
    /// use loopwright_sdk::Card;
    ///
    /// let card = Card::new("power-performance-battery", "Load before changing battery or performance modes.")
    ///     .summary("zh", "在更改电池或性能模式前加载。")
    ///     .about(&["manage_battery"])
    ///     .exposes(&["manage_battery", "control_cooling_fan"]);
    /// # let _ = card;
    /// ```
    pub fn new(name: &'static str, summary: &'static str) -> Self {
        Self { name, summary: vec![("en", summary)], about: Vec::new(), exposes: Vec::new() }
    }

    /// The summary in a further language, given as a BCP 47 tag.
    #[must_use]
    pub fn summary(mut self, lang: &'static str, text: &'static str) -> Self {
        self.summary.push((lang, text));
        self
    }

    /// The tools that the skill is about.
    #[must_use]
    pub fn about(mut self, tools: &[&'static str]) -> Self {
        self.about.extend_from_slice(tools);
        self
    }

    /// The tools that loading the skill adds to the offered ones.
    #[must_use]
    pub fn exposes(mut self, tools: &[&'static str]) -> Self {
        self.exposes.extend_from_slice(tools);
        self
    }
}

/// What a skill says of a call that is about to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Nothing against it.
    Allow,
    /// It runs, and the planner is told this.
    Warn(String),
    /// It does not run, and the planner is told why and what to do first.
    Block(String),
}

/// Renders guidance rule by rule, in one language, without the rules about tools that are not offered.
///
/// ```
/// use loopwright_sdk::Guidance;
///
/// let offered = ["manage_battery".to_owned()];
/// let text = Guidance::new(&offered, "en")
///     .rule(&["manage_battery"], "Query the mode before you change it.", "更改前先查询模式。")
///     .rule(&["control_cooling_fan"], "Turn the fan on first.", "先打开风扇。")
///     .render();
/// assert_eq!(text, "- Query the mode before you change it.\n");
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Guidance<'a> {
    offered: &'a [String],
    chinese: bool,
    text: String,
}

impl<'a> Guidance<'a> {
    /// Begins guidance for these tools. Chinese for `zh` and its regions, English for every other language.
    pub fn new(offered: &'a [String], lang: &str) -> Self {
        Self { offered, chinese: lang == "zh" || lang.starts_with("zh-"), text: String::new() }
    }

    /// Adds a paragraph that does not depend on tools.
    pub fn paragraph(mut self, english: &str, chinese: &str) -> Self {
        let text = if self.chinese { chinese } else { english };
        self.text.push_str(text);
        self.text.push('\n');
        self
    }

    /// Adds a rule where all of `tools` are offered.
    pub fn rule(mut self, tools: &[&str], english: &str, chinese: &str) -> Self {
        let offered = |tool: &&str| self.offered.iter().any(|name| name == *tool);
        if tools.iter().all(offered) {
            self.text.push_str("- ");
            return self.paragraph(english, chinese);
        }
        self
    }

    /// The text: one line for each paragraph and rule.
    #[must_use]
    pub fn render(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guidance_follows_the_language_and_the_offered_tools() {
        let offered = ["a".to_owned(), "b".to_owned()];
        let render = |lang: &str| {
            Guidance::new(&offered, lang)
                .paragraph("Order:", "顺序：")
                .rule(&["a", "b"], "a before b", "先 a 后 b")
                .rule(&["a", "c"], "a before c", "先 a 后 c")
                .rule(&[], "be brief", "简短")
                .render()
        };
        assert_eq!(render("en"), "Order:\n- a before b\n- be brief\n");
        assert_eq!(render("zh-CN"), "顺序：\n- 先 a 后 b\n- 简短\n");
        assert_eq!(render("fr"), render("en"));
    }
}
