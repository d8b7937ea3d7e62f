//! Keys and values of the positions that were computed: in blocks that sequences share, copied when one of them writes.

use std::sync::Arc;

use super::file::Shape;

/// Positions in a block.
pub(crate) const BLOCK_POSITIONS: usize = 32;

/// Keys and values of up to [`BLOCK_POSITIONS`] positions in all layers.
#[derive(Debug, Clone)]
struct Block {
    /// `[layers, positions, kv width]`.
    keys: Vec<f32>,
    values: Vec<f32>,
}

/// The state of a sequence of tokens.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    blocks: Vec<Arc<Block>>,
    length: usize,
    layers: usize,
    kv_width: usize,
}

impl Cache {
    pub(crate) fn new(shape: &Shape) -> Self {
        Self { blocks: Vec::new(), length: 0, layers: shape.layers, kv_width: shape.kv_width() }
    }

    /// Positions held.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Forgets all positions from `length` on.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
        self.blocks.truncate(self.length.div_ceil(BLOCK_POSITIONS));
    }

    /// Bytes of one block.
    pub(crate) fn block_bytes(shape: &Shape) -> usize {
        2 * shape.layers * BLOCK_POSITIONS * shape.kv_width() * size_of::<f32>()
    }

    /// Blocks that this cache refers to, by their address.
    pub(crate) fn block_addresses(&self) -> impl Iterator<Item = *const ()> {
        self.blocks.iter().map(|block| Arc::as_ptr(block).cast::<()>())
    }

    /// Makes room for `count` further positions, and makes what will be written our own.
    pub(crate) fn extend(&mut self, count: usize) {
        let first = self.length / BLOCK_POSITIONS;
        self.length += count;
        let floats = self.layers * BLOCK_POSITIONS * self.kv_width;
        while self.blocks.len() < self.length.div_ceil(BLOCK_POSITIONS) {
            self.blocks.push(Arc::new(Block { keys: vec![0.0; floats], values: vec![0.0; floats] }));
        }
        for block in self.blocks.iter_mut().skip(first) {
            Arc::make_mut(block);
        }
    }

    /// Writes one position of one layer; the position was made room for.
    pub(crate) fn write(&mut self, layer: usize, position: usize, key: &[f32], value: &[f32]) {
        let start = self.start(layer, position % BLOCK_POSITIONS);
        let width = self.kv_width;
        let Some(block) = self.blocks.get_mut(position / BLOCK_POSITIONS) else {
            return;
        };
        let block = Arc::make_mut(block);
        for (store, source) in [(&mut block.keys, key), (&mut block.values, value)] {
            if let Some(place) = store.get_mut(start..start + width) {
                place.copy_from_slice(source);
            }
        }
    }

    /// Keys and values of one layer up to and without position `end`, a block at a time: `[positions, kv width]` each.
    pub(crate) fn layer(&self, layer: usize, end: usize) -> impl Iterator<Item = (&[f32], &[f32])> {
        self.blocks.iter().enumerate().filter_map(move |(place, block)| {
            let count = end.saturating_sub(place * BLOCK_POSITIONS).min(BLOCK_POSITIONS);
            let range = self.start(layer, 0)..self.start(layer, count);
            Some((block.keys.get(range.clone())?, block.values.get(range)?)).filter(|_| count > 0)
        })
    }

    fn start(&self, layer: usize, position: usize) -> usize {
        (layer * BLOCK_POSITIONS + position) * self.kv_width
    }
}
