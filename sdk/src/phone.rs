//! The phone, as plugin code reaches it: the one way to state, time, randomness, ids and the log.

use core::ops::Deref;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::call::{CallError, Reply};
use crate::host::Port;
use crate::json::{Json, ShapeError};
use crate::query::Query;
use crate::scratch::Scratch;
use crate::state::{Doc, Page, StateError};
use crate::time::{DateTime, Instant};

/// How much a log line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For the plugin's author.
    Debug,
    /// Progress.
    Info,
    /// Something odd that was handled.
    Warn,
    /// Something that failed.
    Error,
}

/// A phone that can be read and not changed: what a skill gets, and what every [`Phone`] offers too.
#[derive(Debug)]
pub struct PhoneView {
    port: Port,
}

impl PhoneView {
    pub(crate) fn new(port: Port) -> Self {
        Self { port }
    }

    /// One document, or none. A key that no document can have (empty, or over 256 bytes) is simply absent, so that a planner's word can
    /// be looked up as it is.
    ///
    /// # Errors
    /// When the collection is not granted, its name is malformed or the document does not fit `T`.
    pub fn get<T: DeserializeOwned>(&self, collection: &str, key: &str) -> Result<Option<T>, StateError> {
        match self.text(collection, key)? {
            Some(text) => Ok(Some(read(collection, key, &text)?)),
            None => Ok(None),
        }
    }

    /// A document that a fresh world holds and nobody deletes, such as an app's settings.
    ///
    /// # Errors
    /// As [`get`](Self::get), and [`StateError::Missing`] when there is none.
    pub fn require<T: DeserializeOwned>(&self, collection: &str, key: &str) -> Result<T, StateError> {
        read(collection, key, &self.required_text(collection, key)?)
    }

    // What does not depend on the type of a document is kept out of the generic functions, which a plugin holds once for each type.

    fn text(&self, collection: &str, key: &str) -> Result<Option<Json>, StateError> {
        if !can_be_key(key) {
            return Ok(None);
        }
        self.port.get(collection, key)
    }

    fn required_text(&self, collection: &str, key: &str) -> Result<Json, StateError> {
        let missing = || StateError::Missing { collection: collection.to_owned(), key: key.to_owned() };
        self.text(collection, key)?.ok_or_else(missing)
    }

    /// Several documents, as pairs of collection and key, answered in the same order. At most 256.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn get_many<T: DeserializeOwned>(&self, keys: &[(&str, &str)]) -> Result<Vec<Option<T>>, StateError> {
        let found = self.port.get_many(keys)?;
        keys.iter()
            .zip(found)
            .map(|((collection, key), text)| text.map(|text| read(collection, key, &text)).transpose())
            .collect()
    }

    /// One page of the documents that match, at most 256 of them.
    ///
    /// # Errors
    /// As [`get`](Self::get), and when the query breaks a limit.
    pub fn find<T: DeserializeOwned>(&self, collection: &str, query: &Query) -> Result<Page<T>, StateError> {
        typed_page(collection, self.port.find(collection, query)?)
    }

    /// All documents that match, page by page. A collection can be large: give a condition that an index serves, or use
    /// [`find`](Self::find) with a limit.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub fn find_all<T: DeserializeOwned>(&self, collection: &str, query: &Query) -> Result<Vec<Doc<T>>, StateError> {
        let mut page = self.find(collection, query)?;
        let mut docs = page.docs;
        while let Some(cursor) = page.next {
            page = self.find(collection, &query.clone().after(cursor))?;
            docs.append(&mut page.docs);
        }
        Ok(docs)
    }

    /// How many documents match. It reads none of them.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub fn count(&self, collection: &str, query: &Query) -> Result<u32, StateError> {
        let page = self.port.find(collection, &query.clone().limit(1))?;
        Ok(page.total)
    }

    /// The keys of one page of the documents that match, in the order that the query asks for.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub fn keys(&self, collection: &str, query: &Query) -> Result<Vec<String>, StateError> {
        let page = self.port.find(collection, query)?;
        Ok(page.docs.into_iter().map(|doc| doc.key).collect())
    }

    /// Writes one line to the host's trace. Planners and digests never see it.
    pub fn log(&self, level: Level, message: &str) {
        self.port.log(level, message);
    }
}

/// Whether a document can have this key.
fn can_be_key(key: &str) -> bool {
    const KEY_BYTES_MAX: usize = 256;
    (1..=KEY_BYTES_MAX).contains(&key.len()) && !key.contains('\0')
}

/// Reads the documents of a page as a `T`.
pub(crate) fn typed_page<T: DeserializeOwned>(collection: &str, page: Page<Json>) -> Result<Page<T>, StateError> {
    let docs = page
        .docs
        .into_iter()
        .map(|doc| Ok(Doc { value: read(collection, &doc.key, &doc.value)?, key: doc.key }))
        .collect::<Result<_, StateError>>()?;
    Ok(Page { docs, next: page.next, total: page.total })
}

/// Reads one document as a `T`.
pub(crate) fn read<T: DeserializeOwned>(collection: &str, key: &str, text: &Json) -> Result<T, StateError> {
    match text.parse() {
        Ok(value) => Ok(value),
        Err(error) => Err(misfit(collection, key, error)),
    }
}

#[cold]
fn misfit(collection: &str, key: &str, error: ShapeError) -> StateError {
    StateError::Shape { collection: collection.to_owned(), key: key.to_owned(), error }
}

/// The phone that a tool's handler works on. Everything that [`PhoneView`] reads, it reads too.
///
/// A handler's writes belong to one call: when it ends in a failure or a trap, none of them remains.
///
/// ```
/// use loopwright_sdk::{Failure, Phone};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Lamp {
///     level: u8,
/// }
///
/// fn dim(phone: &mut Phone) -> Result<u8, Failure> {
///     let mut lamp: Lamp = phone.require("lamp", "main")?;
///     lamp.level /= 2;
///     phone.put("lamp", "main", &lamp)?;
///     Ok(lamp.level)
/// }
/// ```
#[derive(Debug)]
pub struct Phone {
    view: PhoneView,
}

impl Phone {
    pub(crate) fn new(port: Port) -> Self {
        Self { view: PhoneView::new(port) }
    }

    pub(crate) fn port(&self) -> &Port {
        &self.view.port
    }

    /// Creates or replaces a document.
    ///
    /// # Errors
    /// When the collection is not granted for writing, a name is malformed, a limit is reached, or `value` has no JSON form.
    pub fn put<T: Serialize + ?Sized>(&mut self, collection: &str, key: &str, value: &T) -> Result<(), StateError> {
        self.put_text(collection, key, Json::of(value))
    }

    fn put_text(&mut self, collection: &str, key: &str, text: Result<Json, ShapeError>) -> Result<(), StateError> {
        let text = text.map_err(|error| misfit(collection, key, error))?;
        self.port().put(collection, key, text)
    }

    /// Merges into an existing document (RFC 7396): a field that is `null` in `merge` is removed, others are replaced.
    ///
    /// # Errors
    /// As [`put`](Self::put), and [`StateError::NotFound`] when there is no such document.
    pub fn patch<T: Serialize + ?Sized>(&mut self, collection: &str, key: &str, merge: &T) -> Result<(), StateError> {
        self.patch_text(collection, key, Json::of(merge))
    }

    fn patch_text(&mut self, collection: &str, key: &str, text: Result<Json, ShapeError>) -> Result<(), StateError> {
        let text = text.map_err(|error| misfit(collection, key, error))?;
        self.port().patch(collection, key, text)
    }

    /// Removes a document; says whether there was one.
    ///
    /// # Errors
    /// When the collection is not granted for writing or its name is malformed.
    pub fn delete(&mut self, collection: &str, key: &str) -> Result<bool, StateError> {
        if !can_be_key(key) {
            return Ok(false);
        }
        self.port().delete(collection, key)
    }

    /// The episode's time. It stands still within a turn.
    pub fn now(&self) -> Instant {
        self.port().now()
    }

    /// The phone's time zone, an IANA name such as `Asia/Shanghai`.
    pub fn zone(&self) -> String {
        self.port().zone()
    }

    /// The offset of the phone's zone from UTC at `at`, in seconds, east positive.
    pub fn offset_s(&self, at: Instant) -> i32 {
        self.port().offset_s(at)
    }

    /// What the phone's clock and calendar show at `at`.
    pub fn local(&self, at: Instant) -> DateTime {
        at.civil(self.offset_s(at))
    }

    /// The moment at which the phone's clock and calendar show `local`. Where a clock change makes it occur twice, the earlier moment;
    /// where a clock change skips it, the moment as far after the change as `local` is after the skipped hour began. None for dates
    /// before 1970 or after 2554, which the episode's clock cannot hold.
    ///
    /// ```
    /// # #[cfg(not(target_family = "wasm"))] {
    /// use loopwright_sdk::{DateTime, testing::TestPhone};
    ///
    /// let test = TestPhone::new().zone("Asia/Shanghai", 8 * 3600);
    /// let nine: Option<DateTime> = DateTime::parse("2026-03-02T09:00:00");
    /// let moment = nine.and_then(|nine| test.phone().moment(nine));
    /// assert_eq!(moment.map(|moment| moment.to_rfc3339(0)).as_deref(), Some("2026-03-02T01:00:00Z"));
    /// # }
    /// ```
    pub fn moment(&self, local: DateTime) -> Option<Instant> {
        // The offset is that of a moment and not of a clock reading. Both offsets that may apply are those a day before and after.
        const DAY_S: i64 = 86_400;
        let seconds = local.seconds_as_utc();
        let at = |shift: i64| Instant::from_unix_s(seconds.saturating_add(shift).max(0));
        let before = self.offset_s(at(-DAY_S)?);
        let after = self.offset_s(at(DAY_S)?);
        let with = |offset: i32| Instant::from_unix_s(seconds.saturating_sub(i64::from(offset)));
        let earlier = with(before.max(after))?;
        let later = with(before.min(after))?;
        let holds = |moment: Instant| self.local(moment) == local;
        match (holds(earlier), holds(later)) {
            (true, _) => Some(earlier),
            (false, true) => Some(later),
            (false, false) => with(before),
        }
    }

    /// The next number of the plugin's own seeded stream.
    pub fn random(&mut self) -> u64 {
        self.port().random()
    }

    /// The next id of a counter, such as `note-0001` for `note`. `prefix` is 1 to 32 characters out of `a-z`, `0-9` and `_`, a letter first; the
    /// host traps on another one.
    pub fn next_id(&mut self, prefix: &str) -> String {
        self.port().next_id(prefix)
    }

    /// Calls a tool of another plugin within the running call: one transaction, so that its writes are gone when this call fails. Tool
    /// plugins only, and those whose `request.json` asks for the tool: `{"capability": "tool.call", "tools": ["add_event"]}`.
    ///
    /// It may need no more than the running call: no stronger effect and no further requirement. A destructive one needs the user's
    /// confirmation of exactly it. A call may make 64 of them.
    ///
    /// ```
    /// use loopwright_sdk::{CallError, Failure, Phone, Reply};
    /// use serde_json::{Value, json};
    ///
    /// /// Plans a meeting; where the calendar is not to be had, it says so and goes on.
    /// fn plan(phone: &mut Phone, title: &str) -> Result<Reply, Failure> {
    ///     match phone.call_tool::<Value>("add_event", &json!({"title": title})) {
    ///         Ok(event) => Ok(Reply::new("planned", json!({"event": event.data}))),
    ///         Err(CallError::Denied(_)) => Ok(Reply::new("noted without the calendar", json!({"event": null}))),
    ///         // A refusal of the calendar is this tool's refusal too.
    ///         Err(error) => Err(error.into()),
    ///     }
    /// }
    /// # #[cfg(not(target_family = "wasm"))] {
    /// use loopwright_sdk::testing::TestPhone;
    ///
    /// let refused = CallError::Failed(Failure::conflict("the hour is taken", "choose another"));
    /// let test = TestPhone::new().answers("add_event", [Ok(json!({"id": "event-1"})), Err(refused)]);
    /// assert_eq!(plan(&mut test.phone(), "tea")?.data, json!({"event": {"id": "event-1"}}));
    /// assert_eq!(plan(&mut test.phone(), "tea").unwrap_err().code(), Some(loopwright_sdk::Code::CONFLICT));
    /// assert_eq!(plan(&mut TestPhone::new().phone(), "tea")?.message, "noted without the calendar");
    /// # }
    /// # Ok::<(), loopwright_sdk::Failure>(())
    /// ```
    ///
    /// # Errors
    /// [`CallError`], which tells apart what the tool refused, what the host denied and code that failed; and [`CallError::Shape`] when
    /// `arguments` have no JSON form or the answer's data is no `D`. Arguments that are no JSON object trap.
    pub fn call_tool<D: DeserializeOwned>(
        &mut self,
        tool: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Result<Reply<D>, CallError> {
        let success = self.port().call_tool(tool, Json::of(arguments)?)?;
        Ok(Reply::new(success.message, success.data.parse()?))
    }

    /// Bytes that the plugin keeps from call to call of the episode. Tool plugins only, and those whose `request.json` asks for a quota:
    /// `{"capability": "scratch", "bytes": 65536}`.
    ///
    /// ```
    /// use loopwright_sdk::{Phone, ScratchError};
    ///
    /// /// Says how often it was asked in this episode.
    /// fn count(phone: &mut Phone) -> Result<u32, ScratchError> {
    ///     let count = phone.scratch().get_json::<u32>("count")?.unwrap_or_default() + 1;
    ///     phone.scratch().put_json("count", &count)?;
    ///     Ok(count)
    /// }
    /// # #[cfg(not(target_family = "wasm"))] {
    /// use loopwright_sdk::testing::TestPhone;
    ///
    /// let mut phone = TestPhone::new().scratch_bytes(1_000).phone();
    /// assert_eq!((count(&mut phone)?, count(&mut phone)?), (1, 2));
    /// phone.scratch().put("key", &[0xff, 0x00])?;
    /// assert_eq!(phone.scratch().get("key"), Some(vec![0xff, 0x00]));
    /// # }
    /// # Ok::<(), ScratchError>(())
    /// ```
    pub fn scratch(&mut self) -> Scratch<'_> {
        Scratch::new(self.port())
    }
}

impl Deref for Phone {
    type Target = PhoneView;

    fn deref(&self) -> &PhoneView {
        &self.view
    }
}
