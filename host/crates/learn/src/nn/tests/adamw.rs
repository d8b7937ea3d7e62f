use candle_core::{Device, Tensor};

use crate::nn::{AdamW, AdamWConfig, Decay, Gradients, Init, NnError, Parameters, Schedule, Slot};

fn slots() -> Vec<Slot> {
    let slot = |name: &str, shape: &[usize]| Slot { name: name.into(), shape: shape.into(), init: Init::Ones };
    vec![slot("matrix", &[1, 2]), slot("vector", &[1])]
}

fn parameters() -> Parameters {
    Parameters::new(slots(), 0).unwrap()
}

/// The loss a·x + b·y + c·z, whose gradients are the factors.
fn gradients(parameters: &Parameters, factors: [f32; 3]) -> Result<Gradients, NnError> {
    let matrix = Tensor::new(&[[factors[0], factors[1]]], &Device::Cpu).unwrap();
    let first = parameters.get("matrix")?.mul(&matrix).unwrap().sum_all().unwrap();
    // Not `affine`: candle takes a factor of 0 as no dependence at all.
    let vector = Tensor::new(&[factors[2]], &Device::Cpu).unwrap();
    let second = parameters.get("vector")?.mul(&vector).unwrap().sum_all().unwrap();
    Gradients::of(&first.add(&second).unwrap(), parameters)
}

fn values(parameters: &Parameters) -> Vec<f32> {
    parameters.values().unwrap().concat()
}

/// Rate 0.1, betas 0.9 and 0.99, epsilon 1e-8, decay 0.5 on the matrix. Gradients 3, 0 and -4 are of norm 5, so that a limit of 1 leaves
/// 0.6, 0, -0.8.
///
/// Step 1: m = 0.1·g, v = 0.01·g², both corrected to g and g², so that each weight moves by 0.1 against the sign of its gradient:
/// matrix 1·(1 - 0.05) - 0.1 = 0.85 and 0.95 - 0 = 0.95; vector 1 + 0.1 = 1.1.
///
/// Step 2, gradients 0.3, 0 and 0.4 (norm 0.5, not scaled): of the first m = 0.9·0.06 + 0.1·0.3 = 0.084, corrected by 0.19 to 0.442105;
/// v = 0.99·0.0036 + 0.01·0.09 = 0.004464, corrected by 0.0199 to 0.224322, root 0.473626; 0.85·0.95 - 0.1·0.442105/0.473626 = 0.714155.
/// Of the last m = 0.9·(-0.08) + 0.04 = -0.032, to -0.168421; v = 0.99·0.0064 + 0.0016 = 0.007936, to 0.398794, root 0.631501;
/// 1.1 + 0.1·0.168421/0.631501 = 1.126670.
#[test]
fn two_steps_are_those_worked_out_by_hand() {
    let config = AdamWConfig {
        beta2: 0.99,
        weight_decay: 0.5,
        clip_norm: Some(1.0),
        ..AdamWConfig::new(Schedule::constant(0.1))
    };
    let mut parameters = parameters();
    let mut adam = AdamW::new(config, &parameters).unwrap();
    let first = gradients(&parameters, [3.0, 0.0, -4.0]).unwrap();
    let stepped = adam.step(&mut parameters, &first).unwrap();
    assert_eq!((stepped.step, stepped.learning_rate, stepped.gradient_norm), (1, 0.1, 5.0));
    assert!((stepped.clip_factor - 0.2).abs() < 1e-12);
    let close = |found: &[f32], expected: [f32; 3]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 2e-6);
    assert!(close(&values(&parameters), [0.85, 0.95, 1.1]), "{:?}", values(&parameters));
    let second = gradients(&parameters, [0.3, 0.0, 0.4]).unwrap();
    let stepped = adam.step(&mut parameters, &second).unwrap();
    assert_eq!((stepped.step, stepped.clip_factor), (2, 1.0));
    assert!(close(&values(&parameters), [0.714_155, 0.9025, 1.126_67]), "{:?}", values(&parameters));
}

#[test]
fn what_is_not_finite_changes_nothing() {
    let mut parameters = parameters();
    let mut adam = AdamW::new(AdamWConfig::new(Schedule::constant(0.1)), &parameters).unwrap();
    let fine = gradients(&parameters, [1.0, 2.0, 3.0]).unwrap();
    adam.step(&mut parameters, &fine).unwrap();
    let before = (values(&parameters), adam.to_bytes(&parameters).unwrap());
    for factors in [[f32::NAN, 0.0, 0.0], [f32::INFINITY, 0.0, 0.0], [0.0, f32::MAX, f32::MAX * 2.0]] {
        let error = gradients(&parameters, factors).unwrap_err();
        assert!(matches!(error, NnError::NonFiniteLoss { .. }), "{error}");
    }
    // The loss is finite, its gradient is not: the root at 0.
    let zero = parameters.get("matrix").unwrap().sub(parameters.get("matrix").unwrap()).unwrap();
    let loss = zero.sqrt().unwrap().sum_all().unwrap();
    let error = Gradients::of(&loss, &parameters).unwrap_err();
    assert!(matches!(&error, NnError::NonFinite { name, what: "gradient" } if name == "matrix"), "{error}");
    // The gradients are finite, the square of one is not.
    let mut loose = AdamWConfig::new(Schedule::constant(0.1));
    loose.clip_norm = None;
    let mut other = AdamW::from_bytes(loose, &parameters, &before.1).unwrap();
    let huge = gradients(&parameters, [1e30, 0.0, 0.0]).unwrap();
    let error = other.step(&mut parameters, &huge).unwrap_err();
    assert!(matches!(error, NnError::NonFinite { what: "moment", .. }), "{error}");
    assert_eq!(other.steps(), 1);
    assert_eq!(before, (values(&parameters), other.to_bytes(&parameters).unwrap()));
}

#[test]
fn a_parameter_without_a_gradient_is_named() {
    let parameters = parameters();
    let loss = parameters.get("matrix").unwrap().sum_all().unwrap();
    let error = Gradients::of(&loss, &parameters).unwrap_err().to_string();
    assert!(error.starts_with("parameter `vector` has no gradient"), "{error}");
}

#[test]
fn gradients_of_parts_add_up() {
    let parameters = parameters();
    let mut sum = gradients(&parameters, [1.0, 2.0, 3.0]).unwrap();
    sum.add(&gradients(&parameters, [0.5, -2.0, 1.0]).unwrap()).unwrap();
    assert_eq!(sum.values().concat(), [1.5, 0.0, 4.0]);
    assert!((sum.loss() - 5.5).abs() < 1e-6);
    let other = Parameters::new(slots().into_iter().take(1).collect(), 0).unwrap();
    let loss = other.get("matrix").unwrap().sum_all().unwrap();
    let stranger = Gradients::of(&loss, &other).unwrap();
    assert!(matches!(sum.add(&stranger), Err(NnError::OtherParameters { .. })));
    let mut adam = AdamW::new(AdamWConfig::new(Schedule::constant(0.1)), &parameters).unwrap();
    let mut parameters = parameters;
    assert!(matches!(adam.step(&mut parameters, &stranger), Err(NnError::OtherParameters { .. })));
    let mut huge = gradients(&parameters, [3e38, 0.0, 0.0]).unwrap();
    let before = huge.values().concat();
    assert!(matches!(huge.add(&huge.clone()), Err(NnError::NonFinite { .. })));
    assert_eq!(huge.values().concat(), before);
}

#[test]
fn rates_rise_and_fall_as_scheduled() {
    let schedule = |warmup_steps, decay| Schedule { peak: 2.0, warmup_steps, decay };
    let cosine = Decay::Cosine { steps: 14, floor: 0.5 };
    let linear = Decay::Linear { steps: 14, floor: 0.1 };
    for (schedule, step, expected) in [
        (schedule(0, Decay::Constant), 1, 2.0),
        (schedule(4, Decay::Constant), 1, 0.5),
        (schedule(4, Decay::Constant), 4, 2.0),
        (schedule(4, Decay::Constant), 1000, 2.0),
        (schedule(4, cosine), 4, 2.0),
        (schedule(4, cosine), 9, 1.5),
        (schedule(4, cosine), 14, 1.0),
        (schedule(4, cosine), 99, 1.0),
        (schedule(4, linear), 9, 1.1),
        (schedule(4, linear), 14, 0.2),
    ] {
        schedule.check().unwrap();
        assert!((schedule.rate(step) - expected).abs() < 1e-12, "{schedule:?} at {step}: {}", schedule.rate(step));
    }
}

#[test]
fn settings_outside_their_range_are_refused() {
    let fine = AdamWConfig::new(Schedule::constant(0.1));
    let with = |edit: fn(&mut AdamWConfig)| {
        let mut config = fine;
        edit(&mut config);
        config
    };
    for (name, config) in [
        ("peak", with(|config| config.schedule.peak = 0.0)),
        ("peak", with(|config| config.schedule.peak = f64::NAN)),
        ("floor", with(|config| config.schedule.decay = Decay::Linear { steps: 9, floor: 1.5 })),
        ("steps", with(|config| config.schedule.decay = Decay::Cosine { steps: 0, floor: 0.5 })),
        ("beta1", with(|config| config.beta1 = 1.0)),
        ("beta2", with(|config| config.beta2 = -0.1)),
        ("epsilon", with(|config| config.epsilon = 0.0)),
        ("weight_decay", with(|config| config.weight_decay = -1.0)),
        ("clip_norm", with(|config| config.clip_norm = Some(0.0))),
    ] {
        let error = AdamW::new(config, &parameters()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("setting `{name}`")), "{error}");
    }
}

#[test]
fn a_state_of_other_parameters_is_refused() {
    let config = AdamWConfig::new(Schedule::constant(0.1));
    let parameters = parameters();
    let bytes = AdamW::new(config, &parameters).unwrap().to_bytes(&parameters).unwrap();
    let mut wider = slots();
    wider[1].shape = vec![2];
    let wider = Parameters::new(wider, 0).unwrap();
    let error = AdamW::from_bytes(config, &wider, &bytes).unwrap_err().to_string();
    assert!(error.contains("tensor `first.vector`: expected f32 of shape [2], found f32 of shape [1]"), "{error}");
    let weights = parameters.to_bytes().unwrap();
    let error = AdamW::from_bytes(config, &parameters, &weights).unwrap_err().to_string();
    assert!(error.contains("no number of steps"), "{error}");
}
