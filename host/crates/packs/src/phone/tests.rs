use std::collections::{BTreeMap, BTreeSet};

use loopwright_contract::action::Action;
use loopwright_contract::task::{DocumentEdit, Split, Task};
use loopwright_contract::tool::ToolCall;
use proptest::prelude::*;
use serde_json::Value;

use super::{PhrasingSet, builtin, builtin_with_phrasings, split_of};

/// The tools of the catalogue that the phone world's first part has.
const CATALOGUE: &[&str] = &[
    "add_contact",
    "calculate_date",
    "calculate_expression",
    "calendar_service",
    "configure_hotspot",
    "control_cooling_fan",
    "control_device_power",
    "control_screen",
    "control_screen_casting",
    "convert_currency",
    "convert_unit",
    "manage_accessibility_feature",
    "manage_airplane_mode",
    "manage_alarm",
    "manage_always_on_display",
    "manage_audio_balance",
    "manage_audio_output",
    "manage_auto_rotate",
    "manage_battery",
    "manage_bedtime",
    "manage_bluetooth",
    "manage_brightness",
    "manage_clipboard_sharing",
    "manage_color_mode",
    "manage_contact",
    "manage_countdown",
    "manage_dark_mode",
    "manage_data_limit",
    "manage_datetime_setting",
    "manage_device_info",
    "manage_device_pairing",
    "manage_dnd",
    "manage_eye_comfort",
    "manage_flight_watch",
    "manage_focus_mode",
    "manage_font",
    "manage_hotspot",
    "manage_keyboard_mouse_sharing",
    "manage_language_region",
    "manage_location_service",
    "manage_message",
    "manage_mobile_data",
    "manage_multi_screen",
    "manage_network_mode",
    "manage_nfc",
    "manage_note",
    "manage_notification_setting",
    "manage_refresh_rate",
    "manage_roaming",
    "manage_schedule",
    "manage_scheduled_power",
    "manage_select_to_speak",
    "manage_sim",
    "manage_sound_effect",
    "manage_sound_mode",
    "manage_status_bar_display",
    "manage_stopwatch",
    "manage_system_update",
    "manage_talkback",
    "manage_usb_debug",
    "manage_vibration",
    "manage_volume",
    "manage_vpn",
    "manage_wifi",
    "manage_world_clock",
    "query_current_time",
    "query_data_usage",
    "query_free_busy",
    "query_setting",
    "respond_calendar_invite",
    "run_network_test",
    "search_contacts",
    "search_messages",
    "send_message",
    "set_display_size",
    "set_ringtone",
    "set_screen_resolution",
    "set_screen_timeout",
];

fn calls(task: &Task) -> impl Iterator<Item = &ToolCall> {
    task.gold.iter().flatten().filter_map(|action| match action {
        Action::Call(call) => Some(call),
        _ => None,
    })
}

fn twins(tasks: &[Task]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut languages: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for task in tasks {
        languages.entry(&task.family).or_default().insert(task.lang.as_str());
    }
    languages
}

#[test]
fn the_same_seed_gives_the_same_pack_and_another_seed_another() {
    let (first, second, other) =
        (builtin(5, 2).expect("a pack"), builtin(5, 2).expect("a pack"), builtin(6, 2).expect("a pack"));
    assert_eq!(first.files(), second.files());
    assert_eq!(first.card(), second.card());
    assert_ne!(first.files(), other.files());
}

#[test]
fn every_family_has_both_languages_in_one_split() {
    for seed in [0, 1, u64::MAX] {
        let pack = builtin(seed, 2).expect("a pack");
        for (family, languages) in twins(pack.tasks()) {
            assert_eq!(languages, BTreeSet::from(["en", "zh"]), "{family}");
        }
        let mut splits: BTreeMap<&str, BTreeSet<Split>> = BTreeMap::new();
        for task in pack.tasks() {
            splits.entry(&task.family).or_default().insert(task.split);
        }
        assert!(splits.values().all(|found| found.len() == 1));
    }
}

#[test]
fn no_placeholder_is_left_and_the_two_sets_of_phrasings_are_apart() {
    let mut requests = [BTreeSet::new(), BTreeSet::new()];
    for (set, found) in [PhrasingSet::Seen, PhrasingSet::Unseen].into_iter().zip(&mut requests) {
        for seed in 0..8 {
            for task in builtin_with_phrasings(seed, 2, set).expect("a pack").tasks() {
                assert!(!task.request.contains(['{', '}']), "{}: {}", task.id, task.request);
                found.insert(task.request.clone());
            }
        }
    }
    assert!(requests[0].is_disjoint(&requests[1]));
}

#[test]
fn there_are_as_many_families_tasks_and_categories_as_promised() {
    let pack = builtin(11, 2).expect("a pack");
    let counts = &pack.card().counts;
    assert!(counts.families >= 44 && counts.tasks >= 120, "{counts:?}");
    for category in [
        "single",
        "query",
        "ordered",
        "parallel",
        "conditional",
        "conflict",
        "cross_app",
        "missing_information",
        "must_refuse",
        "confirmation",
        "skill",
        "memory",
    ] {
        assert!(counts.categories.get(category).is_some_and(|count| *count >= 4), "{category}: {counts:?}");
    }
    for split in [Split::Train, Split::Dev, Split::Test] {
        assert!(counts.splits.get(&split).is_some_and(|count| *count >= 12), "{split:?}: {counts:?}");
    }
    let generator = pack.card().generator.as_ref().expect("it is generated");
    assert!(generator.duplicates * 20 <= u32::try_from(counts.tasks).expect("small"), "{generator:?}");
}

#[test]
fn the_split_follows_from_the_name_alone() {
    let pack = builtin(2, 1).expect("a pack");
    assert!(pack.tasks().iter().all(|task| task.split == split_of(&task.family)));
}

#[test]
fn twins_have_the_same_numbers_and_the_same_calls() {
    let pack = builtin(9, 2).expect("a pack");
    for pair in pack.tasks().chunks(2) {
        let [english, chinese] = pair else { continue };
        if english.family != chinese.family || english.id.as_str().replace(".en.", ".zh.") != chinese.id.as_str() {
            continue;
        }
        let shape = |task: &Task| -> Vec<(String, Option<Value>)> {
            calls(task).map(|call| (call.tool.to_string(), call.arguments.get("action").cloned())).collect()
        };
        assert_eq!(shape(english), shape(chinese), "{}", english.id);
    }
}

#[test]
fn every_phrasing_occurs_and_names_what_it_is_about() {
    for family in super::families::all() {
        for phrases in family.phrases {
            for tongue in [super::Tongue::English, super::Tongue::Chinese] {
                let all: Vec<&str> = [PhrasingSet::Seen, PhrasingSet::Unseen]
                    .iter()
                    .flat_map(|set| phrases.of(tongue, *set))
                    .copied()
                    .collect();
                assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{}: {all:?}", family.name);
                let names = |text: &str| {
                    text.split('{')
                        .skip(1)
                        .filter_map(|part| part.split('}').next())
                        .map(str::to_owned)
                        .collect::<BTreeSet<_>>()
                };
                for text in &all {
                    assert_eq!(names(text), names(all[0]), "{}: `{text}`", family.name);
                }
            }
        }
    }
}

#[test]
fn gold_names_tools_of_the_catalogue_and_ends_the_episode() {
    for set in [PhrasingSet::Seen, PhrasingSet::Unseen] {
        for task in builtin_with_phrasings(21, 3, set).expect("a pack").tasks() {
            for call in calls(task) {
                assert!(CATALOGUE.contains(&call.tool.as_str()), "{}: {}", task.id, call.tool);
                assert!(call.arguments.is_object());
            }
            let ids: BTreeSet<_> = calls(task).map(|call| &call.id).collect();
            assert_eq!(ids.len(), calls(task).count(), "{}: a call id is used twice", task.id);
            assert!(
                matches!(
                    task.gold.last().and_then(|turn| turn.last()),
                    Some(Action::Finish { .. } | Action::Refuse { .. })
                ),
                "{}",
                task.id
            );
            assert!(task.gold.len() <= 10, "{}: {} turns leave no room for mistakes", task.id, task.gold.len());
        }
    }
}

#[test]
fn nothing_that_an_agent_sees_names_the_task_or_its_part() {
    for task in builtin(13, 2).expect("a pack").tasks() {
        let mut visible = vec![task.request.clone(), task.setup.to_string()];
        for edit in &task.edits {
            match edit {
                DocumentEdit::Put { key, value, .. } | DocumentEdit::Patch { key, value, .. } => {
                    visible.push(format!("{key} {value}"))
                }
                DocumentEdit::Delete { key, .. } => visible.push(key.clone()),
            }
        }
        for text in visible {
            for label in [task.id.as_str(), task.family.as_str(), "gold", "target", "distractor", "answer"] {
                assert!(
                    !text.to_lowercase().contains(label) || task.request.contains(label),
                    "{}: `{text}` contains `{label}`",
                    task.id
                );
            }
        }
    }
}

#[test]
fn missing_information_has_a_slot_whose_question_the_gold_asks_and_a_twin_without() {
    let pack = builtin(17, 2).expect("a pack");
    let mut given: BTreeSet<&str> = BTreeSet::new();
    let mut asked: BTreeSet<&str> = BTreeSet::new();
    for task in pack.tasks() {
        if task.category != "missing_information" {
            given.insert(&task.family);
            continue;
        }
        asked.insert(&task.family);
        let question = task.gold.iter().flatten().find_map(|action| match action {
            Action::Ask { question, pending: None } => Some(question.to_lowercase()),
            _ => None,
        });
        let question = question.unwrap_or_else(|| panic!("{} asks nothing", task.id));
        let slot = task.user.slots.iter().find(|slot| slot.asked_by.iter().any(|word| question.contains(word)));
        assert!(slot.is_some(), "{}: no slot answers `{question}`", task.id);
        assert!(
            !task.request.contains(&slot.expect("there is one").answer),
            "{}: the request says what is missing",
            task.id
        );
    }
    assert!(asked.len() >= 4);
    for family in asked {
        assert!(given.contains(family) || family == "two-of-a-name", "{family} has no positive twin");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn any_seed_gives_a_pack_without_doubles(seed: u64, instances in 1..4_u32) {
        let pack = builtin(seed, instances).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut seen = BTreeSet::new();
        for task in pack.tasks() {
            prop_assert!(seen.insert(super::sameness(task)), "{} is there twice", task.id);
        }
    }
}

#[test]
fn each_world_rule_that_holds_across_apps_has_a_task() {
    let pack = builtin(23, 1).expect("a pack");
    let families: BTreeSet<&str> = pack.tasks().iter().map(|task| task.family.as_str()).collect();
    for (rule, names) in [
        (1, ["phone-is-off", "screen-is-off", "locked-message"].as_slice()),
        (2, &["airplane-on", "airplane-off"]),
        (3, &["currency-offline", "offline-message"]),
        (4, &["performance-over-super", "note-under-super", "battery-low"]),
        (5, &["hotspot-needs-data"]),
        (6, &["cast-switch"]),
        (8, &["ring-under-dnd"]),
        (9, &["denied-contacts"]),
        (10, &["contact-delete", "contact-rename"]),
        (11, &["series-moved-once"]),
        (15, &["power-off", "contact-delete", "note-delete", "event-delete", "reboot-called-off"]),
    ] {
        for name in names {
            assert!(families.contains(name), "rule {rule}: `{name}` is missing");
        }
    }
}
