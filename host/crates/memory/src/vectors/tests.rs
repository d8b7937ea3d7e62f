//! Vectors are found again, dropped for good, and made anew when they cannot be trusted.

use super::*;

const NAME: &str = "model:0123";

fn vector(seed: u64) -> Vec<f32> {
    (0_u16..20).map(|at| f32::from(at).sin() + seed as f32).collect()
}

fn open(path: &Path) -> (Vectors, State) {
    Vectors::open(path, NAME, 20).expect("opens")
}

#[test]
fn what_was_added_is_there_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vectors");
    let (mut vectors, state) = open(&path);
    assert_eq!(state, State::Empty { because: None });
    vectors.add(&[(3, vector(3)), (1, vector(1))]).expect("added");
    vectors.add(&[(3, vector(9)), (2, vector(2))]).expect("the one that is known is kept");
    drop(vectors);
    let (vectors, state) = open(&path);
    assert_eq!(state, State::Holds(3));
    let expected = [(3, vector(3)), (1, vector(1)), (2, vector(2))];
    assert!(vectors.iter().map(|(ordinal, numbers)| (ordinal, numbers.to_vec())).eq(expected));
}

#[test]
fn a_dropped_vector_is_in_no_byte_of_the_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vectors");
    let (mut vectors, _) = open(&path);
    vectors.add(&[(1, vector(1)), (2, vector(2)), (3, vector(3))]).expect("added");
    let bytes: Vec<u8> = vector(2).iter().flat_map(|number| number.to_le_bytes()).collect();
    let holds = || {
        std::fs::read_dir(folder.path()).expect("a folder").any(|entry| {
            let content = std::fs::read(entry.expect("an entry").path()).expect("a file");
            content.windows(bytes.len()).any(|window| window == bytes)
        })
    };
    assert!(holds(), "the control: it is there before");
    assert_eq!(vectors.drop_units(&[2, 7]).expect("dropped"), 1);
    assert!(!holds() && !vectors.has(2) && vectors.has(3));
    vectors.add(&[(4, vector(4))]).expect("appending goes on in the new file");
    drop(vectors);
    assert_eq!(open(&path).1, State::Holds(3));
}

#[test]
fn a_torn_tail_is_cut_and_damage_throws_all_away() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vectors");
    open(&path).0.add(&[(1, vector(1)), (2, vector(2)), (3, vector(3))]).expect("added");
    let whole = std::fs::read(&path).expect("a file");
    for cut in 1..40 {
        std::fs::write(&path, &whole[..whole.len() - cut]).expect("written");
        let (mut vectors, state) = open(&path);
        assert_eq!(state, State::Holds(2), "{cut} bytes cut");
        vectors.add(&[(3, vector(3))]).expect("added");
        drop(vectors);
        assert_eq!(std::fs::read(&path).expect("a file"), whole, "the torn record is gone from the file");
    }
    let record = (whole.len() - head_bytes()) / 3;
    assert_eq!(record, 8 + 8 + 20 * 4 + 8);
    for at in [0, 10, 20, head_bytes() + 1, head_bytes() + record - 1] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(&path, damaged).expect("written");
        assert_eq!(Vectors::on_disk(&path).expect("read"), None, "byte {at}");
        assert!(matches!(open(&path).1, State::Empty { because: Some(_) }), "byte {at}");
        assert!(!path.exists(), "what it shows is not known, and it goes: byte {at}");
    }
}

fn head_bytes() -> usize {
    8 + 8 + 8 + NAME.len() + 8
}

#[test]
fn without_the_embedder_they_can_be_dropped_and_a_mark_tells_of_which_text_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vectors");
    assert!(matches!(Vectors::open_any(&path), Ok((None, State::Empty { because: None }))) && !path.exists());
    let marked = |ordinal| Marked { ordinal, mark: ordinal + 70, vector: vector(ordinal) };
    open(&path).0.add_marked(&[marked(1), marked(2)]).expect("added");
    std::fs::write(folder.path().join("vectors.new"), "what a crash left").expect("written");
    let (vectors, state) = Vectors::open_any(&path).expect("opens");
    let mut vectors = vectors.expect("there");
    assert!(!folder.path().join("vectors.new").exists());
    assert_eq!((state, vectors.fingerprint(), vectors.width(), vectors.mark(2)), (State::Holds(2), NAME, 20, Some(72)));
    vectors.drop_units(&[2]).expect("dropped");
    assert_eq!(Vectors::on_disk(&path).expect("read"), Some(vec![(1, 71)]));
    let (mut vectors, state) = open(&path);
    assert_eq!((state, vectors.marks().collect::<Vec<_>>()), (State::Holds(1), vec![(1, 71)]));
    vectors.clear().expect("cleared");
    assert!(!path.exists() && vectors.is_empty());
    vectors.add(&[(3, vector(3))]).expect("begun again");
    assert_eq!(Vectors::on_disk(&path).expect("read"), Some(vec![(3, 0)]));
    std::fs::write(&path, "not vectors").expect("written");
    assert!(matches!(Vectors::open_any(&path), Ok((None, State::Empty { because: Some(_) }))) && !path.exists());
}

#[test]
fn another_embedder_starts_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vectors");
    for (name, width) in [("model:4567", 20), (NAME, 10)] {
        open(&path).0.add(&[(1, vector(1))]).expect("added");
        let (vectors, state) = Vectors::open(&path, name, width).expect("opens");
        assert!(matches!(state, State::Empty { because: Some(_) }) && vectors.is_empty(), "{name} {width}");
    }
}

#[test]
fn figures_out_of_range_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vectors");
    for (name, width) in [("", 1), ("x", 0), ("x", WIDTH_MAX + 1), (&*"x".repeat(FINGERPRINT_BYTES_MAX + 1), 1)] {
        assert!(matches!(Vectors::open(&path, name, width), Err(VectorError::Embedder { .. })), "{width}");
    }
    let (mut vectors, _) = open(&path);
    assert!(matches!(vectors.add(&[(1, vec![0.0; 19])]), Err(VectorError::Width { expected: 20, found: 19 })));
    let mut bad = vector(1);
    bad[7] = f32::NAN;
    assert!(matches!(vectors.add(&[(0, vector(0)), (1, bad)]), Err(VectorError::NotFinite { ordinal: 1, at: 7 })));
    assert!(vectors.is_empty(), "nothing is added when one is refused");
}

#[test]
fn the_product_is_the_sum_of_products() {
    for length in [0, 1, 15, 16, 17, 384] {
        let (left, right): (Vec<f32>, Vec<f32>) =
            (0..length).map(|at: u16| (f32::from(at % 7), f32::from(at % 5))).unzip();
        let expected: f32 = left.iter().zip(&right).map(|(left, right)| left * right).sum();
        assert_eq!(dot(&left, &right), expected, "small whole numbers have one sum: {length}");
    }
}

#[test]
fn many_products_are_what_one_thread_makes() {
    let mut vectors = Vectors::in_memory("model", 20);
    let count = 2 * VECTORS_PER_THREAD_MIN + 7;
    let rows: Vec<(u64, Vec<f32>)> = (0..count as u64).map(|at| (at, vector(at))).collect();
    vectors.add(&rows).expect("added");
    let dots = vectors.dots(&vector(3));
    let alone: Vec<f32> = rows.iter().map(|(_, row)| dot(&vector(3), row)).collect();
    assert_eq!(dots.len(), count);
    assert!(dots.iter().zip(&alone).all(|(many, one)| many.to_bits() == one.to_bits()));
    assert!(Vectors::in_memory("model", 20).dots(&vector(3)).is_empty());
}
