//! Tool names of different plugins that a reader would take for each other. The grammar of names keeps other scripts out; what remains are
//! case, `-` for `_`, and the letters and digits that fonts draw alike.

use std::collections::BTreeMap;

use loopwright_contract::name::PluginName;

use crate::{InstallError, Refusal};

/// Tool names and who has them, by what they look like.
#[derive(Default)]
pub(super) struct ToolNames(BTreeMap<String, (String, PluginName)>);

impl ToolNames {
    /// Takes a name, unless another plugin has it or one that looks like it. Within one plugin, names only have to differ.
    pub(super) fn take(&mut self, name: &str, by: &PluginName) -> Result<(), InstallError> {
        let (taken, first) = self.0.entry(skeleton(name)).or_insert_with(|| (name.to_owned(), by.clone()));
        if first == by {
            return Ok(());
        }
        let by_whom = if taken == name {
            format!("plugin `{first}`")
        } else {
            format!("plugin `{first}`, whose `{taken}` looks the same")
        };
        let reason = Refusal::Taken { what: "tool", name: name.to_owned(), by: by_whom };
        Err(InstallError { plugin: by.clone(), reason })
    }
}

/// What a name looks like: equal for names that differ only in case, separators, or letters that are drawn alike (after the confusables of
/// Unicode Technical Standard 39, for the characters that names have).
fn skeleton(name: &str) -> String {
    let letter = |character: char| match character {
        '-' => '_',
        '0' => 'o',
        '1' | 'I' => 'l',
        other => other.to_ascii_lowercase(),
    };
    name.chars().map(letter).collect::<String>().replace("rn", "m").replace("vv", "w")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_belong_to_one_plugin() {
        let (a, b): (PluginName, PluginName) = ("a".parse().unwrap(), "b".parse().unwrap());
        for (first, second, fine) in [
            ("note_put", "note_put", false),
            ("note_put", "Note-Put", false),
            ("note_put", "n0te_put", false),
            ("list_all", "1ist_aIl", false),
            ("warm_up", "warrn_up", false),
            ("view", "vievv", false),
            ("note_put", "notes_put", true),
            ("set_1", "set_2", true),
        ] {
            let mut names = ToolNames::default();
            names.take(first, &a).unwrap();
            names.take(second, &a).unwrap();
            let taken = names.take(second, &b);
            assert!(taken.is_err(), "{second} is taken by its first owner");
            let mut names = ToolNames::default();
            names.take(first, &a).unwrap();
            assert_eq!(names.take(second, &b).is_ok(), fine, "{first} and {second}");
        }
    }

    #[test]
    fn a_refusal_names_what_it_looks_like() {
        let mut names = ToolNames::default();
        names.take("note_put", &"a".parse().unwrap()).unwrap();
        let error = names.take("N0te-Put", &"b".parse().unwrap()).unwrap_err();
        assert_eq!(error.reason.to_string(), "tool `N0te-Put` is taken by plugin `a`, whose `note_put` looks the same");
    }
}
