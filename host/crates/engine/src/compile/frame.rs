//! What a compiler process writes: a mark, what it is, how long it is, and the bytes. The host parses it as it parses anything from outside.

use std::io::{self, Write};

/// Tells an answer from whatever else a process might print.
const MARK: [u8; 4] = *b"LWC1";
/// Mark, kind and length.
pub(super) const HEAD_BYTES: usize = 4 + 1 + 8;
const CODE: u8 = 0;
const REFUSED: u8 = 1;

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Code(Vec<u8>),
    Refused(String),
}

pub(super) fn write(answer: &Answer, output: &mut dyn Write) -> io::Result<()> {
    let (kind, bytes) = match answer {
        Answer::Code(code) => (CODE, code.as_slice()),
        Answer::Refused(reason) => (REFUSED, reason.as_bytes()),
    };
    output.write_all(&MARK)?;
    output.write_all(&[kind])?;
    output.write_all(&(bytes.len() as u64).to_le_bytes())?;
    output.write_all(bytes)?;
    output.flush()
}

/// Reads an answer that is there whole; an error says what was found.
pub(super) fn parse(mut bytes: Vec<u8>) -> Result<Answer, String> {
    let found = bytes.len();
    let head = bytes.first_chunk::<HEAD_BYTES>().ok_or_else(|| format!("an answer of {found} bytes"))?;
    let [a, b, c, d, kind, length @ ..] = *head;
    if [a, b, c, d] != MARK {
        return Err(format!("{found} bytes that begin with {}", hex::encode([a, b, c, d])));
    }
    let said = u64::from_le_bytes(length);
    if said != (found - HEAD_BYTES) as u64 {
        return Err(format!("an answer that says {said} bytes and has {}", found - HEAD_BYTES));
    }
    bytes.drain(..HEAD_BYTES);
    match kind {
        CODE => Ok(Answer::Code(bytes)),
        REFUSED => Ok(Answer::Refused(String::from_utf8_lossy(&bytes).into_owned())),
        other => Err(format!("an answer of kind {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_back_whole_or_not_at_all() {
        for answer in [Answer::Code(vec![1, 2, 3]), Answer::Code(vec![]), Answer::Refused("no".into())] {
            let mut bytes = Vec::new();
            write(&answer, &mut bytes).unwrap();
            for cut in 0..bytes.len() {
                assert!(parse(bytes[..cut].to_vec()).is_err(), "{cut} of {}", bytes.len());
            }
            let mut longer = bytes.clone();
            longer.push(0);
            assert!(parse(longer).is_err());
            let mut other = bytes.clone();
            other[4] = 7;
            assert_eq!(parse(other).unwrap_err(), "an answer of kind 7");
            assert_eq!(parse(bytes).unwrap(), answer);
        }
    }
}
