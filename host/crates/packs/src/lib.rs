//! Task packs: the format, the built-in generators, the admission gate and the importers. It knows no engine, no harness and no planner:
//! it makes tasks and judges what others report of running them.
//!
//! * [`pack`]: a folder with `card.json`, `tasks.jsonl` and `worlds/`, read as if an enemy had written it.
//! * [`phone`]: the built-in pack, from parameterised generators.
//! * [`ablation`]: a small world with a known best way, for comparing rules of training.
//! * [`gate`]: what must hold before a task is admitted, as variants that a [`gate::GateRunner`] runs.
//! * [`tau2`]: worlds, tasks and recorded calls of that public benchmark.
//!
//! ```
//! use loopwright_packs::phone;
//!
//! let pack = phone::builtin(7, 2)?;
//! assert!(pack.tasks().len() >= 120);
//! assert_eq!(pack.tasks(), phone::builtin(7, 2)?.tasks());
//! # Ok::<(), loopwright_packs::pack::PackError>(())
//! ```

pub mod ablation;
pub mod gate;
pub mod pack;
pub mod phone;
pub mod tau2;
