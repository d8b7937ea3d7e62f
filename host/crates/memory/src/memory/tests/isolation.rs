//! Whatever users do in whatever order, and however many read and write at once, nobody is shown what is another's.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use proptest::prelude::*;

use super::*;

/// What is said by one user alone.
fn mark(number: usize) -> String {
    format!("zebra{number}q")
}

/// Everything of what a memory gives out: what is found, what is always served, an export.
fn shown(memory: &Memory, question: &str) -> String {
    let mut query = Query::new(question, at("2025-12-31T00:00:00Z"));
    query.whole = false;
    let mut texts = vec![memory.search(&query).expect("an answer").render()];
    query.history = true;
    texts.push(memory.search(&query).expect("an answer").render());
    texts.extend(ask(memory, question));
    let mut export = Vec::new();
    memory.store().export(&mut export, &at("2025-12-31T00:00:00Z")).expect("exported");
    texts.push(String::from_utf8(export).expect("text"));
    texts.join("\n")
}

fn shows_only(memory: &Memory, own: usize, users: usize) -> Result<(), TestCaseError> {
    // Asked for by their very words.
    let marks: Vec<String> = (0..users).map(mark).collect();
    let shown = shown(memory, &format!("Where does one live, what is the code word, {}?", marks.join(", ")));
    for foreign in (0..users).filter(|foreign| *foreign != own) {
        prop_assert!(!shown.contains(&format!("of {}.", mark(foreign))), "{own} is shown what is {foreign}'s: {shown}");
    }
    Ok(())
}

fn position(at: usize) -> u32 {
    u32::try_from(at).expect("small")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn nothing_of_another_user_is_shown_whatever_was_done(
        base in "\\PC{1,12}",
        tail in "\\PC{1,4}",
        acts in proptest::collection::vec((0_usize..6, 0_u8..10), 4..16),
    ) {
        let world = World::new();
        // A name, one that it begins, tricks with paths, and others that look alike.
        let names = [base.clone(), format!("{base}{tail}"), format!("../{base}"), format!("{base}/log"), format!(" {base}"), format!("{base}\u{200b}")];
        let mut users: Vec<String> = names.into_iter().filter(|name| UserId::new(name.as_str()).is_ok()).collect();
        users.sort_unstable();
        users.dedup();
        prop_assume!(users.len() > 1);
        let pool = world.pool();
        for (number, (user, act)) in acts.into_iter().enumerate() {
            let user = user % users.len();
            let memory = world.open(&users[user]);
            let now = at("2025-11-01T00:00:00Z");
            match act {
                0 => _ = memory.forget(&Selection::Mentioned { from: 0, until: i64::MAX }, Sources::Purge, Some(&pool), &now).expect("forgotten"),
                1 => memory.store().checkpoint().expect("written"),
                2 => _ = say(&memory, 3, position(number), Role::User, &format!("My favourite drink is the tea of {}.", mark(user))),
                3 => _ = say(&memory, 4, position(number), Role::User, &format!("Remind me to send the parcel of {}. tomorrow at nine.", mark(user))),
                4 => _ = say(&memory, 5, position(number), Role::Assistant, &format!("I wrote down the password of {}.", mark(user))),
                _ => _ = say(&memory, 2, position(number), Role::User, &format!("I live in the house of {}.", mark(user))),
            }
            shows_only(&memory, user, users.len())?;
            drop(memory);
            // And after it was opened again, with everything made anew or not.
            shows_only(&world.open(&users[(user + 1) % users.len()]), (user + 1) % users.len(), users.len())?;
        }
    }
}

#[test]
fn readers_beside_writers_see_their_own_user_and_never_half_of_a_step() {
    let world = World::new();
    let memories: Vec<Memory> = ["ann", "ann1", "../ann"].into_iter().map(|user| world.open(user)).collect();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let writers: Vec<_> = memories
            .iter()
            .enumerate()
            .map(|(number, memory)| {
                scope.spawn(move || {
                    for place in 0..25_usize {
                        say(
                            memory,
                            1,
                            position(place),
                            Role::User,
                            &format!("The code word of {}. is number {place}.", mark(number)),
                        );
                        if place % 8 == 7 {
                            let id = memory.snapshot().units().next().expect("a unit").1.id;
                            memory
                                .forget(&Selection::Units(vec![id]), Sources::Purge, None, &at("2025-11-01T00:00:00Z"))
                                .expect("forgotten");
                        }
                    }
                })
            })
            .collect();
        let readers: Vec<_> = memories
            .iter()
            .enumerate()
            .map(|(number, memory)| {
                let done = &done;
                scope.spawn(move || {
                    let mut answers = 0;
                    while !done.load(Ordering::Acquire) {
                        let found = ask(memory, "what is the code word of zebra0q zebra1q zebra2q");
                        assert!(found.iter().all(|quote| quote.contains(&mark(number))), "{number}: {found:?}");
                        answers += found.len();
                    }
                    answers
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().expect("ends"));
        done.store(true, Ordering::Release);
        let answers: usize = readers.into_iter().map(|reader| reader.join().expect("ends")).sum();
        assert!(answers > 0, "the readers read");
    });
    for memory in &memories {
        assert!(memory.check().expect("whole").is_in_step());
        assert_eq!(memory.snapshot().units().count(), 22);
    }
}
