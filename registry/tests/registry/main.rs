//! Releases from a publisher's hand to a customer's folder, over a real registry and over a folder of image layouts; and parsers against
//! whatever can be thrown at them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "helpers of tests may end them"
)]

mod docker;
mod limits;
mod logins;
mod peers;
mod properties;
mod releases;

/// Every file of this folder is a module of this binary.
#[test]
fn no_test_file_is_left_out() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/registry");
    let mut files: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, ["docker.rs", "limits.rs", "logins.rs", "main.rs", "peers.rs", "properties.rs", "releases.rs"]);
}
