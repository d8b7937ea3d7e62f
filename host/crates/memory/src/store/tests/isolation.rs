//! Users do not see each other, whatever their names; and one user's writers and readers do not disturb each other.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use proptest::prelude::*;

use super::super::image::links_are_known;
use super::*;

/// Names that tempt a file system or a careless comparison.
fn tempting() -> Vec<String> {
    let names = [
        "ann",
        "ann2",
        "an",
        "Ann",
        "ANN",
        "ann ",
        " ann",
        "ann/",
        "../ann",
        "..",
        ".",
        "/",
        "\\",
        "ann/log",
        "log",
        "pool",
        "purged-0000-ann",
        "用户",
        "用戶",
        "é",
        "e\u{301}",
        "\u{202e}nna",
        "ann\u{200b}",
        "a\tb",
        "a\nb",
        "ann\u{7f}",
        "%61nn",
        "ann\0",
        "*",
        "ann'--",
        "ＡＮＮ",
        "ß",
        "ss",
        "SS",
        "İ",
        "i̇",
    ];
    names.iter().map(|name| (*name).to_owned()).chain([String::from("x").repeat(256)]).collect()
}

#[test]
fn no_name_leads_to_another_users_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = Root::open(Arc::new(Disk), &folder.path().join("memory"), key()).expect("a root");
    let names = tempting();
    let ids =
        names.iter().map(|name| (WorkspaceId::new("w").expect("an id"), UserId::new(name.as_str()).expect("an id")));
    let shared =
        names.iter().map(|name| (WorkspaceId::new(name.as_str()).expect("an id"), UserId::new("w").expect("an id")));
    let all: Vec<_> = ids.chain(shared).collect();
    for (number, (workspace, user)) in all.iter().enumerate() {
        let store = root.user(workspace, user).expect("opens");
        assert!(store.snapshot().is_empty(), "{user:?} of {workspace:?} is new");
        keep(&store, 0, &format!("of {number}"));
    }
    for (number, (workspace, user)) in all.iter().enumerate() {
        let snapshot = root.user(workspace, user).expect("opens").snapshot();
        let texts: Vec<_> = snapshot.units().map(|(_, unit)| unit.text.clone()).collect();
        assert_eq!(texts, [format!("of {number}")], "{user:?} of {workspace:?}");
    }
    // Nothing was written beside the root.
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn threads_of_many_users_meet_nobody_else() {
    let files = Faulty::new();
    let root = root_of(&files).expect("a root");
    let workspace = WorkspaceId::new("w").expect("an id");
    let users: Vec<UserId> = tempting().into_iter().take(6).map(|name| UserId::new(name).expect("an id")).collect();
    thread::scope(|scope| {
        for worker in 0..4_u64 {
            let (root, users, workspace) = (&root, &users, &workspace);
            scope.spawn(move || {
                let mut random = Random(worker);
                for round in 0..60_u32 {
                    let number = random.below(users.len() as u64) as usize;
                    let store = root.user(workspace, &users[number]).expect("opens");
                    let own = format!("of {number}, ");
                    let place = round * 4 + worker as u32;
                    keep(&store, place, &format!("{own}message {place}"));
                    let snapshot = store.snapshot();
                    assert!(snapshot.units().all(|(_, unit)| unit.text.starts_with(&own)));
                    if random.below(6) == 0 {
                        let id = snapshot.units().next().expect("a unit").1.id;
                        store.purge(&Selection::Units(vec![id]), Sources::Keep, &when(1)).map_or_else(
                            // Another thread may have been faster.
                            |error| assert!(matches!(error, StoreError::Refused(_)), "{}", told(&error)),
                            drop,
                        );
                    }
                    for (other, user) in users.iter().enumerate() {
                        let foreign = root.user(workspace, user).expect("opens");
                        let id = snapshot.units().last().expect("a unit").1.id;
                        assert!(other == number || foreign.snapshot().ordinal(&id).is_none());
                    }
                }
            });
        }
    });
    for user in &users {
        root.user(&workspace, user).expect("opens").verify().expect("whole");
    }
}

#[test]
fn the_same_messages_from_many_threads_are_captured_once() {
    let files = Faulty::new();
    let store = open(&files);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = 0;
            while !done.load(Ordering::Acquire) {
                let snapshot = store.snapshot();
                assert!(snapshot.len() >= seen && links_are_known(&snapshot.state));
                assert_eq!(snapshot.units().count() as u64, snapshot.len());
                seen = snapshot.len();
            }
        });
        let writers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let kept = (0..50).map(|place| keep(&store, place, &format!("message {place}")).id);
                    kept.collect::<Vec<_>>()
                })
            })
            .collect();
        let ids: BTreeSet<Vec<UnitId>> = writers.into_iter().map(|writer| writer.join().expect("ends")).collect();
        done.store(true, Ordering::Release);
        reader.join().expect("ends");
        assert_eq!(ids.len(), 1, "all were told the same ids");
    });
    assert_eq!((store.snapshot().len(), store.snapshot().sequence()), (50, 50));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_two_names_are_two_memories(left in "\\PC{1,20}", right in "\\PC{1,20}", acts in proptest::collection::vec(any::<(bool, u8)>(), 1..20)) {
        prop_assume!(left != right);
        let files = Faulty::new();
        let root = root_of(&files).expect("a root");
        let workspace = WorkspaceId::new("w").expect("an id");
        let users = [UserId::new(left).expect("an id"), UserId::new(right).expect("an id")];
        for (place, (which, act)) in (0..).zip(acts) {
            let store = root.user(&workspace, &users[usize::from(which)]).expect("opens");
            match act % 8 {
                0 => _ = root.purge_user(&workspace, &users[usize::from(which)], &when(0)).expect("purged"),
                1 => store.checkpoint().expect("written"),
                _ => _ = keep(&store, place, &format!("of {which}")),
            }
            drop(store);
            for (number, user) in users.iter().enumerate() {
                let snapshot = root.user(&workspace, user).expect("opens").snapshot();
                let own = format!("of {}", number == 1);
                prop_assert!(snapshot.units().all(|(_, unit)| unit.text == own));
            }
        }
    }
}
