//! Differentiable blocks, their optimiser and seeded randomness. It knows no policy.
