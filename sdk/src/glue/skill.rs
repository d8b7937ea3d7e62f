//! The exports of a skill plugin.

use super::{announce_panics, identity, localized, names, trap};
use crate::bindings::skill as wit;
use crate::bindings::{plugin, types};
use crate::host::{Port, lift_call};
use crate::phone::PhoneView;
use crate::skill::{Advice, SkillPlugin};

pub fn describe_skill<P: SkillPlugin>() -> plugin::Identity {
    identity(P::IDENTITY, None)
}

pub fn card<P: SkillPlugin>() -> wit::SkillCard {
    announce_panics();
    let card = P::card();
    wit::SkillCard {
        name: card.name.to_owned(),
        summary: localized(card.summary.iter().copied()),
        about: names(&card.about),
        exposes: names(&card.exposes),
    }
}

pub fn guidance<P: SkillPlugin>(offered: Vec<String>, lang: String) -> String {
    announce_panics();
    P::guidance(&offered, &lang)
}

pub fn check<P: SkillPlugin>(call: types::ToolCall) -> wit::Advice {
    announce_panics();
    match P::check(&PhoneView::new(Port), &lift_call(call)) {
        Ok(Advice::Allow) => wit::Advice::Allow,
        Ok(Advice::Warn(text)) => wit::Advice::Warn(text),
        Ok(Advice::Block(text)) => wit::Advice::Block(text),
        Err(fault) => trap(&fault),
    }
}

/// The Wasm half of `export_skill!`.
#[doc(hidden)]
#[macro_export]
macro_rules! __export_skill_on_wasm {
    ($plugin:ty) => {
        const _: () = {
            use $crate::bindings::{plugin, skill, types};

            #[unsafe(link_section = "loopwright-sdk")]
            static SDK_VERSION: [u8; $crate::glue::SDK_VERSION.len()] = $crate::glue::SDK_VERSION;

            struct Component;

            impl skill::Guest for Component {
                fn describe() -> plugin::Identity {
                    $crate::glue::describe_skill::<$plugin>()
                }

                fn card() -> skill::SkillCard {
                    $crate::glue::card::<$plugin>()
                }

                fn guidance(
                    offered: ::std::vec::Vec<::std::string::String>,
                    lang: ::std::string::String,
                ) -> ::std::string::String {
                    $crate::glue::guidance::<$plugin>(offered, lang)
                }

                fn check(call: types::ToolCall) -> skill::Advice {
                    $crate::glue::check::<$plugin>(call)
                }
            }

    $crate::bindings::skill::__export_skill_world!(Component with_types_in $crate::bindings::skill);
        };
    };
}
