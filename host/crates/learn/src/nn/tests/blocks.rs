use std::sync::Arc;

use candle_core::{DType, Device, Result, Tensor, Var};

use super::{noise, slow};
use crate::nn::{
    Allowed, FORBIDDEN, Heads, Segments, attention, embedding, linear, masked_log_softmax, negative_log_likelihood,
    pick, rms_norm, rope, silu_gate,
};

pub(super) type Block<'a> = &'a dyn Fn(&[Tensor]) -> Result<Tensor>;

/// The block's outputs against its twin's; its gradients against the twin's and against finite differences of the twin, for every input
/// value.
pub(super) fn check(name: &str, shapes: &[&[usize]], fused: Block<'_>, twin: Block<'_>) {
    let sizes: Vec<usize> = shapes.iter().map(|shape| shape.iter().product()).collect();
    let values: Vec<Vec<f32>> = sizes.iter().enumerate().map(|(place, size)| noise(*size, place as u64 + 7)).collect();
    let vars = |kind: DType| -> Vec<Var> {
        let tensors = values
            .iter()
            .zip(shapes)
            .map(|(values, shape)| Tensor::from_slice(values, *shape, &Device::Cpu).unwrap().to_dtype(kind).unwrap());
        tensors.map(|tensor| Var::from_tensor(&tensor).unwrap()).collect()
    };
    let tensors = |vars: &[Var]| -> Vec<Tensor> { vars.iter().map(|var| var.as_tensor().clone()).collect() };
    let (ours, theirs) = (vars(DType::F32), vars(DType::F64));
    let (found, expected) = (fused(&tensors(&ours)).unwrap(), twin(&tensors(&theirs)).unwrap());
    assert_eq!(found.dims(), expected.dims(), "{name}");
    for (found, expected) in slow::to_f64(&found).iter().zip(slow::to_f64(&expected)) {
        assert!((found - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{name}: {found} against {expected}");
    }

    let weights = Tensor::from_vec(noise(found.elem_count(), 3), found.dims(), &Device::Cpu).unwrap();
    let loss = |out: &Tensor| out.mul(&weights.to_dtype(out.dtype()).unwrap()).unwrap().sum_all().unwrap();
    let (our_grads, their_grads) = (loss(&found).backward().unwrap(), loss(&expected).backward().unwrap());
    let step = 1e-5;
    for (number, (our, their)) in ours.iter().zip(&theirs).enumerate() {
        let our_grad = slow::to_f64(our_grads.get(our).expect("a gradient"));
        let their_grad = slow::to_f64(their_grads.get(their).expect("a gradient"));
        let base = slow::to_f64(their);
        for (place, (our_grad, their_grad)) in our_grad.iter().zip(&their_grad).enumerate() {
            let at = |shift: f64| {
                let mut moved = base.clone();
                moved[place] += shift;
                let mut inputs = tensors(&theirs);
                inputs[number] = Tensor::from_vec(moved, their.dims(), &Device::Cpu).unwrap();
                loss(&twin(&inputs).unwrap()).to_scalar::<f64>().unwrap()
            };
            let difference = (at(step) - at(-step)) / (2.0 * step);
            let context = || format!("{name}, input {number}, value {place}");
            assert!(
                (our_grad - their_grad).abs() < 2e-5 * (1.0 + their_grad.abs()),
                "{}: {our_grad} {their_grad}",
                context()
            );
            assert!(
                (our_grad - difference).abs() < 5e-5 * (1.0 + difference.abs()),
                "{}: {our_grad} {difference}",
                context()
            );
        }
    }
}

#[test]
fn linear_is_its_twin() {
    for (rows, inputs, outputs) in [(1, 1, 1), (5, 6, 7), (9, 16, 3)] {
        check("linear", &[&[rows, inputs], &[inputs, outputs]], &|x| linear(&x[0], &x[1]), &|x| {
            slow::linear(&x[0], &x[1])
        });
    }
}

#[test]
fn rms_norm_is_its_twin() {
    for (rows, width) in [(1, 1), (4, 6), (3, 17)] {
        check("rms_norm", &[&[rows, width], &[width]], &|x| rms_norm(&x[0], &x[1]), &|x| slow::rms_norm(&x[0], &x[1]));
    }
}

#[test]
fn silu_gate_is_its_twin() {
    for (rows, hidden) in [(1, 1), (4, 5), (2, 16)] {
        check("silu_gate", &[&[rows, 2 * hidden]], &|x| silu_gate(&x[0]), &|x| slow::silu_gate(&x[0]));
    }
}

pub(super) const CASES: [(Heads, &[usize]); 3] = [
    (Heads { count: 1, width: 2 }, &[1]),
    (Heads { count: 2, width: 4 }, &[3, 0, 1, 5]),
    (Heads { count: 1, width: 10 }, &[9, 2]),
];

#[test]
fn rope_is_its_twin() {
    for (heads, lengths) in CASES {
        let segments = Segments::new(lengths);
        let shape = [segments.rows(), 3 * heads.row()];
        check("rope", &[&shape], &|x| rope(&x[0], heads, &segments), &|x| slow::rope(&x[0], heads, &segments));
    }
}

#[test]
fn attention_is_its_twin() {
    for (heads, lengths) in CASES {
        let segments = Segments::new(lengths);
        let shape = [segments.rows(), 3 * heads.row()];
        check("attention", &[&shape], &|x| attention(&x[0], heads, &segments), &|x| {
            slow::attention(&x[0], heads, &segments)
        });
    }
}

#[test]
fn masked_log_softmax_and_pick_are_their_twins() {
    let masks: Arc<[Allowed]> =
        [&[0_u8, 2, 8][..], &[5], &[0, 1, 2, 3, 4, 5, 6, 7, 8]].map(|symbols| Allowed::of(symbols).unwrap()).into();
    let chosen = [2, 5, 7];
    check("chosen", &[&[3, 9]], &|x| pick(&masked_log_softmax(&x[0], &masks)?, &chosen), &|x| {
        pick(&slow::masked_log_softmax(&x[0], &masks)?, &chosen)
    });
    check("entropy", &[&[3, 9]], &|x| slow::entropy(&masked_log_softmax(&x[0], &masks)?), &|x| {
        slow::entropy(&slow::masked_log_softmax(&x[0], &masks)?)
    });
    let logits = Tensor::from_vec(noise(27, 1), (3, 9), &Device::Cpu).unwrap();
    let rows = masked_log_softmax(&logits, &masks).unwrap().to_vec2::<f32>().unwrap();
    for (row, mask) in rows.iter().zip(masks.iter()) {
        assert!(row.iter().enumerate().all(|(symbol, value)| mask.contains(symbol) != (*value == FORBIDDEN)));
        let total: f32 = row.iter().map(|value| value.exp()).sum();
        assert!((total - 1.0).abs() < 1e-6, "{total}");
    }
}

#[test]
fn embedding_and_cross_entropy_have_the_gradients_of_their_definitions() {
    let symbols = Tensor::new(&[1_u32, 0, 1, 3], &Device::Cpu).unwrap();
    // Its own twin: the finite differences are what is compared.
    let rows = |x: &[Tensor]| embedding(&x[0], &symbols);
    check("embedding", &[&[4, 3]], &rows, &rows);
    let loss = |x: &[Tensor]| negative_log_likelihood(&x[0], &[1.0, -0.5, 0.0], 2.0);
    let twin = |x: &[Tensor]| {
        let part = |place: usize, factor: f64| x[0].narrow(0, place, 1)?.sum_all()?.affine(factor, 0.0);
        part(0, -0.5)?.add(&part(1, 0.25)?)
    };
    check("cross-entropy", &[&[3]], &loss, &twin);
}

#[test]
fn logits_far_apart_stay_finite() {
    let logits = Tensor::new(&[[3e4_f32, -3e4, 0.0]], &Device::Cpu).unwrap();
    let masks: Arc<[Allowed]> = [Allowed::first(3)].into();
    let out = masked_log_softmax(&logits, &masks).unwrap().to_vec2::<f32>().unwrap();
    assert_eq!(out, [[0.0, -6e4, -3e4]]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let zeros = |shape: &[usize]| Tensor::zeros(shape, DType::F32, &Device::Cpu).unwrap();
    let heads = Heads { count: 2, width: 4 };
    let segments = Segments::new(&[3, 2]);
    let masks = |symbols: &[u8]| -> Arc<[Allowed]> { [Allowed::of(symbols).unwrap()].into() };
    let cases: [(&str, Result<Tensor>); 11] = [
        ("expected an input of 4 columns", linear(&zeros(&[2, 3]), &zeros(&[4, 5]))),
        ("expected a weight of 3 values, found 4", rms_norm(&zeros(&[2, 3]), &zeros(&[4]))),
        ("expected an even number of columns, found 3", silu_gate(&zeros(&[2, 3]))),
        ("expected (5, 24)", attention(&zeros(&[4, 24]), heads, &segments)),
        ("expected (5, 24)", rope(&zeros(&[5, 23]), heads, &segments)),
        ("an even width", rope(&zeros(&[5, 9]), Heads { count: 1, width: 3 }, &segments)),
        ("expected 2 masks, found 1", masked_log_softmax(&zeros(&[2, 3]), &masks(&[1]))),
        ("allows nothing", masked_log_softmax(&zeros(&[1, 3]), &masks(&[]))),
        ("more than the 3 symbols", masked_log_softmax(&zeros(&[1, 3]), &masks(&[3]))),
        ("unexpected dtype", silu_gate(&zeros(&[2, 4]).to_dtype(DType::F64).unwrap())),
        ("invalid index 3", pick(&zeros(&[1, 3]), &[3])),
    ];
    for (expected, found) in cases {
        let error = found.expect_err(expected).to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}
