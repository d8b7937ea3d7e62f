//! The exports of a verifier plugin.

use super::{announce_panics, identity};
use crate::bindings::plugin;
use crate::bindings::verifier as wit;
use crate::evidence::Evidence;
use crate::host::EvidencePort;
use crate::json::Json;
use crate::verifier::{JudgeError, Verdict, VerifierPlugin, read_check};

pub fn describe_verifier<P: VerifierPlugin>() -> plugin::Identity {
    identity(P::IDENTITY, None)
}

pub fn judge<P: VerifierPlugin>(check: String, upto: Vec<u32>) -> Result<Vec<wit::Verdict>, wit::JudgeError> {
    announce_panics();
    let judged = read_check::<P>(&Json::from_host(check))
        .and_then(|check| P::judge(&Evidence::new(EvidencePort), &check, &upto));
    match judged {
        Ok(verdicts) => Ok(verdicts.into_iter().map(verdict).collect()),
        Err(JudgeError::InvalidCheck(what)) => Err(wit::JudgeError::InvalidCheck(what)),
        Err(JudgeError::MissingEvidence(what)) => Err(wit::JudgeError::MissingEvidence(what)),
        Err(JudgeError::Other(what)) => Err(wit::JudgeError::Other(what)),
    }
}

fn verdict(verdict: Verdict) -> wit::Verdict {
    wit::Verdict {
        outcome: match verdict.passed() {
            true => wit::Outcome::Pass,
            false => wit::Outcome::Fail,
        },
        score: verdict.score(),
        progress: verdict.progress(),
        criteria: verdict.into_criteria().into_iter().map(criterion).collect(),
    }
}

fn criterion(criterion: crate::verifier::Criterion) -> wit::Criterion {
    wit::Criterion {
        id: criterion.id,
        passed: criterion.passed,
        held_at_reset: criterion.held_at_reset,
        weight: criterion.weight,
        reason: criterion.reason,
    }
}

/// The Wasm half of `export_verifier!`.
#[doc(hidden)]
#[macro_export]
macro_rules! __export_verifier_on_wasm {
    ($plugin:ty) => {
        const _: () = {
            use $crate::bindings::{plugin, verifier};

            #[unsafe(link_section = "loopwright-sdk")]
            static SDK_VERSION: [u8; $crate::glue::SDK_VERSION.len()] = $crate::glue::SDK_VERSION;

            struct Component;

            impl verifier::Guest for Component {
                fn describe() -> plugin::Identity {
                    $crate::glue::describe_verifier::<$plugin>()
                }

                fn judge(
                    check: ::std::string::String,
                    upto: ::std::vec::Vec<u32>,
                ) -> ::core::result::Result<::std::vec::Vec<verifier::Verdict>, verifier::JudgeError> {
                    $crate::glue::judge::<$plugin>(check, upto)
                }
            }

    $crate::bindings::verifier::__export_verifier_world!(Component with_types_in $crate::bindings::verifier);
        };
    };
}
