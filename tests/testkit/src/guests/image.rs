//! Lays out values in a guest's memory as the canonical ABI has them, so that a guest out of WAT can answer with them.

use loopwright_contract::{
    json::canonical,
    skill::SkillCard,
    tool::{Catalogue, CollectionSpec, Effect, Localized, ToolSpec},
};

/// Where the image begins in memory.
pub const BASE: usize = 1024;

/// Bytes at [`BASE`], growing. Addresses that it returns hold in the guest.
#[derive(Debug, Default)]
pub struct Image {
    bytes: Vec<u8>,
}

/// A record or variant under construction: little-endian words.
#[derive(Debug, Default, Clone)]
pub struct Words(Vec<u32>);

impl Words {
    /// A word.
    #[must_use]
    pub fn word(mut self, word: usize) -> Self {
        // Memories here are a few MiB; a word that is none would trap the guest.
        self.0.push(u32::try_from(word).unwrap_or(u32::MAX));
        self
    }

    /// Address and length.
    #[must_use]
    pub fn span(self, (at, length): (usize, usize)) -> Self {
        self.word(at).word(length)
    }

    /// An optional address and length.
    #[must_use]
    pub fn option(self, span: Option<(usize, usize)>) -> Self {
        match span {
            Some(span) => self.word(1).span(span),
            None => self.word(0).word(0).word(0),
        }
    }
}

impl Image {
    fn align(&mut self, to: usize) {
        while !self.bytes.len().is_multiple_of(to) {
            self.bytes.push(0);
        }
    }

    /// A text: its address and length.
    pub fn text(&mut self, text: &str) -> (usize, usize) {
        let at = BASE + self.bytes.len();
        self.bytes.extend(text.as_bytes());
        (at, text.len())
    }

    /// Records one after the other: a list.
    pub fn list(&mut self, records: Vec<Words>) -> (usize, usize) {
        self.align(8);
        let at = BASE + self.bytes.len();
        for record in &records {
            record.0.iter().for_each(|word| self.bytes.extend(word.to_le_bytes()));
        }
        (at, records.len())
    }

    /// One record; its address.
    pub fn record(&mut self, record: Words) -> usize {
        self.list(vec![record]).0
    }

    /// A list of texts.
    pub fn texts<T: AsRef<str>>(&mut self, texts: &[T]) -> (usize, usize) {
        let spans = texts.iter().map(|text| Words::default().span(self.text(text.as_ref()))).collect();
        self.list(spans)
    }

    fn localized(&mut self, texts: &[Localized]) -> (usize, usize) {
        let records = texts
            .iter()
            .map(|text| Words::default().span(self.text(text.lang.as_str())).span(self.text(&text.text)))
            .collect();
        self.list(records)
    }

    /// An `identity`.
    pub fn identity(&mut self, name: &str, version: &str, ext: &[(&str, &str)]) -> usize {
        let ext = ext.iter().map(|(key, value)| Words::default().span(self.text(key)).span(self.text(value))).collect();
        let (name, version, ext) = (self.text(name), self.text(version), self.list(ext));
        self.record(Words::default().span(name).span(version).option(None).span(ext))
    }

    /// A catalogue whose tools have the names of their specs.
    pub fn catalogue(&mut self, catalogue: &Catalogue) -> usize {
        let names: Vec<&str> = catalogue.tools.iter().map(|tool| tool.name.as_str()).collect();
        self.catalogue_named(catalogue, &names)
    }

    /// A catalogue whose tools have these names, which need not be names.
    pub fn catalogue_named(&mut self, catalogue: &Catalogue, names: &[&str]) -> usize {
        let tools = catalogue.tools.iter().zip(names).map(|(tool, name)| self.tool(tool, name)).collect();
        let tools = self.list(tools);
        let collections = catalogue.collections.iter().map(|spec| self.collection(spec)).collect();
        let collections = self.list(collections);
        let uses = catalogue
            .uses
            .iter()
            .map(|uses| Words::default().span(self.text(uses.name.as_str())).word(usize::from(uses.write)))
            .collect();
        let uses = self.list(uses);
        self.record(Words::default().span(tools).span(collections).span(uses))
    }

    fn tool(&mut self, tool: &ToolSpec, name: &str) -> Words {
        let rules = tool.access.iter().map(|rule| {
            let when = match &rule.when {
                None => Words::default().word(0).word(0).word(0).word(0).word(0),
                Some(when) => {
                    let one_of: Vec<String> = when.one_of.iter().map(canonical).collect();
                    Words::default().word(1).span(self.text(&when.argument)).span(self.texts(&one_of))
                }
            };
            let effect = match rule.effect {
                Effect::Read => 0,
                Effect::Write => 1,
                Effect::Destructive => 2,
            };
            when.word(effect).span(self.texts(&rule.requires))
        });
        let rules = rules.collect();
        let rules = self.list(rules);
        Words::default()
            .span(self.text(name))
            .span(self.text(&tool.domain))
            .span(self.localized(&tool.description))
            .span(self.localized(&tool.keywords))
            .span(self.text(&canonical(&tool.arguments_schema)))
            .span(self.text(&canonical(&tool.result_schema)))
            .span(rules)
            .span((8, 0))
    }

    fn collection(&mut self, spec: &CollectionSpec) -> Words {
        let initial = spec
            .initial
            .iter()
            .map(|(key, value)| Words::default().span(self.text(key)).span(self.text(&canonical(value))))
            .collect();
        let initial = self.list(initial);
        let schema = spec.schema.as_ref().map(|schema| self.text(&canonical(schema)));
        Words::default()
            .span(self.text(spec.name.as_str()))
            .option(schema)
            .span(self.texts(&spec.bookkeeping))
            .span(self.texts(&spec.indexes))
            .span(initial)
    }

    /// A `skill-card`.
    pub fn card(&mut self, card: &SkillCard) -> usize {
        let names = |image: &mut Self, names: &[loopwright_contract::name::ToolName]| {
            let names: Vec<&str> = names.iter().map(loopwright_contract::name::ToolName::as_str).collect();
            image.texts(&names)
        };
        let (name, summary) = (self.text(card.name.as_str()), self.localized(&card.summary));
        let (about, exposes) = (names(self, &card.about), names(self, &card.exposes));
        self.record(Words::default().span(name).span(summary).span(about).span(exposes))
    }

    /// `ok(success)` of a call.
    pub fn success(&mut self, message: &str, data: &str) -> usize {
        let (message, data) = (self.text(message), self.text(data));
        self.record(Words::default().word(0).span(message).span(data))
    }

    /// `err(failure)` of a call.
    pub fn failure(&mut self, code: usize, message: &str, data: Option<&str>) -> usize {
        let message = self.text(message);
        let data = data.map(|data| self.text(data));
        self.record(Words::default().word(1).word(code).span(message).option(data))
    }

    /// Where free memory begins.
    #[must_use]
    pub fn end(&self) -> usize {
        (BASE + self.bytes.len()).next_multiple_of(64)
    }

    /// The data segment.
    #[must_use]
    pub fn segment(&self) -> String {
        let text: String = self.bytes.iter().map(|byte| format!("\\{byte:02x}")).collect();
        format!("(data (i32.const {BASE}) \"{text}\")")
    }
}
