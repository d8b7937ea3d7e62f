//! The fields of the index. None is stored: a document is an ordinal, its terms and its fast fields.

use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};

/// The version of the schema and of what is fed into it. Raised when either changes: an index of another version is rebuilt.
pub(crate) const FORMAT: u32 = 2;

/// The fields by name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    pub(crate) ordinal: Field,
    pub(crate) body: Field,
    pub(crate) names: Field,
    pub(crate) dates: Field,
    pub(crate) layer: Field,
    pub(crate) status: Field,
    pub(crate) mentioned: Field,
    pub(crate) event_start: Field,
    pub(crate) event_end: Field,
    pub(crate) session: Field,
    pub(crate) position: Field,
    pub(crate) speaker: Field,
    pub(crate) traits: Field,
}

/// Which terms are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TermField {
    /// Stemmed words, Chinese characters and pairs of them.
    Body,
    /// Words that begin with a capital inside a sentence, and the speaker's name.
    Names,
    /// Year, month and day of the mention and of the event.
    Dates,
}

impl Fields {
    pub(crate) fn build() -> (Schema, Self) {
        let mut builder = Schema::builder();
        // The tokens arrive cut: the tokenizer's name is never looked up.
        let terms = |record| {
            TextOptions::default()
                .set_indexing_options(TextFieldIndexing::default().set_index_option(record).set_fieldnorms(true))
        };
        let fields = Self {
            ordinal: builder.add_u64_field("ordinal", FAST | INDEXED),
            body: builder.add_text_field("body", terms(IndexRecordOption::WithFreqs)),
            names: builder.add_text_field("names", terms(IndexRecordOption::WithFreqs)),
            dates: builder.add_text_field("dates", terms(IndexRecordOption::WithFreqs)),
            layer: builder.add_u64_field("layer", FAST),
            status: builder.add_u64_field("status", FAST),
            mentioned: builder.add_i64_field("mentioned", FAST),
            event_start: builder.add_i64_field("event_start", FAST),
            event_end: builder.add_i64_field("event_end", FAST),
            session: builder.add_u64_field("session", FAST),
            position: builder.add_u64_field("position", FAST),
            speaker: builder.add_u64_field("speaker", FAST),
            traits: builder.add_u64_field("traits", FAST),
        };
        (builder.build(), fields)
    }

    pub(crate) fn terms(&self, field: TermField) -> Field {
        match field {
            TermField::Body => self.body,
            TermField::Names => self.names,
            TermField::Dates => self.dates,
        }
    }
}
