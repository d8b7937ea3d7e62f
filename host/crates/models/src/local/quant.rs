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
        let (rows, columns) = tensor
            .shape()
            .dims2()
            .map_err(|error| LocalError::tensor(name, error))?;
        let (block, bytes) = (tensor.dtype().block_size(), tensor.dtype().type_size());
        match Kind::of(tensor.dtype()).filter(|_| block > 0 && columns % block == 0) {
            Some(kind) => Ok(Self {
                storage: Storage::Blocks { tensor, kind },
                rows,
                columns,
                row_bytes: columns / block * bytes,
            }),
            None => Ok(Self {
                storage: Storage::Plain(plain(&tensor, name)?),
                rows,
                columns,
                row_bytes: columns * 4,
            }),
        }
    }

    /// What can be read from many threads for the length of one product.
    pub(crate) fn view(&self) -> Result<MatrixView<'_>, LocalError> {
        let data = match &self.storage {
            Storage::Blocks { tensor, kind } => match tensor
                .data()
                .map_err(|error| LocalError::tensor("weights", error))?
            {
                std::borrow::Cow::Borrowed(bytes) => Data::Blocks { bytes, kind: *kind },
                std::borrow::Cow::Owned(_) => {
                    return Err(LocalError::Unsupported(
                        "weights that are not in main memory".to_owned(),
                    ));
                }
            },
            Storage::Plain(values) => Data::Plain(values),
        };
        Ok(MatrixView {
            data,
            rows: self.rows,
            columns: self.columns,
            row_bytes: self.row_bytes,
        })
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

#[inline(always)]
fn unpack(kind: Kind, bytes: &[u8], out: &mut [f32]) {
    match kind {
        Kind::F32 => each::<4, 1>(bytes, out, |block, out| *out = [f32::from_le_bytes(*block)]),
        Kind::F16 => each::<2, 1>(bytes, out, |block, out| *out = [half(*block)]),
        Kind::Bf16 => each::<2, 1>(bytes, out, |block, out| {
            *out = [f32::from_bits(u32::from(u16::from_le_bytes(*block)) << 16)]
        }),
        Kind::Q4_0 => each::<18, BLOCK>(bytes, out, q4_0),
        Kind::Q4_1 => each::<20, BLOCK>(bytes, out, q4_1),
        Kind::Q5_0 => each::<22, BLOCK>(bytes, out, q5_0),
        Kind::Q5_1 => each::<24, BLOCK>(bytes, out, q5_1),
        Kind::Q8_0 => each::<34, BLOCK>(bytes, out, q8_0),
        Kind::Q4K => each::<144, SUPERBLOCK>(bytes, out, q4_k),
        Kind::Q5K => each::<176, SUPERBLOCK>(bytes, out, q5_k),
        Kind::Q6K => each::<210, SUPERBLOCK>(bytes, out, q6_k),
    }
}

#[inline(always)]
fn each<const BYTES: usize, const VALUES: usize>(
    bytes: &[u8],
    out: &mut [f32],
    unpack: impl Fn(&[u8; BYTES], &mut [f32; VALUES]),
) {
    let (blocks, _) = bytes.as_chunks::<BYTES>();
    let (outs, _) = out.as_chunks_mut::<VALUES>();
    for (block, out) in blocks.iter().zip(outs) {
        unpack(block, out);
    }
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

#[inline(always)]
fn q4_0(block: &[u8; 18], out: &mut [f32; BLOCK]) {
    let [scale_low, scale_high, quants @ ..] = block;
    let scale = half([*scale_low, *scale_high]);
    let (low, high) = out.split_at_mut(BLOCK / 2);
    for ((quant, low), high) in quants.iter().zip(low).zip(high) {
        *low = (f32::from(quant & 15) - 8.0) * scale;
        *high = (f32::from(quant >> 4) - 8.0) * scale;
    }
}

#[inline(always)]
fn q4_1(block: &[u8; 20], out: &mut [f32; BLOCK]) {
    let [scale_low, scale_high, least_low, least_high, quants @ ..] = block;
    let (scale, least) = (
        half([*scale_low, *scale_high]),
        half([*least_low, *least_high]),
    );
    let (low, high) = out.split_at_mut(BLOCK / 2);
    for ((quant, low), high) in quants.iter().zip(low).zip(high) {
        *low = f32::from(quant & 15) * scale + least;
        *high = f32::from(quant >> 4) * scale + least;
    }
}

/// The fifth bits of a block, the first value's in the lowest place.
#[inline(always)]
fn fifth_bits(bytes: [u8; 4]) -> (u32, u32) {
    let bits = u32::from_le_bytes(bytes);
    (bits & 0xffff, bits >> 16)
}

#[inline(always)]
fn five(quant: u8, bits: u32, place: usize) -> f32 {
    f32::from(quant | (u8::from(bits >> place & 1 == 1) << 4))
}

#[inline(always)]
fn q5_0(block: &[u8; 22], out: &mut [f32; BLOCK]) {
    let [scale_low, scale_high, a, b, c, d, quants @ ..] = block;
    let scale = half([*scale_low, *scale_high]);
    let (low_bits, high_bits) = fifth_bits([*a, *b, *c, *d]);
    let (low, high) = out.split_at_mut(BLOCK / 2);
    for (place, ((quant, low), high)) in quants.iter().zip(low).zip(high).enumerate() {
        *low = (five(quant & 15, low_bits, place) - 16.0) * scale;
        *high = (five(quant >> 4, high_bits, place) - 16.0) * scale;
    }
}

#[inline(always)]
fn q5_1(block: &[u8; 24], out: &mut [f32; BLOCK]) {
    let [
        scale_low,
        scale_high,
        least_low,
        least_high,
        a,
        b,
        c,
        d,
        quants @ ..,
    ] = block;
    let (scale, least) = (
        half([*scale_low, *scale_high]),
        half([*least_low, *least_high]),
    );
    let (low_bits, high_bits) = fifth_bits([*a, *b, *c, *d]);
    let (low, high) = out.split_at_mut(BLOCK / 2);
    for (place, ((quant, low), high)) in quants.iter().zip(low).zip(high).enumerate() {
        *low = five(quant & 15, low_bits, place) * scale + least;
        *high = five(quant >> 4, high_bits, place) * scale + least;
    }
}

#[inline(always)]
fn q8_0(block: &[u8; 34], out: &mut [f32; BLOCK]) {
    let [scale_low, scale_high, quants @ ..] = block;
    let scale = half([*scale_low, *scale_high]);
    for (quant, out) in quants.iter().zip(out) {
        *out = signed(*quant) * scale;
    }
}

/// The eight scales and eight minima of a superblock, six bits each, in twelve bytes.
#[inline(always)]
fn six_bits(scales: &[u8; 12]) -> [(f32, f32); 8] {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = *scales;
    let first = |scale: u8, least: u8| (f32::from(scale & 63), f32::from(least & 63));
    let last = |both: u8, scale: u8, least: u8| {
        (
            f32::from((both & 15) | (scale >> 6 << 4)),
            f32::from((both >> 4) | (least >> 6 << 4)),
        )
    };
    [
        first(a, e),
        first(b, f),
        first(c, g),
        first(d, h),
        last(i, a, e),
        last(j, b, f),
        last(k, c, g),
        last(l, d, h),
    ]
}

#[inline(always)]
fn q4_k(block: &[u8; 144], out: &mut [f32; SUPERBLOCK]) {
    let [a, b, c, d, rest @ ..] = block;
    let (scale, least) = (half([*a, *b]), half([*c, *d]));
    let Some((scales, quants)) = rest.split_first_chunk::<12>() else {
        return;
    };
    let scales = six_bits(scales);
    let (pairs, _) = scales.as_chunks::<2>();
    for ((quants, out), [first, second]) in quants
        .chunks_exact(32)
        .zip(out.chunks_exact_mut(64))
        .zip(pairs)
    {
        let (low, high) = out.split_at_mut(32);
        let ((low_scale, low_least), (high_scale, high_least)) = (
            (scale * first.0, least * first.1),
            (scale * second.0, least * second.1),
        );
        for ((quant, low), high) in quants.iter().zip(low).zip(high) {
            *low = f32::from(quant & 15) * low_scale - low_least;
            *high = f32::from(quant >> 4) * high_scale - high_least;
        }
    }
}

#[inline(always)]
fn q5_k(block: &[u8; 176], out: &mut [f32; SUPERBLOCK]) {
    let [a, b, c, d, rest @ ..] = block;
    let (scale, least) = (half([*a, *b]), half([*c, *d]));
    let Some((scales, rest)) = rest.split_first_chunk::<12>() else {
        return;
    };
    let Some((bits, quants)) = rest.split_first_chunk::<32>() else {
        return;
    };
    let scales = six_bits(scales);
    let (pairs, _) = scales.as_chunks::<2>();
    for (step, ((quants, out), [first, second])) in quants
        .chunks_exact(32)
        .zip(out.chunks_exact_mut(64))
        .zip(pairs)
        .enumerate()
    {
        let (low, high) = out.split_at_mut(32);
        let ((low_scale, low_least), (high_scale, high_least)) = (
            (scale * first.0, least * first.1),
            (scale * second.0, least * second.1),
        );
        for (((quant, bits), low), high) in quants.iter().zip(bits).zip(low).zip(high) {
            let bits = bits >> (2 * step);
            *low = f32::from((quant & 15) | ((bits & 1) << 4)) * low_scale - low_least;
            *high = f32::from((quant >> 4) | ((bits & 2) << 3)) * high_scale - high_least;
        }
    }
}

#[inline(always)]
fn q6_k(block: &[u8; 210], out: &mut [f32; SUPERBLOCK]) {
    let Some((low_bits, rest)) = block.split_first_chunk::<128>() else {
        return;
    };
    let Some((high_bits, rest)) = rest.split_first_chunk::<64>() else {
        return;
    };
    let Some((scales, rest)) = rest.split_first_chunk::<16>() else {
        return;
    };
    let [a, b] = *rest else { return };
    let scale = half([a, b]);
    let halves = low_bits
        .chunks_exact(64)
        .zip(high_bits.chunks_exact(32))
        .zip(scales.chunks_exact(8))
        .zip(out.chunks_exact_mut(128));
    for (((low_bits, high_bits), scales), out) in halves {
        let (low_first, low_second) = low_bits.split_at(32);
        let (rows, _) = scales.as_chunks::<2>();
        let sources = [
            (low_first, 0_u32, 0_u32),
            (low_second, 0, 2),
            (low_first, 4, 4),
            (low_second, 4, 6),
        ];
        for (((low, low_shift, high_shift), scales), out) in
            sources.into_iter().zip(rows).zip(out.chunks_exact_mut(32))
        {
            let [first, second] = scales.map(|part| signed(part) * scale);
            let (out_first, out_second) = out.split_at_mut(16);
            let (low_a, low_b) = low.split_at(16);
            let (high_a, high_b) = high_bits.split_at(16);
            for (low, high, out, scale) in [
                (low_a, high_a, out_first, first),
                (low_b, high_b, out_second, second),
            ] {
                for ((low, high), out) in low.iter().zip(high).zip(out) {
                    *out = (f32::from((low >> low_shift & 15) | ((high >> high_shift & 3) << 4))
                        - 32.0)
                        * scale;
                }
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
