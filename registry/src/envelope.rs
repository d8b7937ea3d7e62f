//! A statement with signatures: a DSSE envelope (github.com/secure-systems-lab/dsse), so that other tools can check it too.
//!
//! What is signed is DSSE's pre-authentication encoding: the payload's type and length stand before the payload. Nothing that a key signs
//! for another purpose is a signature of a statement, and no statement is one of anything else.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use loopwright_contract::json::{JsonLimits, canonical, parse};
use serde::Deserialize;
use serde_json::json;

use crate::{
    key::{KeyId, SecretKey},
    refusal::Doubt,
    statement::Statement,
};

/// The type of the payload, and the domain of the signatures.
pub const PAYLOAD_TYPE: &str = "application/vnd.loopwright.statement.v1";
/// The media type of an envelope.
pub const ENVELOPE_TYPE: &str = "application/vnd.dsse.envelope.v1+json";
/// Most bytes of an envelope.
pub const ENVELOPE_BYTES_LIMIT: usize = 16 * 1024;
/// Most signatures of an envelope.
pub const SIGNATURES_LIMIT: usize = 8;

const LIMITS: JsonLimits = JsonLimits { bytes_max: ENVELOPE_BYTES_LIMIT, depth_max: 4 };

/// A statement and who signed it; what the signatures are worth, a trust policy says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// What was signed.
    pub statement: Statement,
    signatures: Vec<(KeyId, [u8; 64])>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    payload: String,
    #[serde(rename = "payloadType")]
    payload_type: String,
    signatures: Vec<RawSignature>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSignature {
    keyid: KeyId,
    sig: String,
}

/// What a signature is made over.
fn signed_bytes(payload: &str) -> Vec<u8> {
    format!("DSSEv1 {} {PAYLOAD_TYPE} {} {payload}", PAYLOAD_TYPE.len(), payload.len()).into_bytes()
}

impl Envelope {
    /// Signs a statement.
    #[must_use]
    pub fn sign(statement: Statement, keys: &[&SecretKey]) -> Self {
        let bytes = signed_bytes(&statement.to_string());
        let signatures = keys.iter().map(|key| (key.id(), key.sign(&bytes))).collect();
        Self { statement, signatures }
    }

    /// The envelope as JSON.
    #[must_use]
    pub fn write(&self) -> String {
        let signatures: Vec<_> = self
            .signatures
            .iter()
            .map(|(key, signature)| json!({"keyid": key, "sig": STANDARD.encode(signature)}))
            .collect();
        let payload = STANDARD.encode(self.statement.to_string());
        canonical(&json!({"payload": payload, "payloadType": PAYLOAD_TYPE, "signatures": signatures}))
    }

    /// Reads an envelope; its signatures are not checked yet.
    ///
    /// # Errors
    /// [`Doubt::Malformed`] for what is no envelope with a statement of ours.
    pub fn read(bytes: &[u8]) -> Result<Self, Doubt> {
        Self::try_read(bytes).map_err(|reason| Doubt::Malformed { reason })
    }

    fn try_read(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        let value = parse(text, &LIMITS).map_err(|error| error.to_string())?;
        let raw: Raw = serde_json::from_value(value).map_err(|error| error.to_string())?;
        if raw.payload_type != PAYLOAD_TYPE {
            return Err(format!("expected a payload of type `{PAYLOAD_TYPE}`"));
        }
        if raw.signatures.is_empty() || raw.signatures.len() > SIGNATURES_LIMIT {
            return Err(format!("{} signatures, expected 1 to {SIGNATURES_LIMIT}", raw.signatures.len()));
        }
        let payload = STANDARD.decode(raw.payload).map_err(|error| error.to_string())?;
        let statement = String::from_utf8(payload).map_err(|error| error.to_string())?.parse()?;
        let signature = |raw: RawSignature| -> Result<_, String> {
            let bytes = STANDARD.decode(raw.sig).map_err(|error| error.to_string())?;
            let bytes = bytes
                .try_into()
                .map_err(|bytes: Vec<u8>| format!("a signature of {} bytes, expected 64", bytes.len()))?;
            Ok((raw.keyid, bytes))
        };
        Ok(Self { statement, signatures: raw.signatures.into_iter().map(signature).collect::<Result<_, _>>()? })
    }

    /// Makes the first signature one that nobody made.
    pub(crate) fn flip_a_bit(&mut self) {
        if let Some(byte) = self.signatures.first_mut().and_then(|(_, signature)| signature.first_mut()) {
            *byte ^= 1;
        }
    }

    /// Whose signatures it claims to carry.
    pub fn claimed(&self) -> impl Iterator<Item = KeyId> + '_ {
        self.signatures.iter().map(|(key, _)| *key)
    }

    /// Whether a key made its signature here.
    #[must_use]
    pub fn is_signed_by(&self, key: &KeyId) -> bool {
        let bytes = signed_bytes(&self.statement.to_string());
        self.signatures.iter().any(|(claimed, signature)| claimed == key && key.made(signature, &bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATEMENT: &str = include_str!("../tests/golden/publish.statement");

    fn signed() -> (Envelope, SecretKey) {
        let key = SecretKey::from_random(&[7; 32]);
        (Envelope::sign(STATEMENT.parse().unwrap(), &[&key]), key)
    }

    #[test]
    fn an_envelope_is_golden_and_reads_back() {
        let (envelope, key) = signed();
        assert_eq!(envelope.write(), include_str!("../tests/golden/publish.envelope.json").trim_end());
        assert_eq!(Envelope::read(envelope.write().as_bytes()).unwrap(), envelope);
        assert!(envelope.is_signed_by(&key.id()));
        assert!(!envelope.is_signed_by(&SecretKey::from_random(&[8; 32]).id()));
    }

    #[test]
    fn a_changed_byte_of_statement_or_signature_does_not_fit() {
        let (envelope, key) = signed();
        let mut other = envelope.clone();
        other.statement.release = "acme:notes@1.2.1".parse().unwrap();
        assert!(!other.is_signed_by(&key.id()));
        for byte in 0..64 {
            let mut other = envelope.clone();
            other.signatures[0].1[byte] ^= 1;
            assert!(!other.is_signed_by(&key.id()), "byte {byte}");
        }
    }

    #[test]
    fn a_signature_over_the_bare_text_is_none() {
        let (mut envelope, key) = signed();
        envelope.signatures[0].1 = key.sign(STATEMENT.as_bytes());
        assert!(!envelope.is_signed_by(&key.id()));
    }

    #[test]
    fn what_is_no_envelope_is_refused() {
        let (envelope, key) = signed();
        let good = envelope.write();
        let keys: Vec<&SecretKey> = std::iter::repeat_n(&key, SIGNATURES_LIMIT + 1).collect();
        for text in [
            String::new(),
            good.replacen('{', "{\"payload\":\"\",", 1),
            good.replacen('{', "{\"more\":1,", 1),
            good.replace("statement.v1", "statement.v2"),
            good.replace("\"sig\":\"", "\"sig\":\"AAAA"),
            Envelope::sign(envelope.statement.clone(), &[]).write(),
            Envelope::sign(envelope.statement.clone(), &keys).write(),
            format!("{good}{}", " ".repeat(ENVELOPE_BYTES_LIMIT)),
        ] {
            assert!(Envelope::read(text.as_bytes()).is_err(), "{text}");
        }
        assert!(Envelope::read(Envelope::sign(envelope.statement, &keys[1..]).write().as_bytes()).is_ok());
    }
}
