//! What the notes app does: plain functions over the phone's state.

use loopwright_sdk::{Doc, Failure, Phone, Query, Reply};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The collection of notes, by note id.
pub(crate) const COLLECTION: &str = "notes";

const FOLDER_DEFAULT: &str = "Notes";
const TITLE_CHARS_MAX: usize = 200;
const BODY_CHARS_MAX: usize = 20_000;
const NOTES_MAX: u32 = 1_000;
const LISTED_MAX: u32 = 50;

/// A note as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Note {
    title: String,
    body: String,
    folder: String,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    pinned: bool,
    #[serde(default)]
    created: String,
    #[serde(default)]
    updated: String,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Create,
    Update,
    Append,
    Delete,
    Search,
    Query,
}

/// The arguments of `manage_note`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Arguments {
    /// What to do.
    action: Action,
    /// The id of a note, as create, search and query answer it.
    note_id: Option<String>,
    /// create: the title. update: the new title. append, delete: the exact title of the note. search: part of the title.
    title: Option<String>,
    /// create: the text. update: the new text. append: the text to add as a new line. search: part of the text.
    content: Option<String>,
    /// create: where to put the note (default "Notes"). update: where to move it. search, query: only this folder.
    folder: Option<String>,
}

/// The answer of `manage_note`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// Whether the state changed.
    changed: bool,
    /// The note that was made, changed or asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<Listed>,
    /// The notes that match: pinned ones first, then the latest change first, then by id.
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<Vec<Listed>>,
    /// How many notes match in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u32>,
}

/// A note as the planner sees it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Listed {
    note_id: String,
    title: String,
    content: String,
    folder: String,
    pinned: bool,
    updated: String,
}

impl From<Doc<Note>> for Listed {
    fn from(doc: Doc<Note>) -> Self {
        Self {
            note_id: doc.key,
            title: doc.value.title,
            content: doc.value.body,
            folder: doc.value.folder,
            pinned: doc.value.pinned,
            updated: doc.value.updated,
        }
    }
}

/// Serves `manage_note`.
pub(crate) fn manage(phone: &mut Phone, arguments: Arguments) -> Result<Reply<Answer>, Failure> {
    match arguments.action {
        Action::Create => create(phone, arguments),
        Action::Update => update(phone, arguments),
        Action::Append => append(phone, arguments),
        Action::Delete => delete(phone, &arguments),
        Action::Search => search(phone, arguments),
        Action::Query => query(phone, arguments),
    }
}

fn create(phone: &mut Phone, arguments: Arguments) -> Result<Reply<Answer>, Failure> {
    let title = needed(arguments.title, "title", "a text", "create")?;
    let body = arguments.content.unwrap_or_default();
    let folder = arguments.folder.unwrap_or_else(|| FOLDER_DEFAULT.to_owned());
    check_title(&title)?;
    check_folder(&folder)?;
    check_body(&body)?;
    let total = phone.count(COLLECTION, &Query::new())?;
    if total >= NOTES_MAX {
        return Err(Failure::limit("the number of notes", NOTES_MAX, total + 1));
    }
    let now = stamp(phone);
    let note = Note { title, body, folder, tags: Vec::new(), pinned: false, created: now.clone(), updated: now };
    let key = phone.next_id("note");
    phone.put(COLLECTION, &key, &note)?;
    Ok(about("created the note", true, Doc { key, value: note }))
}

fn update(phone: &mut Phone, arguments: Arguments) -> Result<Reply<Answer>, Failure> {
    let id = needed(arguments.note_id, "noteId", "the id of a note", "update")?;
    if arguments.title.is_none() && arguments.content.is_none() && arguments.folder.is_none() {
        return Err(Failure::missing_argument("content", "a new `title`, `content` or `folder`", "action `update`"));
    }
    let before = by_id(phone, &id)?;
    let mut note = before.value.clone();
    if let Some(title) = arguments.title {
        check_title(&title)?;
        note.title = title;
    }
    if let Some(body) = arguments.content {
        check_body(&body)?;
        note.body = body;
    }
    if let Some(folder) = arguments.folder {
        check_folder(&folder)?;
        note.folder = folder;
    }
    let old = &before.value;
    if (&note.title, &note.body, &note.folder) == (&old.title, &old.body, &old.folder) {
        return Ok(about("the note is already so", false, before));
    }
    note.updated = stamp(phone);
    phone.put(COLLECTION, &id, &note)?;
    Ok(about("changed the note", true, Doc { key: id, value: note }))
}

fn append(phone: &mut Phone, arguments: Arguments) -> Result<Reply<Answer>, Failure> {
    let text = needed(arguments.content, "content", "a text", "append")?;
    let Doc { key, value: mut note } =
        identify(phone, arguments.note_id.as_deref(), arguments.title.as_deref(), "append")?;
    if !note.body.is_empty() {
        note.body.push('\n');
    }
    note.body.push_str(&text);
    check_body(&note.body)?;
    note.updated = stamp(phone);
    phone.put(COLLECTION, &key, &note)?;
    Ok(about("added to the note", true, Doc { key, value: note }))
}

fn delete(phone: &mut Phone, arguments: &Arguments) -> Result<Reply<Answer>, Failure> {
    let note = identify(phone, arguments.note_id.as_deref(), arguments.title.as_deref(), "delete")?;
    phone.delete(COLLECTION, &note.key)?;
    Ok(about("deleted the note", true, note))
}

fn search(phone: &Phone, arguments: Arguments) -> Result<Reply<Answer>, Failure> {
    if arguments.title.is_none() && arguments.content.is_none() && arguments.folder.is_none() {
        return Err(Failure::missing_argument(
            "content",
            "part of a `title` or `content`, or a `folder`",
            "action `search`",
        ));
    }
    let title = arguments.title.map(|part| part.to_lowercase());
    let body = arguments.content.map(|part| part.to_lowercase());
    let holds = |part: &Option<String>, text: &str| part.as_ref().is_none_or(|part| text.to_lowercase().contains(part));
    let found = in_folder(phone, arguments.folder)?;
    let found = found.into_iter().filter(|note| holds(&title, &note.value.title) && holds(&body, &note.value.body));
    Ok(listed(found.collect()))
}

fn query(phone: &Phone, arguments: Arguments) -> Result<Reply<Answer>, Failure> {
    match arguments.note_id {
        Some(id) => Ok(about("found the note", false, by_id(phone, &id)?)),
        None => Ok(listed(in_folder(phone, arguments.folder)?)),
    }
}

/// The notes of a folder, or all, in the order in which they are listed.
fn in_folder(phone: &Phone, folder: Option<String>) -> Result<Vec<Doc<Note>>, Failure> {
    let query = Query::new().descending("/pinned").descending("/updated");
    let query = match folder {
        Some(folder) => query.eq("/folder", folder),
        None => query,
    };
    Ok(phone.find_all(COLLECTION, &query)?)
}

/// The note that an id or an exact title names.
fn identify(phone: &Phone, id: Option<&str>, title: Option<&str>, action: &str) -> Result<Doc<Note>, Failure> {
    let (None, Some(title)) = (id, title) else {
        let needed = || {
            Failure::missing_argument("noteId", "the id of a note, or its exact `title`", &format!("action `{action}`"))
        };
        return by_id(phone, id.ok_or_else(needed)?);
    };
    let mut found: Vec<Doc<Note>> = phone.find_all(COLLECTION, &Query::new().eq("/title", title))?;
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            found.push(last);
            let candidates = found
                .into_iter()
                .map(|doc| json!({"noteId": doc.key, "title": doc.value.title, "folder": doc.value.folder}));
            Err(Failure::ambiguous("title", title, candidates))
        }
        (None, _) => Err(Failure::not_found("note with the title", title).with_allowed(known(phone)?)),
    }
}

fn by_id(phone: &Phone, id: &str) -> Result<Doc<Note>, Failure> {
    match phone.get(COLLECTION, id)? {
        Some(value) => Ok(Doc { key: id.to_owned(), value }),
        None => Err(Failure::not_found("note", id).with_allowed(known(phone)?)),
    }
}

/// The ids of the latest notes, as a hint.
fn known(phone: &Phone) -> Result<Vec<String>, Failure> {
    const HINTS_MAX: u32 = 10;
    let latest = Query::new().descending("/updated").fields(["/title"]).limit(HINTS_MAX);
    Ok(phone.keys(COLLECTION, &latest)?)
}

fn needed(argument: Option<String>, name: &str, allowed: &str, action: &str) -> Result<String, Failure> {
    argument.ok_or_else(|| Failure::missing_argument(name, allowed, &format!("action `{action}`")))
}

fn check_title(title: &str) -> Result<(), Failure> {
    check_short("title", title)
}

fn check_folder(folder: &str) -> Result<(), Failure> {
    check_short("folder", folder)
}

fn check_short(argument: &str, text: &str) -> Result<(), Failure> {
    let fits = !text.trim().is_empty() && text.chars().count() <= TITLE_CHARS_MAX && !text.contains('\n');
    match fits {
        true => Ok(()),
        false => Err(Failure::bad_argument(argument, format!("one line of 1 to {TITLE_CHARS_MAX} characters"), text)),
    }
}

fn check_body(body: &str) -> Result<(), Failure> {
    let found = body.chars().count();
    match found <= BODY_CHARS_MAX {
        true => Ok(()),
        false => Err(Failure::limit("the text of a note, in characters,", BODY_CHARS_MAX, found)),
    }
}

fn stamp(phone: &Phone) -> String {
    let now = phone.now();
    now.to_rfc3339(phone.offset_s(now))
}

fn about(what: &str, changed: bool, note: Doc<Note>) -> Reply<Answer> {
    let message = format!("{what} \"{}\"", note.value.title);
    let answer = Answer { changed, note: Some(note.into()), notes: None, total: None };
    Reply::new(message, answer)
}

fn listed(mut notes: Vec<Doc<Note>>) -> Reply<Answer> {
    let total = u32::try_from(notes.len()).unwrap_or(u32::MAX);
    notes.truncate(LISTED_MAX as usize);
    let answer = Answer {
        changed: false,
        note: None,
        notes: Some(notes.into_iter().map(Listed::from).collect()),
        total: Some(total),
    };
    let message = match total {
        0..=LISTED_MAX => format!("{total} notes match"),
        _ => format!("{total} notes match, the first {LISTED_MAX} are listed"),
    };
    Reply::new(message, answer)
}
