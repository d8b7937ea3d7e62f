//! Dot products that the compiler turns into vector instructions.

/// Sums that are kept apart, so that they can be added side by side.
const LANES: usize = 16;

/// The dot product of two vectors; what one has more than the other counts for nothing. The order of the additions is fixed.
#[must_use]
pub fn dot(left: &[f32], right: &[f32]) -> f32 {
    let length = left.len().min(right.len());
    let (left, right) = (left.get(..length).unwrap_or_default(), right.get(..length).unwrap_or_default());
    let (left_chunks, right_chunks) = (left.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    let mut sums = [0.0_f32; LANES];
    for (left, right) in left_chunks.0.iter().zip(right_chunks.0) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum += left * right;
        }
    }
    let rest: f32 = left_chunks.1.iter().zip(right_chunks.1).map(|(left, right)| left * right).sum();
    sums.iter().sum::<f32>() + rest
}
