//! Named f32 tensors as safetensors bytes. It knows no architecture.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use safetensors::tensor::{Dtype, SafeTensors, View, serialize};

use super::error::NnError;

/// Bytes of tensors that are read from one file: 1 GiB.
pub const TENSOR_BYTES_MAX: usize = 1 << 30;

/// One tensor: its shape and its values, row after row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Values {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

struct Bytes<'a> {
    shape: &'a [usize],
    bytes: Vec<u8>,
}

impl View for Bytes<'_> {
    fn dtype(&self) -> Dtype {
        Dtype::F32
    }

    fn shape(&self) -> &[usize] {
        self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// The bytes of named tensors and one note, the same for the same tensors.
pub(crate) fn write<'a>(
    tensors: impl Iterator<Item = (String, &'a [usize], &'a [f32])>,
    note: Option<(&str, String)>,
) -> Result<Vec<u8>, NnError> {
    let tensors = tensors.map(|(name, shape, values)| {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        (name, Bytes { shape, bytes })
    });
    let note = note.map(|(name, text)| HashMap::from([(name.to_owned(), text)]));
    serialize(tensors, note)
        .map_err(|error| NnError::NotTensors { what: "the tensors to write", reason: error.to_string() })
}

/// Tensors by name, and the notes beside them.
pub(crate) struct Read {
    pub(crate) tensors: BTreeMap<String, Result<Values, String>>,
    shapes: BTreeMap<String, Vec<usize>>,
    pub(crate) notes: HashMap<String, String>,
}

/// Reads what [`write`] wrote, or what another program wrote.
pub(crate) fn read(what: &'static str, bytes: &[u8]) -> Result<Read, NnError> {
    if bytes.len() > TENSOR_BYTES_MAX {
        return Err(NnError::TooLarge { what, found: bytes.len(), limit: TENSOR_BYTES_MAX });
    }
    let not_tensors = |error: safetensors::SafeTensorError| NnError::NotTensors { what, reason: error.to_string() };
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(not_tensors)?;
    let parsed = SafeTensors::deserialize(bytes).map_err(not_tensors)?;
    let (mut tensors, mut shapes) = (BTreeMap::new(), BTreeMap::new());
    for (name, view) in parsed.tensors() {
        let values = if view.dtype() == Dtype::F32 {
            let values = view.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
            Ok(Values { shape: view.shape().to_vec(), values })
        } else {
            Err(format!("{:?}", view.dtype()).to_lowercase())
        };
        shapes.insert(name.clone(), view.shape().to_vec());
        tensors.insert(name, values);
    }
    Ok(Read { tensors, shapes, notes: header.metadata().clone().unwrap_or_default() })
}

impl Read {
    /// Takes a tensor, which must have this shape and finite values.
    pub(crate) fn take(&mut self, name: &str, shape: &[usize], what: &'static str) -> Result<Vec<f32>, NnError> {
        let found = self.shapes.get(name).cloned().unwrap_or_default();
        let wrong = |kind: String| NnError::WrongShape { name: name.into(), expected: shape.to_vec(), kind, found };
        match self.tensors.remove(name) {
            None => Err(NnError::Missing { name: name.into(), expected: shape.to_vec() }),
            Some(Err(kind)) => Err(wrong(kind)),
            Some(Ok(tensor)) if tensor.shape != shape => Err(wrong("f32".into())),
            Some(Ok(tensor)) if !tensor.values.iter().all(|value| value.is_finite()) => {
                Err(NnError::NonFinite { name: name.into(), what })
            }
            Some(Ok(tensor)) => Ok(tensor.values),
        }
    }

    /// That nothing is left.
    pub(crate) fn finish(self) -> Result<(), NnError> {
        match self.tensors.into_keys().next() {
            Some(name) => {
                let found = self.shapes.get(&name).cloned().unwrap_or_default();
                Err(NnError::Unexpected { name, found })
            }
            None => Ok(()),
        }
    }
}
