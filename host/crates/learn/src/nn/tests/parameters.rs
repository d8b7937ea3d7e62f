use crate::nn::{Init, NnError, Parameters, Slot, TENSOR_BYTES_MAX};

fn slot(name: &str, shape: &[usize]) -> Slot {
    Slot { name: name.into(), shape: shape.into(), init: Init::Normal(0.5) }
}

#[test]
fn weights_come_back_to_the_bit() {
    let slots = vec![slot("a.weight", &[3, 4]), slot("b.weight", &[5])];
    let parameters = Parameters::new(slots.clone(), 9).unwrap();
    let bytes = parameters.to_bytes().unwrap();
    let again = Parameters::from_bytes(slots.clone(), &bytes).unwrap();
    assert_eq!(parameters.values().unwrap(), again.values().unwrap());
    assert_eq!(again.to_bytes().unwrap(), bytes, "the same weights are the same bytes");
    assert_eq!(parameters.count(), 17);
    // Plain names: another program can read them.
    let loaded = candle_core::safetensors::load_buffer(&bytes, &candle_core::Device::Cpu).unwrap();
    assert_eq!(loaded["a.weight"].dims(), [3, 4]);
}

#[test]
fn weights_are_a_function_of_seed_and_name() {
    let values = |slots: Vec<Slot>, seed| Parameters::new(slots, seed).unwrap().values().unwrap();
    let alone = values(vec![slot("b", &[5])], 1);
    assert_eq!(values(vec![slot("a", &[2]), slot("b", &[5])], 1)[1], alone[0], "another parameter changes nothing");
    assert_ne!(values(vec![slot("b", &[5])], 2), alone);
    assert_ne!(values(vec![slot("c", &[5])], 1), alone);
}

#[test]
fn a_fork_goes_its_own_way() {
    let mut parameters = Parameters::new(vec![slot("a", &[2])], 1).unwrap();
    let fork = parameters.fork().unwrap();
    let before = fork.values().unwrap();
    parameters.set(vec![vec![7.0, 8.0]]).unwrap();
    assert_eq!(fork.values().unwrap(), before);
    assert_eq!(parameters.values().unwrap(), [[7.0, 8.0]]);
}

#[test]
fn another_architecture_is_refused_by_name_and_shape() {
    let bytes = |slots: &[Slot]| Parameters::new(slots.to_vec(), 0).unwrap().to_bytes().unwrap();
    let (a, b) = (slot("a", &[3, 4]), slot("b", &[5]));
    let both = bytes(&[a.clone(), b.clone()]);
    let mut not_finite = Parameters::new(vec![b.clone()], 0).unwrap();
    not_finite.set(vec![vec![0.0, 1.0, f32::NAN, 0.0, 0.0]]).unwrap();
    let mut cut = both.clone();
    cut.pop();
    let whole = candle_core::Tensor::new(&[1_u32, 2, 3, 4, 5], &candle_core::Device::Cpu).unwrap();
    let integers = safetensors::serialize([("b", &whole)], None).unwrap();
    for (slots, bytes, expected) in [
        (
            vec![a.clone(), slot("b", &[6])],
            both.clone(),
            "tensor `b`: expected f32 of shape [6], found f32 of shape [5]",
        ),
        (vec![a.clone(), slot("b", &[5, 1])], both.clone(), "expected f32 of shape [5, 1], found f32 of shape [5]"),
        (vec![a.clone(), b.clone(), slot("c", &[1])], both.clone(), "tensor `c` of shape [1] is missing"),
        (vec![a.clone()], both.clone(), "tensor `b` of shape [5] is not part of the architecture"),
        (vec![b.clone()], integers, "tensor `b`: expected f32 of shape [5], found u32 of shape [5]"),
        (vec![b.clone()], not_finite.to_bytes().unwrap(), "`b` has a weight that is not finite"),
        (vec![a.clone(), b.clone()], cut, "cannot read the weights as safetensors"),
        (vec![a.clone()], b"{}".to_vec(), "cannot read the weights as safetensors"),
        (vec![a.clone()], u64::MAX.to_le_bytes().to_vec(), "cannot read the weights as safetensors"),
    ] {
        let error = Parameters::from_bytes(slots, &bytes).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
    assert!(matches!(Parameters::new(vec![a.clone(), a], 0), Err(NnError::Twice { name }) if name == "a"));
}

#[test]
fn a_file_beyond_the_limit_is_not_read() {
    // Zeroed memory that nobody touches is not there.
    let bytes = vec![0; TENSOR_BYTES_MAX + 1];
    let error = Parameters::from_bytes(Vec::new(), &bytes).unwrap_err();
    assert!(matches!(error, NnError::TooLarge { .. }), "{error}");
}
