//! Text to tokens and back, from a file's metadata.

use candle_core::quantized::gguf_file::{Content, Value};
use candle_core::quantized::tokenizer::TokenizerFromGguf as _;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::{PreTokenizerWrapper, Tokenizer};

use super::LocalError;
use super::file::{ModelFile, first_line};
use crate::grammar::TokenTrie;

/// ggml's kinds of tokens.
const CONTROL: u32 = 3;
const USER_DEFINED: u32 = 4;
const NORMAL: u32 = 1;

/// A model's tokens.
pub(crate) struct Vocabulary {
    tokenizer: Tokenizer,
    /// The bytes of each token that is text.
    texts: Vec<Option<Vec<u8>>>,
    controls: Vec<String>,
    begin: Option<u32>,
    pub(crate) begin_text: String,
    pub(crate) end_text: String,
    pub(crate) trie: TokenTrie,
}

impl Vocabulary {
    pub(crate) fn load(file: &ModelFile) -> Result<Self, LocalError> {
        let tokens = file
            .texts("tokenizer.ggml.tokens")
            .ok_or_else(|| LocalError::Unsupported("the file has no token list".to_owned()))?;
        let kinds = file.numbers("tokenizer.ggml.token_type").unwrap_or_default();
        let kind = |id: usize| kinds.get(id).copied().unwrap_or(NORMAL);
        let texts: Vec<Option<Vec<u8>>> = tokens
            .iter()
            .enumerate()
            .map(|(id, token)| match kind(id) {
                NORMAL => bytes_of(token),
                // Added to the vocabulary as they are, such as `<tool_call>`.
                USER_DEFINED => Some(token.as_bytes().to_vec()),
                _ => None,
            })
            .collect();
        let id_of = |key: &str| {
            file.number(key).and_then(|id| u32::try_from(id).ok()).filter(|id| (*id as usize) < tokens.len())
        };
        let text_of = |id: Option<u32>| {
            id.and_then(|id| tokens.get(id as usize)).map(|text| (*text).to_owned()).unwrap_or_default()
        };
        let (begin, end) = (id_of("tokenizer.ggml.bos_token_id"), id_of("tokenizer.ggml.eos_token_id"));
        let controls = tokens
            .iter()
            .enumerate()
            .filter(|(id, text)| kind(*id) == CONTROL && !text.is_empty())
            .map(|(_, text)| (*text).to_owned())
            .collect();
        let trie = TokenTrie::new((0_u32..).zip(&texts).filter_map(|(id, text)| Some((text.clone()?, id))));
        let with_begin = file.flag("tokenizer.ggml.add_bos_token").unwrap_or(false);
        Ok(Self {
            tokenizer: tokenizer(file)?,
            controls,
            begin: begin.filter(|_| with_begin),
            begin_text: text_of(begin),
            end_text: text_of(end),
            trie,
            texts,
        })
    }

    /// The tokens of a rendered prompt, in which control tokens stand as text.
    pub(crate) fn encode(&self, text: &str) -> Result<Vec<u32>, LocalError> {
        let encoding = self
            .tokenizer
            .encode_fast(text, false)
            .map_err(|error| LocalError::Unsupported(format!("tokenizer: {}", first_line(&error))))?;
        let tokens = encoding.get_ids();
        let begin = self.begin.filter(|begin| tokens.first() != Some(begin));
        Ok(begin.into_iter().chain(tokens.iter().copied()).collect())
    }

    /// The tokens of text that goes on where other text ended.
    pub(crate) fn encode_inside(&self, text: &str) -> Result<Vec<u32>, LocalError> {
        let encoding = self
            .tokenizer
            .encode_fast(text, false)
            .map_err(|error| LocalError::Unsupported(format!("tokenizer: {}", first_line(&error))))?;
        Ok(encoding.get_ids().to_vec())
    }

    /// The bytes of a token; none for control tokens.
    pub(crate) fn bytes(&self, token: u32) -> &[u8] {
        self.texts.get(token as usize).and_then(Option::as_deref).unwrap_or_default()
    }

    /// Text from outside in which no control token stands any more: a tool's result could otherwise end the turn and speak as the user.
    pub(crate) fn harmless(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for control in &self.controls {
            if text.contains(control.as_str()) {
                let mut characters = control.chars();
                let first: String = characters.by_ref().take(1).collect();
                text = text.replace(control.as_str(), &format!("{first} {}", characters.as_str()));
            }
        }
        text
    }
}

/// The bytes that a token of the byte-level alphabet stands for.
fn bytes_of(token: &str) -> Option<Vec<u8>> {
    token.chars().map(byte_of).collect()
}

/// The byte of a character of GPT-2's alphabet: printable bytes stand for themselves, the others follow from U+0100 on.
fn byte_of(character: char) -> Option<u8> {
    let code = u32::from(character);
    let printable = |code: &u32| matches!(*code, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff);
    if printable(&code) {
        return u8::try_from(code).ok();
    }
    let place = usize::try_from(code.checked_sub(0x100)?).ok()?;
    (0..=0xff_u32).filter(|code| !printable(code)).nth(place).and_then(|code| u8::try_from(code).ok())
}

fn tokenizer(file: &ModelFile) -> Result<Tokenizer, LocalError> {
    let kind = file.text("tokenizer.ggml.pre").unwrap_or("gpt-2");
    let (known, own): (&str, Option<PreTokenizerWrapper>) = match kind {
        "qwen2" | "deepseek-r1-qwen" => ("qwen2", None),
        "llama3" | "llama-bpe" | "llama-v3" | "smaug-bpe" => ("llama3", None),
        "smollm" => (
            "gpt2",
            Some(Sequence::new(vec![Digits::new(true).into(), ByteLevel::new(false, true, true).into()]).into()),
        ),
        // No space is put before the text.
        _ => ("gpt2", Some(ByteLevel::new(false, true, true).into())),
    };
    if !matches!(
        kind,
        "qwen2"
            | "deepseek-r1-qwen"
            | "llama3"
            | "llama-bpe"
            | "llama-v3"
            | "smaug-bpe"
            | "smollm"
            | "gpt-2"
            | "gpt2"
            | "default"
    ) {
        tracing::warn!(kind, "unknown pre-tokenizer; text is cut as GPT-2 cuts it");
    }
    // A copy without the tensors' table, so that the kind can be named as candle knows it.
    let mut content = Content {
        magic: file.content().magic,
        metadata: file
            .content()
            .metadata
            .iter()
            .filter(|(key, _)| key.starts_with("tokenizer.ggml."))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
        tensor_infos: Default::default(),
        tensor_data_offset: 0,
    };
    content.metadata.insert("tokenizer.ggml.pre".to_owned(), Value::String(known.to_owned()));
    let mut tokenizer = Tokenizer::from_gguf(&content)
        .map_err(|error| LocalError::Unsupported(format!("tokenizer: {}", first_line(&error))))?;
    if let Some(own) = own {
        tokenizer.with_pre_tokenizer(Some(own));
    }
    Ok(tokenizer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_byte_alphabet_is_read_back() {
        for (token, bytes) in
            [("Ġthe", " the".as_bytes()), ("Ċ", b"\n"), ("ä½ł", "你".as_bytes()), ("a", b"a"), ("Ń", &[0xad])]
        {
            assert_eq!(bytes_of(token).as_deref(), Some(bytes), "{token}");
        }
        assert_eq!(bytes_of("你"), None);
    }
}
