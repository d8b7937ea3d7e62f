//! Gradients that are whole and finite.

use candle_core::Tensor;

use super::error::NnError;
use super::parameters::Parameters;
use super::slices::with;

/// The gradients of a finite loss for all parameters, in their order; all of them there and finite.
#[derive(Debug, Clone)]
pub struct Gradients {
    loss: f64,
    values: Vec<Vec<f32>>,
}

impl Gradients {
    /// Goes back from a loss, a single number.
    ///
    /// # Errors
    /// A loss or gradient that is not finite, a parameter without a gradient.
    pub fn of(loss: &Tensor, parameters: &Parameters) -> Result<Self, NnError> {
        let value = f64::from(loss.to_scalar::<f32>()?);
        if !value.is_finite() {
            return Err(NnError::NonFiniteLoss { value });
        }
        let store = loss.backward()?;
        let values = parameters.iter().map(|(slot, var)| {
            let gradient = store.get(var).ok_or_else(|| NnError::NoGradient { name: slot.name.clone() })?;
            let values = with(gradient, <[f32]>::to_vec)?;
            if values.iter().all(|value| value.is_finite()) {
                Ok(values)
            } else {
                Err(NnError::NonFinite { name: slot.name.clone(), what: "gradient" })
            }
        });
        let values = values.collect::<Result<_, _>>()?;
        Ok(Self { loss: value, values })
    }

    /// The loss.
    #[must_use]
    pub fn loss(&self) -> f64 {
        self.loss
    }

    /// The gradient of each parameter, row after row, in the order of the parameters.
    #[must_use]
    pub fn values(&self) -> &[Vec<f32>] {
        &self.values
    }

    /// The Euclidean length of all of them as one vector.
    #[must_use]
    pub fn norm(&self) -> f64 {
        self.values.iter().flatten().map(|value| f64::from(*value) * f64::from(*value)).sum::<f64>().sqrt()
    }

    /// Adds the loss and gradients of another part of the same batch.
    ///
    /// # Errors
    /// Gradients of other parameters, or a sum that is not finite; this is then as it was.
    pub fn add(&mut self, other: &Self) -> Result<(), NnError> {
        let sizes = |gradients: &Self| gradients.values.iter().map(Vec::len).collect::<Vec<_>>();
        if sizes(self) != sizes(other) {
            let (expected, found) = (self.values.len(), other.values.len());
            return Err(NnError::OtherParameters { what: "gradients", expected, found });
        }
        let loss = self.loss + other.loss;
        let pairs = self.values.iter().zip(&other.values);
        let values: Vec<Vec<f32>> = pairs.map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()).collect();
        if !loss.is_finite() || !values.iter().flatten().all(|value| value.is_finite()) {
            return Err(NnError::NonFinite { name: "the sum of gradients".into(), what: "gradient" });
        }
        (self.loss, self.values) = (loss, values);
        Ok(())
    }
}
