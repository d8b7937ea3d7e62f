//! Training, wired: the trainer's ports on the real harness, engine and plugins, and the files that a run leaves. It decides nothing about credit,
//! losses or schedules: those are the trainer's; nor about success and progress: those are the verdicts'.

pub mod ablation;
pub mod chart;
pub mod clumsy;
pub mod course;
pub mod decision;
pub mod errors;
pub mod field;
pub mod fit;
pub mod folder;
pub mod improve;
pub mod interrupt;
pub mod lessons;
pub mod log;
pub mod measure;
pub mod metrics;
pub mod phone;
pub mod tensorboard;
pub mod watching;
