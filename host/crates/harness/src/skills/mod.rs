//! Skills: components behind the engine port, and plain `SKILL.md` files. A planner sees one list of cards and cannot tell them apart.

mod file;
mod folder;
mod front_matter;

use std::collections::BTreeMap;

use loopwright_contract::digest::ContentDigest;
use loopwright_contract::episode::Episode;
use loopwright_contract::fault::CallFault;
use loopwright_contract::limits::GUIDANCE_BYTES_MAX;
use loopwright_contract::name::{Lang, SkillName, ToolName};
use loopwright_contract::skill::SkillCard;

pub use file::{SKILL_FILE_BYTES_MAX, SkillFile, SkillFileError};
pub use folder::{SKILL_FOLDERS_MAX, SkillFolderError, read_skill_folder};

/// All skills that can be loaded.
#[derive(Debug, Default)]
pub(crate) struct SkillLibrary {
    /// Sorted by name.
    cards: Vec<SkillCard>,
    files: BTreeMap<SkillName, SkillFile>,
}

impl SkillLibrary {
    /// Joins components' cards and files; an error names a skill that exists twice.
    pub(crate) fn new(components: &[SkillCard], files: Vec<SkillFile>) -> Result<Self, SkillName> {
        let mut by_name: BTreeMap<SkillName, SkillCard> =
            components.iter().map(|card| (card.name.clone(), card.clone())).collect();
        let mut library = Self::default();
        for file in files {
            let name = file.card().name.clone();
            if by_name.insert(name.clone(), file.card().clone()).is_some() {
                return Err(name);
            }
            library.files.insert(name, file);
        }
        library.cards = by_name.into_values().collect();
        Ok(library)
    }

    pub(crate) fn cards(&self) -> &[SkillCard] {
        &self.cards
    }

    pub(crate) fn card(&self, name: &SkillName) -> Option<&SkillCard> {
        self.cards.iter().find(|card| card.name == *name)
    }

    /// Whether a skill is a component, which can also judge calls.
    pub(crate) fn is_component(&self, name: &SkillName) -> bool {
        !self.files.contains_key(name)
    }

    /// Files by name and digest, as a trajectory's header names them.
    pub(crate) fn file_digests(&self) -> Vec<(SkillName, ContentDigest)> {
        self.files.iter().map(|(name, file)| (name.clone(), file.digest())).collect()
    }

    /// The guidance of a skill for the offered tools, at most [`GUIDANCE_BYTES_MAX`] bytes.
    pub(crate) fn guidance(
        &self,
        episode: &mut dyn Episode,
        name: &SkillName,
        offered: &[ToolName],
        lang: &Lang,
    ) -> Result<String, CallFault> {
        let mut text = match self.files.get(name) {
            Some(file) => file.guidance(offered),
            None => episode.skill_guidance(name, offered, lang)?,
        };
        text.truncate(text.floor_char_boundary(GUIDANCE_BYTES_MAX));
        // A record cannot hold NUL.
        Ok(if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text })
    }
}
