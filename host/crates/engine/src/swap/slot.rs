//! One verifier's place: what serves, what runs beside it, and what it can go back to.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use arc_swap::{ArcSwap, ArcSwapOption};
use loopwright_contract::{digest::ContentDigest, name::PluginName, verdict::JudgedCheck};

use super::{
    DISAGREEMENTS_KEPT_MAX, EVENTS_KEPT_MAX, FAULTS_MAX, GENERATIONS_KEPT_MAX, ShadowRule, SwapError, SwapMode,
    SwapReceipt,
};
use crate::{bindings::verifier::VerifierPluginPre, installed::Loaded, store::PluginState};

/// A verifier's code as it serves: immutable, and whole for as long as any judgement holds it.
pub(crate) struct Generation {
    pub(crate) number: u64,
    pub(crate) loaded: Loaded<VerifierPluginPre<PluginState>>,
    verdicts: AtomicU64,
    faults: AtomicU32,
}

impl Generation {
    fn new(number: u64, loaded: Loaded<VerifierPluginPre<PluginState>>) -> Arc<Self> {
        Arc::new(Self { number, loaded, verdicts: AtomicU64::new(0), faults: AtomicU32::new(0) })
    }

    fn digest(&self) -> ContentDigest {
        self.loaded.plugin.record.digest
    }
}

/// A generation that runs beside the one that serves.
pub(crate) struct Shadow {
    pub(crate) generation: Arc<Generation>,
    rule: ShadowRule,
    disagreements: AtomicU64,
    last: Mutex<VecDeque<Disagreement>>,
}

/// A verdict on which two verifiers differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Disagreement {
    /// What the one that serves said.
    pub serving: JudgedCheck,
    /// What the shadow said; none: it failed.
    pub shadow: Option<JudgedCheck>,
}

/// Something that happened in a verifier's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SwapEvent {
    /// A generation began to serve.
    Serves(u64),
    /// A generation began to run as the shadow.
    Shadows(u64),
    /// The shadow agreed often enough, and serves.
    Promoted(u64),
    /// The shadow disagreed or failed too often, and is gone.
    Rejected(u64),
    /// An operator went back to this generation.
    RolledBack(u64),
    /// A generation failed too often; the one before it serves again.
    Quarantined(u64),
}

/// How a shadow stands.
#[derive(Debug, Clone, PartialEq)]
pub struct ShadowStatus {
    /// Its generation.
    pub generation: u64,
    /// Its component.
    pub digest: ContentDigest,
    /// When it is promoted.
    pub rule: ShadowRule,
    /// Verdicts that were compared.
    pub verdicts: u64,
    /// Verdicts on which the two differed, its faults included.
    pub disagreements: u64,
    /// The last of them.
    pub last: Vec<Disagreement>,
}

/// How a verifier stands.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifierStatus {
    /// Its name.
    pub name: PluginName,
    /// Its version.
    pub version: String,
    /// The generation that serves.
    pub generation: u64,
    /// Its component.
    pub digest: ContentDigest,
    /// Judgements since it began to serve.
    pub judgements: u64,
    /// Faults among them.
    pub faults: u32,
    /// Components that can be gone back to, the last one first.
    pub previous: Vec<ContentDigest>,
    /// Components that were put aside, with their faults.
    pub quarantined: Vec<(ContentDigest, u32)>,
    /// What runs beside it.
    pub shadow: Option<ShadowStatus>,
    /// What happened here, the oldest first; the last 256.
    pub events: Vec<SwapEvent>,
    /// How many events there were in all.
    pub event_count: u64,
}

/// One verifier's place.
pub(crate) struct Slot {
    name: PluginName,
    serving: ArcSwap<Generation>,
    shadow: ArcSwapOption<Shadow>,
    /// Taken by those who change the place, never by a judgement that goes well.
    history: Mutex<History>,
}

#[derive(Default)]
struct History {
    next: u64,
    previous: Vec<Arc<Generation>>,
    quarantined: BTreeMap<ContentDigest, u32>,
    events: VecDeque<SwapEvent>,
    event_count: u64,
}

impl History {
    fn tell(&mut self, event: SwapEvent) {
        if self.events.len() == EVENTS_KEPT_MAX {
            self.events.pop_front();
        }
        self.events.push_back(event);
        self.event_count += 1;
    }

    fn keep(&mut self, generation: Arc<Generation>) {
        if self.previous.len() == GENERATIONS_KEPT_MAX {
            self.previous.remove(0);
        }
        self.previous.push(generation);
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

impl Slot {
    /// A place with its first generation.
    pub(crate) fn new(loaded: Loaded<VerifierPluginPre<PluginState>>) -> Self {
        let mut history = History::default();
        let generation = Generation::new(history.number(), loaded);
        history.tell(SwapEvent::Serves(generation.number));
        Self {
            name: generation.loaded.plugin.record.name.clone(),
            serving: ArcSwap::new(generation),
            shadow: ArcSwapOption::empty(),
            history: Mutex::new(history),
        }
    }

    pub(crate) fn name(&self) -> &PluginName {
        &self.name
    }

    /// The generation that serves now. A judgement asks once.
    pub(crate) fn serving(&self) -> Arc<Generation> {
        self.serving.load_full()
    }

    /// The generation that runs beside it.
    pub(crate) fn shadow(&self) -> Option<Arc<Shadow>> {
        self.shadow.load_full()
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses a component that is there already or was put aside, before anything is compiled.
    pub(super) fn admits(&self, digest: ContentDigest) -> Result<(), SwapError> {
        let shadows = self.shadow().is_some_and(|shadow| shadow.generation.digest() == digest);
        if shadows || self.serving().digest() == digest {
            return Err(SwapError::Same { name: self.name.clone(), digest });
        }
        match self.history().quarantined.get(&digest) {
            Some(faults) => Err(SwapError::Quarantined { name: self.name.clone(), digest, faults: *faults }),
            None => Ok(()),
        }
    }

    pub(super) fn install(
        &self,
        loaded: Loaded<VerifierPluginPre<PluginState>>,
        mode: SwapMode,
    ) -> Result<SwapReceipt, SwapError> {
        let mut history = self.history();
        // Two swaps may have come as far as here with the same component.
        let digest = loaded.plugin.record.digest;
        let replaced = self.serving().digest();
        if replaced == digest {
            return Err(SwapError::Same { name: self.name.clone(), digest });
        }
        let generation = Generation::new(history.number(), loaded);
        let number = generation.number;
        let serves = match mode {
            SwapMode::Immediate => {
                history.keep(self.serving.swap(generation));
                history.tell(SwapEvent::Serves(number));
                true
            }
            SwapMode::Shadow(rule) => {
                let rule = ShadowRule { verdicts: rule.verdicts.max(1), ..rule };
                let shadow = Shadow { generation, rule, disagreements: AtomicU64::new(0), last: Mutex::default() };
                self.shadow.store(Some(Arc::new(shadow)));
                history.tell(SwapEvent::Shadows(number));
                false
            }
        };
        tracing::info!(verifier = %self.name, generation = number, %digest, serves, "a verifier is swapped");
        Ok(SwapReceipt { verifier: self.name.clone(), generation: number, digest, replaced, serves })
    }

    pub(super) fn rollback(&self) -> Result<SwapReceipt, SwapError> {
        let mut history = self.history();
        let Some(back) = history.previous.pop() else {
            return Err(SwapError::NoPrevious { name: self.name.clone() });
        };
        let (generation, digest) = (back.number, back.digest());
        let replaced = self.serving.swap(back).digest();
        history.tell(SwapEvent::RolledBack(generation));
        Ok(SwapReceipt { verifier: self.name.clone(), generation, digest, replaced, serves: true })
    }

    pub(super) fn drop_shadow(&self) {
        let mut history = self.history();
        if let Some(shadow) = self.shadow.swap(None) {
            history.tell(SwapEvent::Rejected(shadow.generation.number));
        }
    }

    /// Counts a judgement that went well.
    pub(crate) fn judged(generation: &Generation) {
        generation.verdicts.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a fault. True: the generation is put aside, and another one serves now.
    pub(crate) fn failed(&self, generation: &Arc<Generation>) -> bool {
        generation.verdicts.fetch_add(1, Ordering::Relaxed);
        let faults = generation.faults.fetch_add(1, Ordering::Relaxed) + 1;
        if faults < FAULTS_MAX {
            return false;
        }
        let mut history = self.history();
        if !Arc::ptr_eq(&self.serving(), generation) {
            // Somebody else put it aside, or it is pinned and no longer serves.
            return false;
        }
        let Some(back) = history.previous.pop() else { return false };
        history.quarantined.insert(generation.digest(), faults);
        history.tell(SwapEvent::Quarantined(generation.number));
        tracing::warn!(verifier = %self.name, generation = generation.number, faults, back = back.number, "a verifier failed too often: the one before it serves");
        self.serving.store(back);
        true
    }

    /// Compares what a shadow said with what counts, and promotes or drops it when its rule says so.
    pub(crate) fn compare(&self, shadow: &Arc<Shadow>, serving: &[JudgedCheck], shadowed: Option<&[JudgedCheck]>) {
        for (position, ours) in serving.iter().enumerate() {
            let theirs = shadowed.and_then(|judged| judged.get(position));
            if theirs.is_some_and(|theirs| same(ours, theirs)) {
                continue;
            }
            shadow.disagreements.fetch_add(1, Ordering::Relaxed);
            let mut last = shadow.last.lock().unwrap_or_else(PoisonError::into_inner);
            if last.len() == DISAGREEMENTS_KEPT_MAX {
                last.pop_front();
            }
            last.push_back(Disagreement { serving: ours.clone(), shadow: theirs.cloned() });
        }
        let compared =
            shadow.generation.verdicts.fetch_add(serving.len() as u64, Ordering::Relaxed) + serving.len() as u64;
        if shadowed.is_none() {
            shadow.generation.faults.fetch_add(1, Ordering::Relaxed);
        }
        let broken = shadow.generation.faults.load(Ordering::Relaxed) >= FAULTS_MAX;
        if compared >= shadow.rule.verdicts || broken {
            self.decide(shadow, broken);
        }
    }

    fn decide(&self, shadow: &Arc<Shadow>, broken: bool) {
        let mut history = self.history();
        // Another judgement may have decided meanwhile.
        if !self.shadow().is_some_and(|now| Arc::ptr_eq(&now, shadow)) {
            return;
        }
        self.shadow.store(None);
        let number = shadow.generation.number;
        let agreed = shadow.disagreements.load(Ordering::Relaxed) <= shadow.rule.disagreements_max;
        if broken {
            let faults = shadow.generation.faults.load(Ordering::Relaxed);
            history.quarantined.insert(shadow.generation.digest(), faults);
        }
        if agreed && !broken {
            let fresh = Generation::new(number, shadow.generation.loaded.clone());
            history.keep(self.serving.swap(fresh));
            history.tell(SwapEvent::Promoted(number));
        } else {
            history.tell(SwapEvent::Rejected(number));
        }
    }

    pub(super) fn status(&self) -> VerifierStatus {
        let history = self.history();
        let serving = self.serving();
        let shadow = self.shadow().map(|shadow| ShadowStatus {
            generation: shadow.generation.number,
            digest: shadow.generation.digest(),
            rule: shadow.rule,
            verdicts: shadow.generation.verdicts.load(Ordering::Relaxed),
            disagreements: shadow.disagreements.load(Ordering::Relaxed),
            last: shadow.last.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect(),
        });
        VerifierStatus {
            name: self.name.clone(),
            version: serving.loaded.plugin.record.version.clone(),
            generation: serving.number,
            digest: serving.digest(),
            judgements: serving.verdicts.load(Ordering::Relaxed),
            faults: serving.faults.load(Ordering::Relaxed),
            previous: history.previous.iter().rev().map(|generation| generation.digest()).collect(),
            quarantined: history.quarantined.iter().map(|(digest, faults)| (*digest, *faults)).collect(),
            shadow,
            events: history.events.iter().cloned().collect(),
            event_count: history.event_count,
        }
    }
}

/// Whether two verdicts say the same. Reasons and criteria may be worded differently; what is learned from may not differ.
fn same(ours: &JudgedCheck, theirs: &JudgedCheck) -> bool {
    let (ours, theirs) = (&ours.verdict, &theirs.verdict);
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9;
    ours.passed() == theirs.passed() && close(ours.score(), theirs.score()) && close(ours.progress(), theirs.progress())
}
