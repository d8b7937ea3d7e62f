//! Exact tool calls, in order or as a partial order.
