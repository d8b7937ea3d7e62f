//! Numbers of a run as TensorBoard reads them: TFRecord frames (length, masked CRC-32C, message, masked CRC-32C) of `Event` messages, of which only
//! scalars are written. It knows no run. Format: `tensorflow/core/util/event.proto` and `lib/io/record_writer.cc` of TensorFlow.

use std::fs::{File, create_dir_all};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::Context as _;
use prost::Message;

/// What the masked checksum adds.
const MASK_DELTA: u32 = 0xa282_ead8;
/// What the first event of a file says.
const FILE_VERSION: &str = "brain.Event:2";

#[derive(Clone, PartialEq, Message)]
struct Event {
    /// Seconds since 1970.
    #[prost(double, tag = "1")]
    wall_time: f64,
    #[prost(int64, tag = "2")]
    step: i64,
    #[prost(oneof = "What", tags = "3, 5")]
    what: Option<What>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum What {
    #[prost(string, tag = "3")]
    FileVersion(String),
    #[prost(message, tag = "5")]
    Summary(Summary),
}

#[derive(Clone, PartialEq, Message)]
struct Summary {
    #[prost(message, repeated, tag = "1")]
    value: Vec<Scalar>,
}

#[derive(Clone, PartialEq, Message)]
struct Scalar {
    #[prost(string, tag = "1")]
    tag: String,
    #[prost(float, tag = "2")]
    simple_value: f32,
}

/// A file of events.
#[derive(Debug)]
pub struct Events {
    file: BufWriter<File>,
    seconds: f64,
}

impl Events {
    /// A fresh file in a folder, named by a number that grows with each resumption of a run. `seconds` since 1970 stand in all its events.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn create(folder: &Path, number: u64, seconds: i64) -> anyhow::Result<Self> {
        create_dir_all(folder).with_context(|| format!("folder `{}` cannot be made", folder.display()))?;
        let path = folder.join(format!("events.out.tfevents.{number:010}.loopwright"));
        let file = File::create(&path).with_context(|| format!("`{}` cannot be written", path.display()))?;
        #[expect(clippy::cast_precision_loss, reason = "seconds since 1970 are far below 2^53")]
        let mut events = Self { file: BufWriter::new(file), seconds: seconds as f64 };
        events.write(0, What::FileVersion(FILE_VERSION.to_owned()))?;
        Ok(events)
    }

    /// Writes the numbers of a step; those that are not finite are left out.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn scalars(&mut self, step: u64, numbers: &[(String, f64)]) -> anyhow::Result<()> {
        let finite = numbers.iter().filter(|(_, number)| number.is_finite());
        #[expect(clippy::cast_possible_truncation, reason = "the format holds f32")]
        let value = finite.map(|(tag, number)| Scalar { tag: tag.clone(), simple_value: *number as f32 }).collect();
        self.write(i64::try_from(step)?, What::Summary(Summary { value }))
    }

    fn write(&mut self, step: i64, what: What) -> anyhow::Result<()> {
        let event = Event { wall_time: self.seconds, step, what: Some(what) };
        self.file.write_all(&frame(&event.encode_to_vec()))?;
        self.file.flush()?;
        Ok(())
    }
}

/// A message in its frame.
fn frame(message: &[u8]) -> Vec<u8> {
    let length = (message.len() as u64).to_le_bytes();
    let mut frame = Vec::with_capacity(message.len() + 16);
    frame.extend(length);
    frame.extend(masked(&length).to_le_bytes());
    frame.extend(message);
    frame.extend(masked(message).to_le_bytes());
    frame
}

fn masked(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(MASK_DELTA)
}

/// All numbers of a JSON object by their paths, such as `efficiency/share`.
#[must_use]
pub fn numbers(value: &serde_json::Value) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    collect(value, "", &mut found);
    found
}

fn collect(value: &serde_json::Value, path: &str, found: &mut Vec<(String, f64)>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
                collect(value, &path, found);
            }
        }
        serde_json::Value::Number(number) => found.extend(number.as_f64().map(|number| (path.to_owned(), number))),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Read back by hand from the format's description.
    fn read(bytes: &[u8]) -> Vec<Event> {
        let (mut events, mut rest) = (Vec::new(), bytes);
        while !rest.is_empty() {
            let (length, after) = rest.split_at(8);
            let size = usize::try_from(u64::from_le_bytes(length.try_into().expect("8 bytes"))).expect("short");
            assert_eq!(after[..4], masked(length).to_le_bytes());
            let message = &after[4..4 + size];
            assert_eq!(after[4 + size..8 + size], masked(message).to_le_bytes());
            events.push(Event::decode(message).expect("an event"));
            rest = &after[8 + size..];
        }
        events
    }

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut events = Events::create(folder.path(), 3, 1_772_413_200).expect("a file");
        let numbers = numbers(
            &serde_json::json!({"success": 0.5, "efficiency": {"share": 1}, "outcome": "updated", "loss": null}),
        );
        assert_eq!(numbers, [("efficiency/share".to_owned(), 1.0), ("success".to_owned(), 0.5)]);
        events.scalars(7, &numbers).expect("written");
        events.scalars(8, &[("loss".to_owned(), f64::NAN)]).expect("written");
        let path = folder.path().join("events.out.tfevents.0000000003.loopwright");
        let found = read(&std::fs::read(path).expect("the file"));
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].what, Some(What::FileVersion("brain.Event:2".to_owned())));
        let value = |tag: &str, simple_value| Scalar { tag: tag.to_owned(), simple_value };
        assert_eq!((found[1].step, found[1].wall_time), (7, 1_772_413_200.0));
        let summary = Summary { value: vec![value("efficiency/share", 1.0), value("success", 0.5)] };
        assert_eq!(found[1].what, Some(What::Summary(summary)));
        assert_eq!(found[2].what, Some(What::Summary(Summary { value: Vec::new() })));
    }

    #[test]
    fn the_checksum_is_the_formats() {
        // CRC-32C of "123456789" is 0xe3069283 (RFC 3720, B.4 gives the polynomial; the value is the usual check value).
        assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(masked(b"123456789"), 0xe306_9283_u32.rotate_right(15).wrapping_add(0xa282_ead8));
    }
}
