//! Reading, changing and writing back one document, and saying whether that changed it.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::phone::Phone;

/// What an update came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Updated<T> {
    /// Whether the document is another one than before. An idempotent tool reports it as `changed`.
    pub changed: bool,
    /// The document as it is now.
    pub value: T,
}

impl Phone {
    /// Reads a document that a fresh world holds, lets `change` alter it, and writes it back when it differs.
    ///
    /// ```
    /// use loopwright_sdk::{Failure, Phone, Updated};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Clone, PartialEq, Serialize, Deserialize)]
    /// struct Torch {
    ///     on: bool,
    /// }
    ///
    /// fn turn_on(phone: &mut Phone) -> Result<bool, Failure> {
    ///     let torch: Updated<Torch> = phone.update("torch", "state", |torch: &mut Torch| {
    ///         torch.on = true;
    ///         Ok(())
    ///     })?;
    ///     Ok(torch.changed)
    /// }
    /// ```
    ///
    /// # Errors
    /// When `change` refuses, or the document is missing, does not fit `T` or cannot be written. Nothing is written then.
    pub fn update<T>(
        &mut self,
        collection: &str,
        key: &str,
        change: impl FnOnce(&mut T) -> Result<(), Failure>,
    ) -> Result<Updated<T>, Failure>
    where
        T: Serialize + DeserializeOwned + Clone + PartialEq,
    {
        let before: T = self.require(collection, key)?;
        let mut value = before.clone();
        change(&mut value)?;
        let changed = value != before;
        if changed {
            self.put(collection, key, &value)?;
        }
        Ok(Updated { changed, value })
    }
}
