//! Weights in the blocks that GGUF files hold, and how a row of them becomes numbers again.
//!
//! Rows are unpacked where they are used, a few at a time: a model takes as much memory as its file, and any number of rows at once gives
//! the same values bit for bit. Layouts are those of ggml's `block_*` types; the tests compare each with candle's own.

use candle_core::quantized::{GgmlDType, QTensor};

use super::LocalError;

/// Values in a block of the types with a superblock.
const SUPERBLOCK: usize = 256;
/// Values in a block of the others.
const BLOCK: usize = 32;

/// How a row is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    F32,
    F16,
    Bf16,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q4K,
    Q5K,
    Q6K,
}

impl Kind {
    fn of(kind: GgmlDType) -> Option<Self> {
        Some(match kind {
            GgmlDType::F32 => Self::F32,
            GgmlDType::F16 => Self::F16,
            GgmlDType::BF16 => Self::Bf16,
            GgmlDType::Q4_0 => Self::Q4_0,
            GgmlDType::Q4_1 => Self::Q4_1,
            GgmlDType::Q5_0 => Self::Q5_0,
            GgmlDType::Q5_1 => Self::Q5_1,
            GgmlDType::Q8_0 => Self::Q8_0,
            GgmlDType::Q4K => Self::Q4K,
            GgmlDType::Q5K => Self::Q5K,
            GgmlDType::Q6K => Self::Q6K,
            _ => return None,
        })
    }
}

/// A matrix of weights, `rows` outputs of `columns` inputs each.
#[derive(Debug)]
pub(crate) struct Matrix {
    storage: Storage,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    row_bytes: usize,
}

#[derive(Debug)]
enum Storage {
    /// As in the file.
    Blocks { tensor: QTensor, kind: Kind },
    /// Types that are rare in practice, unpacked once.
    Plain(Vec<f32>),
}

impl Matrix {
    /// Takes a tensor of two dimensions.
    pub(crate) fn new(tensor: QTensor, name: &str) -> Result<Self, LocalError> {
        let (rows, columns) = tensor.shape().dims2().map_err(|error| LocalError::tensor(name, error))?;
        let (block, bytes) = (tensor.dtype().block_size(), tensor.dtype().type_size());
        match Kind::of(tensor.dtype()).filter(|_| block > 0 && columns % block == 0) {
            Some(kind) => Ok(Self {
                storage: Storage::Blocks { tensor, kind },
                rows,
                columns,
                row_bytes: columns / block * bytes,
            }),
            None => Ok(Self { storage: Storage::Plain(plain(&tensor, name)?), rows, columns, row_bytes: columns * 4 }),
        }
    }

    /// What can be read from many threads for the length of one product.
    pub(crate) fn view(&self) -> Result<MatrixView<'_>, LocalError> {
        let data = match &self.storage {
            Storage::Blocks { tensor, kind } => {
                match tensor.data().map_err(|error| LocalError::tensor("weights", error))? {
                    std::borrow::Cow::Borrowed(bytes) => Data::Blocks { bytes, kind: *kind },
                    std::borrow::Cow::Owned(_) => {
                        return Err(LocalError::Unsupported("weights that are not in main memory".to_owned()));
                    }
                }
            }
            Storage::Plain(values) => Data::Plain(values),
        };
        Ok(MatrixView { data, rows: self.rows, columns: self.columns, row_bytes: self.row_bytes })
    }
}

/// All values of a tensor.
pub(crate) fn plain(tensor: &QTensor, name: &str) -> Result<Vec<f32>, LocalError> {
    let values = tensor
        .dequantize(&candle_core::Device::Cpu)
        .and_then(|values| values.flatten_all())
        .and_then(|values| values.to_vec1());
    values.map_err(|error| LocalError::tensor(name, error))
}

/// A [`Matrix`], ready to be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MatrixView<'a> {
    data: Data<'a>,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    row_bytes: usize,
}

#[derive(Debug, Clone, Copy)]
enum Data<'a> {
    Blocks { bytes: &'a [u8], kind: Kind },
    Plain(&'a [f32]),
}

impl MatrixView<'_> {
    /// Unpacks one row into `out`, which has the length of a row. Inlined, so that it is compiled for the caller's CPU features.
    #[inline(always)]
    pub(crate) fn row(&self, row: usize, out: &mut [f32]) {
        match self.data {
            Data::Plain(values) => {
                if let Some(values) = values.get(row * self.columns..(row + 1) * self.columns) {
                    out.copy_from_slice(values);
                }
            }
            Data::Blocks { bytes, kind } => {
                if let Some(bytes) = bytes.get(row * self.row_bytes..(row + 1) * self.row_bytes) {
                    unpack(kind, bytes, out);
                }
            }
        }
    }
}

/// Unpacks block after block. A block is copied first: a compiler that sees no aliasing turns its bytes into vectors. A macro, because a call
/// through a generic parameter is not inlined for sure, and what is not inlined is compiled for the least CPU.
macro_rules! each {
    ($bytes:expr, $out:expr, $unpack:path) => {{
        let (blocks, _) = $bytes.as_chunks();
        let (outs, _) = $out.as_chunks_mut();
        for (block, out) in blocks.iter().zip(outs) {
            $unpack(*block, out);
        }
    }};
}

#[inline(always)]
fn unpack(kind: Kind, bytes: &[u8], out: &mut [f32]) {
    match kind {
        Kind::F32 => each!(bytes, out, single),
        Kind::F16 => each!(bytes, out, f16),
        Kind::Bf16 => each!(bytes, out, bf16),
        Kind::Q4_0 => each!(bytes, out, q4_0),
        Kind::Q4_1 => each!(bytes, out, q4_1),
        Kind::Q5_0 => each!(bytes, out, q5_0),
        Kind::Q5_1 => each!(bytes, out, q5_1),
        Kind::Q8_0 => each!(bytes, out, q8_0),
        Kind::Q4K => each!(bytes, out, q4_k),
        Kind::Q5K => each!(bytes, out, q5_k),
        Kind::Q6K => each!(bytes, out, q6_k),
    }
}

#[inline(always)]
fn single(block: [u8; 4], out: &mut [f32; 1]) {
    *out = [f32::from_le_bytes(block)];
}

#[inline(always)]
fn f16(block: [u8; 2], out: &mut [f32; 1]) {
    *out = [half(block)];
}

#[inline(always)]
fn bf16(block: [u8; 2], out: &mut [f32; 1]) {
    *out = [f32::from_bits(u32::from(u16::from_le_bytes(block)) << 16)];
}

/// A half-precision number. By arithmetic, not by a table or an instruction, so that a loop over it is vectorised on any CPU.
#[inline(always)]
fn half(bytes: [u8; 2]) -> f32 {
    let bits = u32::from(u16::from_le_bytes(bytes));
    // Shifts exponent and mantissa into place; the factor 2^112 mends the bias and keeps subnormals right. No weight is infinite.
    let magnitude = f32::from_bits((bits & 0x7fff) << 13) * f32::from_bits(0x7780_0000);
    f32::from_bits(magnitude.to_bits() | (bits & 0x8000) << 16)
}

/// The signed byte with these bits.
#[inline(always)]
fn signed(byte: u8) -> f32 {
    f32::from(i8::from_le_bytes([byte]))
}

/// Writes the value of each quant, which is `(quant - zero) * scale + least`. Through a local array, for the reason given at `each`.
#[inline(always)]
fn spread<const COUNT: usize>(quants: [u8; COUNT], (zero, scale, least): (f32, f32, f32), out: &mut [f32]) {
    let mut values = [0.0; COUNT];
    for (slot, quant) in values.iter_mut().zip(quants) {
        *slot = (f32::from(quant) - zero) * scale + least;
    }
    out.copy_from_slice(&values);
}

/// Low and high four bits of each byte.
#[inline(always)]
fn nibbles<const COUNT: usize>(bytes: [u8; COUNT]) -> ([u8; COUNT], [u8; COUNT]) {
    let (mut low, mut high) = (bytes, bytes);
    for byte in &mut low {
        *byte &= 15;
    }
    for byte in &mut high {
        *byte >>= 4;
    }
    (low, high)
}

/// A block whose first half lies in the low four bits.
#[inline(always)]
fn spread_halves((low, high): ([u8; 16], [u8; 16]), line: (f32, f32, f32), out: &mut [f32; BLOCK]) {
    let (first, second) = out.split_at_mut(BLOCK / 2);
    spread(low, line, first);
    spread(high, line, second);
}

#[inline(always)]
fn q4_0(block: [u8; 18], out: &mut [f32; BLOCK]) {
    let [scale_low, scale_high, quants @ ..] = block;
    let scale = half([scale_low, scale_high]);
    spread_halves(nibbles(quants), (8.0, scale, 0.0), out);
}

#[inline(always)]
fn q4_1(block: [u8; 20], out: &mut [f32; BLOCK]) {
    let [scale_low, scale_high, least_low, least_high, quants @ ..] = block;
    let (scale, least) = (half([scale_low, scale_high]), half([least_low, least_high]));
    spread_halves(nibbles(quants), (0.0, scale, least), out);
}

/// The quants of a block of five bits: four in `quants`, the fifth in `bits`, the first value's in the lowest place.
#[inline(always)]
fn fives(quants: [u8; 16], bits: [u8; 4]) -> ([u8; 16], [u8; 16]) {
    let bits = u32::from_le_bytes(bits);
    let (mut low, mut high) = nibbles(quants);
    for (place, (low, high)) in low.iter_mut().zip(&mut high).enumerate() {
        *low |= u8::from(bits >> place & 1 == 1) << 4;
        *high |= u8::from(bits >> (place + 16) & 1 == 1) << 4;
    }
    (low, high)
}

#[inline(always)]
fn q5_0(block: [u8; 22], out: &mut [f32; BLOCK]) {
    let [scale_low, scale_high, a, b, c, d, quants @ ..] = block;
    let scale = half([scale_low, scale_high]);
    spread_halves(fives(quants, [a, b, c, d]), (16.0, scale, 0.0), out);
}

#[inline(always)]
fn q5_1(block: [u8; 24], out: &mut [f32; BLOCK]) {
    let [scale_low, scale_high, least_low, least_high, a, b, c, d, quants @ ..] = block;
    let (scale, least) = (half([scale_low, scale_high]), half([least_low, least_high]));
    spread_halves(fives(quants, [a, b, c, d]), (0.0, scale, least), out);
}

#[inline(always)]
fn q8_0(block: [u8; 34], out: &mut [f32; BLOCK]) {
    let [scale_low, scale_high, quants @ ..] = block;
    let scale = half([scale_low, scale_high]);
    let mut values = [0.0; BLOCK];
    for (slot, quant) in values.iter_mut().zip(quants) {
        *slot = signed(quant) * scale;
    }
    *out = values;
}

/// The eight scales and eight minima of a superblock, six bits each, in twelve bytes.
#[inline(always)]
fn six_bits(scales: [u8; 12]) -> [(f32, f32); 8] {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = scales;
    let first = |scale: u8, least: u8| (f32::from(scale & 63), f32::from(least & 63));
    let last = |both: u8, scale: u8, least: u8| {
        (f32::from((both & 15) | (scale >> 6 << 4)), f32::from((both >> 4) | (least >> 6 << 4)))
    };
    [first(a, e), first(b, f), first(c, g), first(d, h), last(i, a, e), last(j, b, f), last(k, c, g), last(l, d, h)]
}

/// Superblocks with scales and minima for runs of 32 values: two scales in halves, twelve bytes of small ones, and `quants`, whose fifth
/// bits, where there are any, lie in `fifth`.
#[inline(always)]
fn q4_or_5_k(head: [u8; 16], fifth: Option<[u8; 32]>, quants: &[u8], out: &mut [f32; SUPERBLOCK]) {
    let [a, b, c, d, scales @ ..] = head;
    let (scale, least) = (half([a, b]), half([c, d]));
    let scales = six_bits(scales);
    let runs = quants.as_chunks::<32>().0.iter().zip(scales.as_chunks::<2>().0);
    for (step, ((quants, [first, second]), out)) in runs.zip(out.chunks_exact_mut(64)).enumerate() {
        let (mut low, mut high) = nibbles(*quants);
        if let Some(fifth) = fifth {
            for ((low, high), bits) in low.iter_mut().zip(&mut high).zip(fifth) {
                let bits = bits >> (2 * step);
                *low |= (bits & 1) << 4;
                *high |= (bits & 2) << 3;
            }
        }
        let (low_scale, low_least) = (scale * first.0, least * first.1);
        let (high_scale, high_least) = (scale * second.0, least * second.1);
        let (first, second) = out.split_at_mut(32);
        spread(low, (0.0, low_scale, -low_least), first);
        spread(high, (0.0, high_scale, -high_least), second);
    }
}

#[inline(always)]
fn q4_k(block: [u8; 144], out: &mut [f32; SUPERBLOCK]) {
    if let Some((head, quants)) = block.split_first_chunk::<16>() {
        q4_or_5_k(*head, None, quants, out);
    }
}

#[inline(always)]
fn q5_k(block: [u8; 176], out: &mut [f32; SUPERBLOCK]) {
    if let Some((head, rest)) = block.split_first_chunk::<16>()
        && let Some((fifth, quants)) = rest.split_first_chunk::<32>()
    {
        q4_or_5_k(*head, Some(*fifth), quants, out);
    }
}

#[inline(always)]
fn q6_k(block: [u8; 210], out: &mut [f32; SUPERBLOCK]) {
    let Some((low_bits, rest)) = block.split_first_chunk::<128>() else { return };
    let Some((high_bits, rest)) = rest.split_first_chunk::<64>() else { return };
    let Some((scales, rest)) = rest.split_first_chunk::<16>() else { return };
    let [a, b] = *rest else { return };
    let scale = half([a, b]);
    let parts = low_bits.as_chunks::<64>().0.iter().zip(high_bits.as_chunks::<32>().0).zip(scales.as_chunks::<8>().0);
    for (((low_bits, high_bits), scales), out) in parts.zip(out.chunks_exact_mut(128)) {
        let [first, second] = low_bits.as_chunks::<32>().0 else { continue };
        let sources = [(first, 0_u32, 0_u32), (second, 0, 2), (first, 4, 4), (second, 4, 6)];
        let runs = sources.into_iter().zip(scales.as_chunks::<2>().0).zip(out.chunks_exact_mut(32));
        for (((low, low_shift, high_shift), scales), out) in runs {
            let mut quants = *low;
            for (quant, high) in quants.iter_mut().zip(high_bits) {
                *quant = (*quant >> low_shift & 15) | (high >> high_shift & 3) << 4;
            }
            for ((quants, part), out) in quants.as_chunks::<16>().0.iter().zip(scales).zip(out.chunks_exact_mut(16)) {
                let scale = signed(*part) * scale;
                spread(*quants, (32.0, scale, 0.0), out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor};

    use super::*;
    use crate::local::tests::noise;

    #[test]
    fn rows_are_unpacked_as_candle_unpacks_them() {
        for kind in [
            GgmlDType::F32,
            GgmlDType::F16,
            GgmlDType::BF16,
            GgmlDType::Q4_0,
            GgmlDType::Q4_1,
            GgmlDType::Q5_0,
            GgmlDType::Q5_1,
            GgmlDType::Q8_0,
            GgmlDType::Q2K,
            GgmlDType::Q3K,
            GgmlDType::Q4K,
            GgmlDType::Q5K,
            GgmlDType::Q6K,
        ] {
            let values = noise(3 * 512, 7);
            let source = Tensor::from_vec(values, (3, 512), &Device::Cpu).unwrap();
            let tensor = QTensor::quantize(&source, kind).unwrap();
            let expected = plain(&tensor, "t").unwrap();
            let matrix = Matrix::new(tensor, "t").unwrap();
            let view = matrix.view().unwrap();
            let mut found = vec![0.0; 3 * 512];
            for (row, out) in found.chunks_exact_mut(512).enumerate() {
                view.row(row, out);
            }
            for (place, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert!(
                    (found - expected).abs() <= 1e-6 * expected.abs().max(0.01),
                    "{kind:?} at {place}: {found}, candle has {expected}"
                );
            }
        }
    }

    #[test]
    fn half_precision_follows_ieee_754() {
        for (bits, value) in [
            (0x0000_u16, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0x0400, 6.103_515_6e-5),
            (0x3555, 0.333_251_95),
        ] {
            assert_eq!(half(bits.to_le_bytes()), value);
        }
    }
}
