//! Planners that ask a language model: OpenAI-compatible HTTP and local GGUF.
