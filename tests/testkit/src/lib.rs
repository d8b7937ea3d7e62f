//! Fakes of every port, for all crates own tests.
