//! What can be wrong with parameters, gradients and steps.

/// A failure of this module. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum NnError {
    /// An operation on tensors failed.
    #[error("a tensor operation failed")]
    Tensor(#[from] candle_core::Error),
    /// Bytes that are no tensors.
    #[error("cannot read {what} as safetensors: {reason}")]
    NotTensors {
        /// What was read.
        what: &'static str,
        /// What the parser says.
        reason: String,
    },
    /// More bytes than are read.
    #[error("{what} is {found} bytes, at most {limit} are read")]
    TooLarge {
        /// What was read.
        what: &'static str,
        /// Its bytes.
        found: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// A tensor that the architecture has and the file has not.
    #[error("tensor `{name}` of shape {expected:?} is missing\nhint: the file belongs to another architecture")]
    Missing {
        /// Its name.
        name: String,
        /// Its shape in the architecture.
        expected: Vec<usize>,
    },
    /// A tensor that the file has and the architecture has not.
    #[error(
        "tensor `{name}` of shape {found:?} is not part of the architecture\nhint: the file belongs to another architecture"
    )]
    Unexpected {
        /// Its name.
        name: String,
        /// Its shape in the file.
        found: Vec<usize>,
    },
    /// A tensor of another shape or kind.
    #[error(
        "tensor `{name}`: expected f32 of shape {expected:?}, found {kind} of shape {found:?}\nhint: the file belongs to another architecture"
    )]
    WrongShape {
        /// Its name.
        name: String,
        /// Its shape in the architecture.
        expected: Vec<usize>,
        /// The kind of number in the file.
        kind: String,
        /// Its shape in the file.
        found: Vec<usize>,
    },
    /// Two parameters of one name.
    #[error("two parameters are named `{name}`")]
    Twice {
        /// The name.
        name: String,
    },
    /// A loss that is no number, or infinite.
    #[error("the loss is {value}: the step is refused and nothing was changed")]
    NonFiniteLoss {
        /// It.
        value: f64,
    },
    /// A value that is no number, or infinite.
    #[error("`{name}` has a {what} that is not finite: refused, and nothing was changed")]
    NonFinite {
        /// The parameter.
        name: String,
        /// Which of its numbers: weight, gradient or moment.
        what: &'static str,
    },
    /// A parameter that the loss does not depend on.
    #[error("parameter `{name}` has no gradient: the loss does not depend on it, or an operation cut it")]
    NoGradient {
        /// The parameter.
        name: String,
    },
    /// Gradients or moments of other parameters.
    #[error("expected {what} of {expected} parameters, found {found}, or of other sizes")]
    OtherParameters {
        /// What was handed over.
        what: &'static str,
        /// How many parameters there are.
        expected: usize,
        /// How many were handed over.
        found: usize,
    },
    /// A setting outside its range.
    #[error("setting `{name}`: expected {expected}, found {found}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its range.
        expected: &'static str,
        /// The value.
        found: f64,
    },
}
