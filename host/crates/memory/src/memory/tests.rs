//! The whole way of one user's memory, through its public face.

mod exchange;
mod forgetting;
mod isolation;
mod step;

use std::path::Path;
use std::sync::Arc;

use loopwright_contract::memory::{Embedder, Layer, MemoryError, Role};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

use super::*;
use crate::id::RootKey;
use crate::message::{Message, Place};
use crate::moment::{Moment, Zone};
use crate::reconcile::Decision;
use crate::retrieve::Query;
use crate::store::{Capture, Disk, Kept, Selection, Sources};
use crate::unit::{ClaimKey, Status};

/// Vectors of letters: enough for a dense leg that follows the text.
struct Letters;

impl Embedder for Letters {
    fn fingerprint(&self) -> &'static str {
        "letters"
    }

    fn width(&self) -> usize {
        26
    }

    fn covers(&self, text: &str) -> bool {
        text.is_ascii()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, MemoryError> {
        let one = |text: &&str| {
            let mut counts = vec![0.01_f32; 26];
            for byte in text.to_ascii_lowercase().bytes().filter(u8::is_ascii_lowercase) {
                counts[usize::from(byte - b'a')] += 1.0;
            }
            let length = counts.iter().map(|count| count * count).sum::<f32>().sqrt();
            counts.into_iter().map(|count| count / length).collect()
        };
        Ok(texts.iter().map(one).collect())
    }
}

fn at(text: &str) -> Moment {
    Moment::parse(text, &Zone::utc()).expect("a moment")
}

struct World {
    folder: tempfile::TempDir,
    root: Root,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Root::open(Arc::new(Disk), folder.path(), RootKey::new([9; 32])).expect("a root");
        Self { folder, root }
    }

    fn open(&self, user: &str) -> Memory {
        self.open_with(user, Helpers { embedder: Some(Arc::new(Letters)), proposer: None })
    }

    fn open_with(&self, user: &str, helpers: Helpers) -> Memory {
        Memory::open(&self.root, &workspace(), &UserId::new(user).expect("an id"), helpers).expect("a memory")
    }

    fn pool(&self) -> Pool {
        Pool::open(&self.root, &workspace(), Helpers::default()).expect("a pool")
    }
}

fn workspace() -> WorkspaceId {
    WorkspaceId::new("home").expect("an id")
}

/// Says one thing at a day of 2025, and captures it.
fn say(memory: &Memory, month: u8, position: u32, role: Role, text: &str) -> Understood {
    let now = at(&format!("2025-{month:02}-01T10:00:00Z"));
    let place = Place {
        dialogue: "talk".to_owned(),
        session: format!("s{month}"),
        position,
        speaker: if role == Role::User { "user" } else { "somebody" }.to_owned(),
        role,
    };
    let message = Message { place, text: text.to_owned(), mentioned: now.clone() };
    memory.capture(vec![Capture::of(message, trust_of(role))], &now).expect("captured").remove(0)
}

fn ask(memory: &Memory, text: &str) -> Vec<String> {
    let ledger = memory.search(&Query::new(text, at("2025-12-31T00:00:00Z"))).expect("an answer");
    ledger.standing.iter().chain(&ledger.items).map(|item| item.quote.clone()).collect()
}

fn lives_in() -> ClaimKey {
    ClaimKey { subject: "user".to_owned(), predicate: "lives_in".to_owned(), qualifier: None }
}

#[test]
fn the_later_word_takes_the_earlier_ones_place_and_the_history_keeps_both() {
    let world = World::new();
    let memory = world.open("ann");
    let first = say(&memory, 1, 0, Role::User, "I live in Lisbon.");
    assert!(matches!(first.derived.as_slice(), [(_, Decision::Add)]), "{first:?}");
    let second = say(&memory, 3, 0, Role::User, "I moved to Porto.");
    assert!(matches!(second.derived.as_slice(), [(_, Decision::Supersede { .. })]), "{second:?}");
    let history = memory.history(&lives_in());
    let values: Vec<(&str, Status)> =
        history.iter().map(|unit| (unit.claim.as_ref().expect("a claim").value.as_str(), unit.status)).collect();
    assert_eq!(values, [("Lisbon", Status::Superseded), ("Porto", Status::Verified)]);
    let shown = memory.show(history[1].id).expect("a unit");
    assert_eq!(
        (shown.quotes, shown.unit.supersedes),
        (vec![Some("I moved to Porto.".to_owned())], vec![history[0].id])
    );
    // What arrives late and happened before does not come back.
    let late = say(&memory, 2, 0, Role::User, "I live in Braga.");
    assert!(matches!(late.derived.as_slice(), [(_, Decision::Older { .. })]), "{late:?}");
}

#[test]
fn only_the_users_own_words_become_facts() {
    let world = World::new();
    let memory = world.open("ann");
    for role in [Role::Assistant, Role::Tool, Role::System, Role::Memory] {
        let said = say(&memory, 1, role as u32, role, "I live in Lisbon.");
        assert!(said.derived.is_empty(), "{role:?}: {said:?}");
    }
    // Another person's words are a fact about that person at most.
    let said = say(&memory, 1, 9, Role::Other, "I live in Lisbon.");
    let unit = memory.show(said.derived[0].0).expect("a unit").unit;
    assert_eq!(unit.claim.map(|claim| claim.key.subject).as_deref(), Some("somebody"));
    assert!(memory.history(&lives_in()).is_empty());
}

#[test]
fn the_same_message_twice_is_one_unit_and_derives_once() {
    let world = World::new();
    let memory = world.open("ann");
    let first = say(&memory, 1, 0, Role::User, "I'm allergic to peanuts.");
    let again = say(&memory, 1, 0, Role::User, "I'm allergic to peanuts.");
    assert!(matches!((first.message, again.message), (Kept::New(new), Kept::Known(known)) if new.id == known.id));
    assert!(again.derived.is_empty());
    assert_eq!(memory.snapshot().len(), 2, "the message, and what it says");
    // Said once more, elsewhere: the fact gets further evidence.
    let elsewhere = say(&memory, 2, 0, Role::User, "I'm allergic to peanuts.");
    assert!(matches!(elsewhere.derived.as_slice(), [(_, Decision::Same { .. })]), "{elsewhere:?}");
    assert_eq!(memory.snapshot().len(), 3);
}

#[test]
fn index_and_vectors_follow_and_are_made_again_when_they_are_gone() {
    let world = World::new();
    let memory = world.open("ann");
    say(&memory, 1, 0, Role::User, "The spare key is under the blue flowerpot.");
    say(&memory, 1, 1, Role::User, "今天下午两点我把护照放在书房抽屉里了。");
    let folder = memory.store().folder().to_path_buf();
    let checked = memory.check().expect("sound");
    assert_eq!((checked.indexed, checked.vectors), (usize::try_from(memory.snapshot().len()).expect("small"), Some(1)));
    drop(memory);
    std::fs::remove_dir_all(folder.join(INDEX)).expect("removed");
    std::fs::write(folder.join(VECTORS), "not vectors").expect("written");
    let memory = world.open("ann");
    assert!(ask(&memory, "where is the spare key").iter().any(|quote| quote.contains("flowerpot")));
    assert!(ask(&memory, "护照在哪里").iter().any(|quote| quote.contains("护照")));
    assert_eq!(memory.check().map(|checked| (checked.vectors, checked.faults())).ok(), Some((Some(1), vec![])));
}

#[test]
fn a_reminder_fires_once_and_a_report_completes_it() {
    let world = World::new();
    let memory = world.open("ann");
    let said = say(&memory, 1, 0, Role::User, "Remind me to call the dentist tomorrow.");
    assert_eq!(said.derived.len(), 1, "{said:?}");
    let fired = |moment: &str| memory.fire(&at(moment), None).expect("fired").len();
    assert_eq!(
        (fired("2025-01-01T12:00:00Z"), fired("2025-01-02T09:00:00Z"), fired("2025-01-02T10:00:00Z")),
        (0, 1, 0)
    );
    let due = || ask(&memory, "").iter().any(|quote| quote.contains("dentist tomorrow"));
    assert!(due(), "it fired, and is still to be done");
    let done = say(&memory, 2, 0, Role::User, "I've called the dentist.");
    assert_eq!(done.completed, [said.derived[0].0]);
    assert!(memory.search(&Query::new("", at("2025-12-31T00:00:00Z"))).expect("an answer").standing.is_empty());
    assert_eq!(memory.show(said.derived[0].0).expect("a unit").unit.status, Status::Completed);
}

/// Everything in which a sentinel is before it is forgotten: the message, a fact, a reminder, somebody's name.
fn with_sentinel(word: &str) -> [String; 4] {
    [
        format!("I live in {word}."),
        format!("My sister's name is {word}."),
        format!("Remind me to call {word} tomorrow."),
        format!("Always greet me as {word} when we talk."),
    ]
}

/// The part of a word that stemming leaves alone.
fn sentinel(random: &mut ChaCha8Rng) -> String {
    let mut word = String::from("Q");
    for _ in 0..9 {
        word.push(char::from(b"bcdfghjkmnpqrtvwxz"[random.next_u32() as usize % 18]));
    }
    word
}

/// Rounds of the deletion test; the issue asks for 200.
const ROUNDS: u64 = 200;

#[test]
fn what_is_forgotten_is_nowhere_and_was_everywhere() {
    let world = World::new();
    let memory = world.open("ann");
    for position in 0..20 {
        say(&memory, 6, position, Role::User, &format!("Note {position}: the garden needs water on warm days."));
    }
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for round in 0..ROUNDS {
        let word = sentinel(&mut random);
        let first = 100 + u32::try_from(round).expect("small") * 10;
        let mut units = Vec::new();
        for (position, text) in (first..).zip(with_sentinel(&word)) {
            let said = say(&memory, 7, position, Role::User, &text);
            units.extend(said.message.at().map(|at| at.id));
            assert!(!said.derived.is_empty(), "{text}: {said:?}");
        }
        let found = memory.traces(&word).expect("looked");
        let in_file = |name: &str| {
            found
                .iter()
                .any(|trace| matches!(trace, Trace::Bytes { file, .. } if file.to_string_lossy().contains(name)))
        };
        assert!(in_file("log"), "{found:?}");
        assert!(found.iter().any(|trace| matches!(trace, Trace::Term { .. })), "{found:?}");
        assert!(found.iter().filter(|trace| matches!(trace, Trace::Unit { .. })).count() >= 8, "{found:?}");
        let before = memory.derived().vectors.as_ref().map(Vectors::len);
        let forgotten = memory
            .forget(&Selection::Units(units), Sources::Purge, None, &at("2025-08-01T00:00:00Z"))
            .expect("forgotten");
        assert_eq!(memory.traces(&word).expect("looked"), [], "round {round}");
        assert_eq!(
            memory.derived().vectors.as_ref().map(|vectors| vectors.len() + forgotten.purge.ordinals.len()),
            before,
            "one vector went for each unit"
        );
        for question in [&word as &str, "where do I live", "who is my sister", "what should you remind me of"] {
            assert!(!ask(&memory, question).iter().any(|quote| quote.contains(&word)), "{question}");
        }
    }
    // It does not come back by capturing the same again, nor after everything was made anew.
    assert!(memory.store().stats().expect("counted").tombstones >= ROUNDS);
    memory.rebuild().expect("made anew");
    assert!(memory.check().is_ok());
}

#[test]
fn a_purged_message_is_not_captured_again_and_nothing_is_derived_from_it() {
    let world = World::new();
    let memory = world.open("ann");
    let said = say(&memory, 1, 0, Role::User, "I live in Lisbon.");
    memory.forget(&Selection::Claim(lives_in()), Sources::Purge, None, &at("2025-02-01T00:00:00Z")).expect("forgotten");
    assert!(memory.show(said.message.at().expect("kept").id).is_err());
    let again = say(&memory, 1, 0, Role::User, "I live in Lisbon.");
    assert!(matches!(again.message, Kept::Tombstoned { .. }) && again.derived.is_empty());
    // The user may say it anew.
    assert_eq!(say(&memory, 3, 0, Role::User, "I live in Lisbon.").derived.len(), 1);
}

#[test]
fn what_lost_a_part_of_its_evidence_keeps_the_rest() {
    let world = World::new();
    let memory = world.open("ann");
    let first = say(&memory, 1, 0, Role::User, "I'm allergic to peanuts.");
    say(&memory, 2, 0, Role::User, "I'm allergic to peanuts!");
    let fact = first.derived[0].0;
    let message = first.message.at().expect("kept").id;
    let forgotten = memory
        .forget(&Selection::Units(vec![message]), Sources::Keep, None, &at("2025-03-01T00:00:00Z"))
        .expect("forgotten");
    assert_eq!(forgotten.purge.ids, [message]);
    let unit = memory.show(fact).expect("still there").unit;
    assert_eq!((unit.evidence.len(), unit.status), (1, Status::Verified));
    memory.check().expect("what is left follows from what is left");
}

#[test]
fn a_contribution_says_nothing_of_its_giver_and_goes_with_its_source() {
    let world = World::new();
    let (memory, pool) = (world.open("ann"), world.pool());
    let now = at("2025-05-05T13:37:00Z");
    say(&memory, 1, 0, Role::User, "My sister's name is Marguerite.");
    let tip = say(&memory, 2, 0, Role::User, "the bus to the airport is faster than the train, said marguerite");
    let id = tip.message.at().expect("kept").id;
    let Shared::Given { contribution, text } = memory.share(id, Sharing::Reviewed, &pool, &now).expect("shared") else {
        panic!("a person looked at it")
    };
    assert!(!text.text.to_lowercase().contains("marguerite"), "{}", text.text);
    assert!(!contribution.contains(&id.to_string()[1..]));
    // Twice is once.
    memory.share(id, Sharing::Reviewed, &pool, &now).expect("shared");
    let found = pool.search(&Query::new("faster to the airport", now.clone())).expect("an answer");
    assert_eq!(found.items.iter().chain(&found.standing).count(), 1);
    let forgotten = memory.forget(&Selection::Units(vec![id]), Sources::Keep, Some(&pool), &now).expect("forgotten");
    assert_eq!((forgotten.withdrawn, pool.memory().snapshot().len()), (1, 0));
    assert_eq!(pool.memory().traces("airport").expect("looked"), []);
}

#[test]
fn a_doubtful_text_waits_for_a_person() {
    let world = World::new();
    let (memory, pool) = (world.open("ann"), world.pool());
    let said = say(&memory, 1, 0, Role::User, "the code for the lift is 4839201755, ask Bartholomew");
    let id = said.message.at().expect("kept").id;
    let shared = memory.share(id, Sharing::Unreviewed, &pool, &at("2025-02-01T00:00:00Z")).expect("looked at");
    assert!(matches!(&shared, Shared::Doubtful { text } if !text.doubts.is_empty()), "{shared:?}");
    assert_eq!(pool.memory().snapshot().len(), 0);
}

#[test]
fn users_share_nothing_but_the_pool() {
    let world = World::new();
    let users = ["ann", "ann1", "an", "../ann", "ANN", "安", "ann\u{200b}"];
    for (number, user) in users.iter().enumerate() {
        say(&world.open(user), 1, 0, Role::User, &format!("The code word of this user is zebra{number}q."));
    }
    for (number, user) in users.iter().enumerate() {
        let memory = world.open(user);
        let found = ask(&memory, "what is the code word");
        assert!(
            !found.is_empty() && found.iter().all(|quote| quote.contains(&format!("zebra{number}q"))),
            "{user}: {found:?}"
        );
    }
    let names: Vec<String> = files(world.folder.path());
    assert!(names.iter().all(|name| !name.contains("ann") && !name.contains("zebra")), "{names:?}");
}

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut found = Vec::new();
    for path in entries {
        found.push(path.file_name().expect("a name").to_string_lossy().into_owned());
        if path.is_dir() {
            found.extend(files(&path));
        }
    }
    found
}

#[test]
fn a_proposers_inventions_are_not_believed() {
    use loopwright_contract::memory::{ProposedClaim, ProposedMemory, Proposer};

    struct Model;
    impl Proposer for Model {
        fn propose(&self, text: &str, _: Role) -> Result<Vec<ProposedMemory>, MemoryError> {
            let claim = |value: &str| ProposedClaim {
                subject: "user".to_owned(),
                predicate: "collects".to_owned(),
                qualifier: None,
                value: value.to_owned(),
                set: true,
                negated: false,
            };
            let memory = |quote: &str, value: &str| ProposedMemory {
                layer: Layer::LongTerm,
                category: None,
                quote: quote.to_owned(),
                claim: Some(claim(value)),
                future: false,
            };
            Ok(vec![memory(text, "old stamps"), memory(text, "gold bars"), memory("I collect rifles", "rifles")])
        }
    }
    let world = World::new();
    let memory = world.open_with("ann", Helpers { embedder: None, proposer: Some(Arc::new(Model)) });
    let said = say(&memory, 1, 0, Role::User, "You know, old stamps fill my evenings.");
    let key = ClaimKey { subject: "user".to_owned(), predicate: "collects".to_owned(), qualifier: None };
    let values: Vec<String> =
        memory.history(&key).into_iter().filter_map(|unit| unit.claim).map(|claim| claim.value).collect();
    assert_eq!(values, ["old stamps"]);
    assert_eq!(said.rejected.len(), 2, "{said:?}");
}
