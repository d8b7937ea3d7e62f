//! Named weights in one order. It knows no architecture: that is a list of slots.

use candle_core::{Device, Tensor, Var};

use super::error::NnError;
use super::random::Stream;
use super::slices::with;
use super::tensors;

/// How a weight begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Init {
    /// All ones.
    Ones,
    /// Nearly normal with mean 0 and this standard deviation, within six of them.
    Normal(f64),
}

/// One weight of an architecture.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// Its name in files, such as `layers.0.down.weight`.
    pub name: String,
    /// Its dimensions.
    pub shape: Vec<usize>,
    /// How it begins.
    pub init: Init,
}

/// Weights, each with its name, in the order of the architecture.
#[derive(Debug)]
pub struct Parameters {
    slots: Vec<Slot>,
    vars: Vec<Var>,
}

impl Parameters {
    /// Fresh weights. Each is drawn from a stream of its own, named after it: the same seed and slot give the same weights.
    ///
    /// # Errors
    /// Two slots of one name.
    pub fn new(slots: Vec<Slot>, seed: u64) -> Result<Self, NnError> {
        let values = slots.iter().map(|slot| {
            let count = slot.shape.iter().product();
            match slot.init {
                Init::Ones => vec![1.0; count],
                Init::Normal(deviation) => {
                    let mut stream = Stream::named(seed, &slot.name);
                    #[expect(clippy::cast_possible_truncation, reason = "weights are f32")]
                    (0..count).map(|_| (stream.normal() * deviation) as f32).collect()
                }
            }
        });
        let values: Vec<Vec<f32>> = values.collect();
        Self::with_values(slots, values)
    }

    /// Weights from a file of an architecture.
    ///
    /// # Errors
    /// Bytes that are no safetensors, a tensor that is missing, too many, of another shape or kind (named, with both shapes), or not
    /// finite.
    pub fn from_bytes(slots: Vec<Slot>, bytes: &[u8]) -> Result<Self, NnError> {
        let mut read = tensors::read("the weights", bytes)?;
        let values: Result<_, _> = slots.iter().map(|slot| read.take(&slot.name, &slot.shape, "weight")).collect();
        let values = values?;
        read.finish()?;
        Self::with_values(slots, values)
    }

    fn with_values(slots: Vec<Slot>, values: Vec<Vec<f32>>) -> Result<Self, NnError> {
        let mut names: Vec<&str> = slots.iter().map(|slot| slot.name.as_str()).collect();
        names.sort_unstable();
        if let Some([name, _]) = names.array_windows().find(|[a, b]| a == b) {
            return Err(NnError::Twice { name: (*name).to_owned() });
        }
        let vars =
            slots.iter().zip(values).map(|(slot, values)| Var::from_vec(values, slot.shape.as_slice(), &Device::Cpu));
        let vars = vars.collect::<Result<_, _>>()?;
        Ok(Self { slots, vars })
    }

    /// The weights as safetensors, under their names. The same weights give the same bytes.
    ///
    /// # Errors
    /// Weights that are not on the CPU.
    pub fn to_bytes(&self) -> Result<Vec<u8>, NnError> {
        let values = self.values()?;
        let tensors = values.iter().zip(&self.slots);
        tensors::write(
            tensors.map(|(values, slot)| (slot.name.clone(), slot.shape.as_slice(), values.as_slice())),
            None,
        )
    }

    /// A copy that training the one does not change in the other: a reference policy.
    ///
    /// # Errors
    /// Weights that are not on the CPU.
    pub fn fork(&self) -> Result<Self, NnError> {
        Self::with_values(self.slots.clone(), self.values()?)
    }

    /// The weight of a name.
    ///
    /// # Errors
    /// A name that the architecture does not have.
    pub fn get(&self, name: &str) -> Result<&Tensor, NnError> {
        let place = self.slots.iter().position(|slot| slot.name == name);
        let var = place.and_then(|place| self.vars.get(place));
        var.map(Var::as_tensor).ok_or_else(|| NnError::Missing { name: name.to_owned(), expected: Vec::new() })
    }

    /// The slots, in order.
    #[must_use]
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Numbers in all weights together.
    #[must_use]
    pub fn count(&self) -> usize {
        self.vars.iter().map(|var| var.elem_count()).sum()
    }

    /// That every weight is finite.
    ///
    /// # Errors
    /// The name of the first that is not.
    pub fn check_finite(&self) -> Result<(), NnError> {
        for (slot, var) in self.slots.iter().zip(&self.vars) {
            if !with(var, |values| values.iter().all(|value| value.is_finite()))? {
                return Err(NnError::NonFinite { name: slot.name.clone(), what: "weight" });
            }
        }
        Ok(())
    }

    /// Slots and weights, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Slot, &Var)> {
        self.slots.iter().zip(&self.vars)
    }

    /// Copies of all weights, in order.
    pub(crate) fn values(&self) -> Result<Vec<Vec<f32>>, NnError> {
        self.vars.iter().map(|var| Ok(with(var, <[f32]>::to_vec)?)).collect()
    }

    /// Puts other values in place, in order; all shapes are checked before the first is set.
    pub(crate) fn set(&mut self, values: Vec<Vec<f32>>) -> Result<(), NnError> {
        let fresh = self.slots.iter().zip(values);
        let fresh = fresh.map(|(slot, values)| Tensor::from_vec(values, slot.shape.as_slice(), &Device::Cpu));
        let fresh: Vec<Tensor> = fresh.collect::<Result<_, _>>()?;
        if fresh.len() != self.vars.len() {
            return Err(NnError::OtherParameters { what: "weights", expected: self.vars.len(), found: fresh.len() });
        }
        for (var, fresh) in self.vars.iter().zip(&fresh) {
            var.set(fresh)?;
        }
        Ok(())
    }
}
