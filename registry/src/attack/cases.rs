//! The attacks: what each changes, and the refusal that it has to meet.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use super::{
    Meets,
    server::{Answer, Payload, Request},
    stage::{NOW_SECONDS, Stage, padded_component},
};
use crate::{
    COMPONENT_BYTES_LIMIT, RegistryError, envelope::Envelope, fetch::Fetched, moment::Moment, name::Release, publish,
    statement::Reason, trust::Trust,
};

pub(super) type Outcome = Result<Fetched, RegistryError>;

/// An attack.
pub(super) struct Case {
    pub(super) attack: &'static str,
    pub(super) expected: Meets,
    pub(super) run: fn(&mut Stage) -> Outcome,
}

pub(super) const fn case(attack: &'static str, expected: Meets, run: fn(&mut Stage) -> Outcome) -> Case {
    Case { attack, expected, run }
}

/// Every attack, by what it is on: bytes, addresses, documents, signatures, memory.
pub(super) const CASES: &[Case] = &[
    case("wrong bytes", Meets::Digest, |stage| {
        blob(stage, |bytes| bytes.iter_mut().skip(20).for_each(|byte| *byte ^= 1))
    }),
    case("too few bytes", Meets::Length, |stage| blob(stage, |bytes| bytes.truncate(100))),
    case("too many bytes", Meets::Length, |stage| blob(stage, |bytes| bytes.push(0))),
    case("a length that is not that of the bytes", Meets::Unreachable, |stage| {
        payload(stage, |bytes| Payload::Claimed(bytes.len() as u64 + 9, bytes))
    }),
    case("an endless body", Meets::Length, |stage| payload(stage, |_| Payload::Endless)),
    case("an endless manifest", Meets::PlaceTooLarge, |stage| {
        on_tag(stage, |answer| Answer { payload: Payload::Endless, ..answer })
    }),
    case("a slow body", Meets::TimedOut, |stage| {
        payload(stage, |mut bytes| {
            bytes.truncate(100);
            Payload::Stalled(bytes)
        })
    }),
    case("a server that never answers", Meets::TimedOut, |stage| payload(stage, |_| Payload::Silent)),
    case("a second attempt after a failed verification", Meets::Digest, |stage| {
        let spoil = |bytes: &mut Vec<u8>| bytes.iter_mut().skip(20).for_each(|byte| *byte ^= 1);
        let _ = blob(stage, spoil);
        blob(stage, spoil)
    }),
    case("a tag that moved after it was locked", Meets::Moved, |stage| {
        stage.pull(|_, answer| answer)?;
        let raw = stage.shelve(&padded_component(2_000, b'b'))?;
        let envelope = Envelope::sign(stage.statement(&raw)?, &[&stage.publisher]);
        stage.attach(&raw, &envelope.write())?;
        stage.pull(|_, answer| answer)
    }),
    case("a tag that moves between two requests", Meets::KeptFirst, |stage| {
        let asked = Arc::new(AtomicUsize::new(0));
        let other = Stage::new()?;
        let moved = other.shelve(&padded_component(2_000, b'b'))?.bytes;
        stage.pull(move |request, answer| match is_tag(request) && asked.fetch_add(1, Ordering::SeqCst) > 0 {
            true => Answer::of(200, moved.clone()),
            false => answer,
        })
    }),
    case("a tag that says another digest than its bytes have", Meets::Digest, |stage| {
        on_tag(stage, |answer| answer.with("Docker-Content-Digest", format!("sha256:{}", "0".repeat(64))))
    }),
    case("`..` in a digest header", Meets::Document, |stage| {
        on_tag(stage, |answer| answer.with("Docker-Content-Digest", "sha256:../../../../etc/passwd"))
    }),
    case("`..` in a digest", Meets::Document, |stage| {
        edit(stage, |text| replace_layer_digest(text, "sha256:../../../../etc/passwd"))
    }),
    case("a digest of another algorithm", Meets::Document, |stage| {
        edit(stage, |text| text.replace("sha256:", "sha512:"))
    }),
    case("a redirect of a blob to another host", Meets::Redirect, |stage| {
        stage.pull(|request, answer| match request.path.contains("/blobs/") {
            true => Answer::of(307, "").with("Location", "http://203.0.113.1/x"),
            false => answer,
        })
    }),
    case("a redirect of a tag to another host", Meets::Redirect, |stage| {
        on_tag(stage, |_| Answer::of(302, "").with("Location", "https://registry.invalid/x"))
    }),
    case("an upload that goes on at another host", Meets::Redirect, |stage| {
        let (_server, place) = stage.serve(|request, answer| match request.method.as_str() {
            "POST" => Answer::of(202, "").with("Location", "http://203.0.113.1/upload"),
            "HEAD" => Answer::of(404, ""),
            _ => answer,
        })?;
        let release = "acme:clock@1.0.0".parse::<Release>().map_err(|error| stage_error(&error))?;
        publish::push(place.as_ref(), &release, &stage.component, stage.signer())?;
        stage.pull_locked()
    }),
    case("a list of tags with a path", Meets::Document, |stage| {
        let (_server, place) = stage.serve(|request, answer| match request.path.contains("/tags/list") {
            true => Answer::of(200, "{\"tags\":[\"../../1.0.0\"]}"),
            false => answer,
        })?;
        let release = "acme:clock@1.0.0".parse::<Release>().map_err(|error| stage_error(&error))?;
        publish::push(place.as_ref(), &release, &stage.component, stage.signer())?;
        stage.pull_locked()
    }),
    case("duplicate keys in a manifest", Meets::Document, |stage| {
        edit(stage, |text| text.replacen('{', "{\"layers\":[],", 1))
    }),
    case("a second layer", Meets::Document, |stage| {
        edit(stage, |text| {
            text.replace("\"layers\":[{", "\"layers\":[{\"mediaType\":\"application/wasm\",\"digest\":\"sha256:0000000000000000000000000000000000000000000000000000000000000000\",\"size\":1},{")
        })
    }),
    case("a layer that is no component", Meets::Document, |stage| {
        edit(stage, |text| text.replace("\"application/wasm\"", "\"application/x-sh\""))
    }),
    case("a component beyond the limit", Meets::TooLarge, |stage| {
        let size = format!("\"size\":{}", stage.component.len());
        edit(stage, move |text| text.replace(&size, &format!("\"size\":{}", COMPONENT_BYTES_LIMIT + 1)))
    }),
    case("no signature", Meets::Untrusted, |_| {
        let stage = Stage::new()?;
        stage.shelve(&stage.component)?;
        stage.pull(|_, answer| answer)
    }),
    case("someone else's signature", Meets::Untrusted, |_| {
        falsely(|stage| stage.publish_false(&stage.stranger, |_| {}))
    }),
    case("a signature over another name", Meets::Untrusted, |_| {
        let other = "acme:clock@1.0.0".parse::<Release>().map_err(|error| stage_error(&error))?;
        falsely(|stage| stage.publish_false(&stage.publisher, |statement| statement.release = other))
    }),
    case("a signature over another version", Meets::Untrusted, |_| {
        falsely(|stage| stage.publish_false(&stage.publisher, |statement| statement.release.version.patch = 1))
    }),
    case("a signature over another manifest", Meets::Untrusted, |_| {
        falsely(|stage| stage.publish_false(&stage.publisher, |statement| statement.manifest.0 = [0; 32]))
    }),
    case("a signature over another component", Meets::Digest, |_| {
        falsely(|stage| stage.publish_false(&stage.publisher, |statement| statement.content.0 = [0; 32]))
    }),
    case("a signature over another request", Meets::Digest, |_| {
        falsely(|stage| stage.publish_false(&stage.publisher, |statement| statement.request.0 = [0; 32]))
    }),
    case("a signature with a changed bit", Meets::Untrusted, |_| {
        falsely(|stage| {
            let raw = stage.shelve(&stage.component)?;
            let mut forged = Envelope::sign(stage.statement(&raw)?, &[&stage.publisher]);
            forged.flip_a_bit();
            stage.attach(&raw, &forged.write())
        })
    }),
    case("a signature from before its key was valid", Meets::Untrusted, |_| {
        falsely(|stage| {
            let early = Moment::from_seconds(1_700_000_000).unwrap_or(stage.now);
            stage.publish_false(&stage.publisher, |statement| statement.issued = early)
        })
    }),
    case("a signature from the future", Meets::Untrusted, |_| {
        falsely(|stage| {
            let late = Moment::from_seconds(NOW_SECONDS + 86_400).unwrap_or(stage.now);
            stage.publish_false(&stage.publisher, |statement| statement.issued = late)
        })
    }),
    case("a namespace that no rule names", Meets::Untrusted, |stage| {
        stage.trust = Trust::default();
        stage.pull(|_, answer| answer)
    }),
    case("a signature moved from an honest release", Meets::Untrusted, |stage| {
        let shelf = stage.shelf()?;
        let repository = publish::repository(shelf.as_ref(), &stage.release)?;
        let honest = shelf.resolve(&repository, &publish::tag(&stage.release)?)?.map(|raw| raw.digest);
        let statements = match honest {
            Some(honest) => shelf.referrers(&repository, &honest)?,
            None => Vec::new(),
        };
        stage.shelve(&padded_component(2_000, b'b'))?;
        let list = crate::oci::ImageIndex::new(statements).write();
        stage.pull(move |request, answer| match request.path.contains("/manifests/sha256-") {
            true => Answer::of(200, list.clone()),
            false => answer,
        })
    }),
    case("a yanked release", Meets::Yanked, |stage| {
        yank(stage)?;
        stage.pull(|_, answer| answer)
    }),
    case("a yank that the registry hides again", Meets::Yanked, |stage| {
        let honest = Stage::published()?;
        yank(stage)?;
        let _ = stage.pull(|_, answer| answer);
        // The same lock, and a registry that never heard of the yank.
        honest.lock.replace(stage.lock.take());
        honest.pull(|_, answer| answer)
    }),
    case("a signed core module", Meets::Component, |_| {
        let mut stage = Stage::new()?;
        stage.component = b"\0asm\x01\0\0\0".to_vec();
        let raw = stage.shelve(&stage.component)?;
        let statement = Stage::new()?.statement(&raw)?;
        stage.attach(&raw, &Envelope::sign(statement, &[&stage.publisher]).write())?;
        stage.pull(|_, answer| answer)
    }),
    case("bytes of the store changed on disk", Meets::Digest, |stage| {
        stage.pull(|_, answer| answer)?;
        stage.tamper_with_store()?;
        stage.pull_locked()
    }),
];

pub(super) fn stage_error(error: &dyn std::error::Error) -> RegistryError {
    crate::place::PlaceError::SetUp { reason: error.to_string() }.into()
}

pub(super) fn is_tag(request: &Request) -> bool {
    request.path.ends_with("/manifests/1.0.0")
}

fn on_tag(stage: &Stage, change: impl Fn(Answer) -> Answer + Send + Sync + 'static) -> Outcome {
    stage.pull(move |request, answer| if is_tag(request) { change(answer) } else { answer })
}

/// Changes the text of the release's manifest.
fn edit(stage: &Stage, change: impl Fn(&str) -> String + Send + Sync + 'static) -> Outcome {
    on_tag(stage, move |answer| match &answer.payload {
        Payload::Whole(body) => Answer::of(200, change(&String::from_utf8_lossy(body))),
        _ => answer,
    })
}

/// Changes what is sent for the component.
fn payload(stage: &Stage, change: impl Fn(Vec<u8>) -> Payload + Send + Sync + 'static) -> Outcome {
    let wanted = loopwright_contract::digest::ContentDigest::of(&stage.component).to_string();
    stage.pull(move |request, answer| match (request.path.contains(&wanted), answer.payload) {
        (true, Payload::Whole(body)) => {
            Answer { payload: change(body), headers: answer.headers, status: answer.status }
        }
        (_, payload) => Answer { payload, headers: answer.headers, status: answer.status },
    })
}

/// Changes the component's bytes.
fn blob(stage: &Stage, change: impl Fn(&mut Vec<u8>) + Send + Sync + 'static) -> Outcome {
    payload(stage, move |mut bytes| {
        change(&mut bytes);
        Payload::Whole(bytes)
    })
}

/// A registry with a false statement and nothing else.
fn falsely(publish: impl FnOnce(&Stage) -> Result<(), RegistryError>) -> Outcome {
    let stage = Stage::new()?;
    publish(&stage)?;
    stage.pull(|_, answer| answer)
}

fn yank(stage: &Stage) -> Result<(), RegistryError> {
    let reason = "leaks phone numbers".parse::<Reason>().map_err(|error| stage_error(&error))?;
    publish::yank(stage.shelf()?.as_ref(), &stage.release, reason, stage.signer()).map(|_| ())
}

fn replace_layer_digest(text: &str, digest: &str) -> String {
    let Some(layers) = text.find("\"layers\":") else { return text.to_owned() };
    let (before, after) = text.split_at(layers);
    let Some(start) = after.find("sha256:") else { return text.to_owned() };
    let rest: String = after.chars().skip(start + 71).collect();
    let head: String = after.chars().take(start).collect();
    format!("{before}{head}{digest}{rest}")
}
