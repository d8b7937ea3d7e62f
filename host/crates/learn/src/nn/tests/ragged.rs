//! The blocks over rows of several lengths: lists, ranges and choices.

#![expect(clippy::single_range_in_vec_init, reason = "one query reads one range")]

use std::ops::Range;
use std::sync::Arc;

use candle_core::{DType, Device, Result, Tensor};

use super::blocks::{CASES, check};
use super::{noise, slow};
use crate::nn::{Heads, Lists, Segments, Share, full_attention, list_sums, read, segment_log_softmax};

#[test]
fn full_attention_is_its_twin() {
    for (heads, lengths) in CASES {
        let segments = Segments::new(lengths);
        let shape = [segments.rows(), 3 * heads.row()];
        check("full_attention", &[&shape], &|x| full_attention(&x[0], heads, &segments), &|x| {
            slow::full_attention(&x[0], heads, &segments)
        });
    }
}

#[test]
fn read_is_its_twin() {
    // Ranges that repeat, overlap, are empty, and go back.
    let cases: [(Heads, usize, &[Range<usize>]); 3] = [
        (Heads { count: 1, width: 2 }, 1, &[0..1]),
        (Heads { count: 2, width: 4 }, 7, &[0..3, 0..3, 2..7, 5..5, 6..7, 0..3]),
        (Heads { count: 1, width: 10 }, 19, &[0..19, 18..19, 1..10]),
    ];
    for (heads, rows, ranges) in cases {
        let shapes: [&[usize]; 2] = [&[ranges.len(), heads.row()], &[rows, 2 * heads.row()]];
        let shared: Arc<[Range<usize>]> = ranges.into();
        check("read", &shapes, &|x| read(&x[0], &x[1], heads, &shared), &|x| slow::read(&x[0], &x[1], heads, ranges));
    }
}

#[test]
fn what_is_read_depends_on_its_own_range_alone() {
    let heads = Heads { count: 2, width: 6 };
    let (queries, pairs) = (noise(5 * 12, 1), noise(30 * 24, 2));
    let ranges = [3..20, 3..20, 0..30, 9..9, 28..30];
    let together = crate::nn::read_rows(&queries, &pairs, heads, &ranges);
    for ((query, together), range) in queries.chunks_exact(12).zip(together.chunks_exact(12)).zip(ranges) {
        let own = &pairs[range.start * 24..range.end * 24];
        assert_eq!(crate::nn::read_rows(query, own, heads, &[0..range.len()]), together);
    }
}

fn lists(lists: &[&[u32]], share: Share) -> Arc<Lists> {
    let mut all = Lists::new(share);
    lists.iter().for_each(|list| all.push(list.iter().copied()));
    Arc::new(all)
}

#[test]
fn list_sums_are_their_twin() {
    let cases: [&[u32]; 5] = [&[0, 2, 3], &[], &[3], &[1, 1, 4], &[0, 1, 2, 3, 4]];
    for width in [1, 3, 16] {
        for (share, factor) in [(Share::Mean, (|n| 1.0 / n) as fn(f64) -> f64), (Share::Root, |n| 1.0 / n.sqrt())] {
            let all = lists(&cases, share);
            assert_eq!((all.len(), all.is_empty()), (5, false));
            check("list_sums", &[&[6, width]], &|x| list_sums(&x[0], &all), &|x| {
                slow::list_sums(&x[0], &cases, factor)
            });
        }
    }
}

#[test]
fn the_gradient_of_sums_touches_named_rows_alone() {
    let table = candle_core::Var::from_vec(noise(100 * 4, 1), (100, 4), &Device::Cpu).unwrap();
    let sums = list_sums(&table, &lists(&[&[7, 90], &[90]], Share::Mean)).unwrap();
    let store = sums.sum_all().unwrap().backward().unwrap();
    let rows = store.get(&table).unwrap().to_vec2::<f32>().unwrap();
    for (place, row) in rows.iter().enumerate() {
        let expected = match place {
            7 => 0.5,
            90 => 1.5,
            _ => 0.0,
        };
        assert!(row.iter().all(|value| *value == expected), "row {place}: {row:?}");
    }
}

#[test]
fn segment_log_softmax_is_its_twin() {
    for lengths in [&[1_usize][..], &[3, 0, 1, 17], &[192, 5]] {
        let segments = Segments::new(lengths);
        check("segment_log_softmax", &[&[segments.rows()]], &|x| segment_log_softmax(&x[0], &segments), &|x| {
            slow::segment_log_softmax(&x[0], &segments)
        });
    }
    let far = Tensor::new(&[3e4_f32, -3e4, 0.0, 5.0], &Device::Cpu).unwrap();
    let out = segment_log_softmax(&far, &Segments::new(&[3, 1])).unwrap().to_vec1::<f32>().unwrap();
    assert_eq!(out, [0.0, -6e4, -3e4, 0.0]);
}

#[test]
fn nothing_at_all_has_gradients_of_nothing() {
    let heads = Heads { count: 1, width: 2 };
    let var = |shape: &[usize]| candle_core::Var::zeros(shape, DType::F32, &Device::Cpu).unwrap();
    let (queries, pairs, packed) = (var(&[2, 2]), var(&[0, 4]), var(&[0, 6]));
    let found = read(&queries, &pairs, heads, &[0..0, 0..0].into()).unwrap();
    let none = full_attention(&packed, heads, &Segments::new(&[0, 0])).unwrap();
    let sums = list_sums(&none, &lists(&[&[], &[]], Share::Mean)).unwrap();
    let store = found.add(&sums).unwrap().sum_all().unwrap().backward().unwrap();
    for var in [&queries, &pairs, &packed] {
        assert!(slow::to_f64(store.get(var).expect("a gradient")).iter().all(|value| *value == 0.0));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let zeros = |shape: &[usize]| Tensor::zeros(shape, DType::F32, &Device::Cpu).unwrap();
    let heads = Heads { count: 2, width: 4 };
    let ranges = |ranges: &[Range<usize>]| -> Arc<[Range<usize>]> { ranges.into() };
    let reversed = Range { start: 2, end: 1 };
    let cases: [(&str, Result<Tensor>); 8] = [
        ("expected (5, 24)", full_attention(&zeros(&[4, 24]), heads, &Segments::new(&[3, 2]))),
        ("(1, 8, 16), found (2, 8, 16)", read(&zeros(&[2, 8]), &zeros(&[3, 16]), heads, &ranges(&[0..3]))),
        ("(1, 8, 16), found (1, 8, 8)", read(&zeros(&[1, 8]), &zeros(&[3, 8]), heads, &ranges(&[0..3]))),
        ("range 0..4 of 3 rows", read(&zeros(&[1, 8]), &zeros(&[3, 16]), heads, &ranges(&[0..4]))),
        ("range 2..1 of 3 rows", read(&zeros(&[1, 8]), &zeros(&[3, 16]), heads, &ranges(&[reversed]))),
        ("row 3 of a table of 3 rows", list_sums(&zeros(&[3, 2]), &lists(&[&[0], &[3]], Share::Mean))),
        ("expected 3 logits, found 4", segment_log_softmax(&zeros(&[4]), &Segments::new(&[1, 2]))),
        ("unexpected dtype", list_sums(&zeros(&[3, 2]).to_dtype(DType::F64).unwrap(), &lists(&[&[0]], Share::Mean))),
    ];
    for (expected, found) in cases {
        let error = found.expect_err(expected).to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}
