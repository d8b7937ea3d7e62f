//! People: adding, finding and changing them.

use loopwright_sdk::{Doc, Failure, Phone, Query, Reply};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The collection.
const PEOPLE: &str = "contacts";
/// Numbers and addresses of one person.
const ENTRIES_MAX: usize = 8;

/// A person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Person {
    id: String,
    name: String,
    phones: Vec<String>,
    emails: Vec<String>,
    relation: Option<String>,
    group: Option<String>,
    favourite: bool,
    created: String,
    modified: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct AddContact {
    /// The person's name, 1 to 60 characters.
    name: String,
    /// A phone number: 3 to 15 digits, perhaps with a leading +; spaces and hyphens are dropped.
    phone_number: Option<String>,
    /// A mail address.
    email: Option<String>,
    /// What the person is to the owner, such as `mother`.
    relation: Option<String>,
    /// A group, such as `work`.
    group: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct SearchContacts {
    /// A part of the name, upper and lower case alike.
    name: Option<String>,
    /// A part of a number.
    phone_number: Option<String>,
    /// The exact relation.
    relation: Option<String>,
    /// The exact group.
    group: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Update,
    Delete,
    Favourite,
    Unfavourite,
    Merge,
}

/// What `update` changes; a list replaces the old one.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Fields {
    /// The new name.
    name: Option<String>,
    /// The new number; it replaces all old ones.
    phone_number: Option<String>,
    /// The new mail address; it replaces all old ones.
    email: Option<String>,
    /// The new relation.
    relation: Option<String>,
    /// The new group.
    group: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ManageContact {
    /// What to do; `update` needs `fields`, `merge` needs `otherContactId`. `delete` and `merge` need the user's confirmation.
    action: Action,
    /// The contact's id, as search_contacts tells it.
    contact_id: String,
    /// What changes.
    fields: Option<Fields>,
    /// With `merge`: the contact that is added to the first one and then deleted.
    other_contact_id: Option<String>,
}

/// A number without spaces and hyphens.
fn number(text: &str) -> Result<String, Failure> {
    let clean: String = text.chars().filter(|character| !matches!(character, ' ' | '-')).collect();
    let digits = clean.strip_prefix('+').unwrap_or(&clean);
    let good = (3..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if good {
        Ok(clean)
    } else {
        Err(Failure::bad_argument("phoneNumber", "3 to 15 digits, perhaps with a leading +", text))
    }
}

fn address(text: &str) -> Result<String, Failure> {
    let good = text.len() <= 120
        && text.split_once('@').is_some_and(|(user, host)| {
            !user.is_empty() && host.contains('.') && !host.starts_with('.') && !host.ends_with('.')
        });
    if good && !text.contains(char::is_whitespace) {
        Ok(text.to_owned())
    } else {
        Err(Failure::bad_argument("email", "a mail address such as `name@host.example`", text))
    }
}

fn named(text: &str) -> Result<String, Failure> {
    let text = text.trim();
    if (1..=60).contains(&text.chars().count()) {
        Ok(text.to_owned())
    } else {
        Err(Failure::bad_argument("name", "1 to 60 characters", text))
    }
}

fn stamp(phone: &Phone) -> String {
    let now = phone.now();
    now.to_rfc3339(phone.offset_s(now))
}

pub(crate) fn add(phone: &mut Phone, arguments: AddContact) -> Result<Reply, Failure> {
    let name = named(&arguments.name)?;
    let phones: Vec<String> = arguments.phone_number.as_deref().map(number).transpose()?.into_iter().collect();
    let emails: Vec<String> = arguments.email.as_deref().map(address).transpose()?.into_iter().collect();
    let same = phone.find_all::<Person>(PEOPLE, &Query::new().eq("/name", name.as_str()))?;
    if let Some(known) = same.iter().find(|known| !phones.is_empty() && known.value.phones == phones) {
        return Err(Failure::conflict(
            &format!("`{name}` with this number is already a contact, `{}`", known.key),
            "change it with manage_contact",
        ));
    }
    let now = stamp(phone);
    let id = phone.next_id("contact");
    let person = Person {
        id: id.clone(),
        name,
        phones,
        emails,
        relation: arguments.relation,
        group: arguments.group,
        favourite: false,
        created: now.clone(),
        modified: now,
    };
    phone.put(PEOPLE, &id, &person)?;
    Ok(Reply::new(
        format!("`{}` added", person.name),
        json!({"changed": true, "contactId": id, "contact": told(&person)}),
    ))
}

/// A person as the tools tell it.
fn told(person: &Person) -> Value {
    json!({"contactId": person.id, "name": person.name, "phoneNumbers": person.phones, "emails": person.emails, "relation": person.relation, "group": person.group, "favourite": person.favourite})
}

pub(crate) fn search(phone: &mut Phone, arguments: SearchContacts) -> Result<Reply, Failure> {
    let part = arguments.name.as_deref().map(|name| name.trim().to_lowercase());
    let digits: Option<String> =
        arguments.phone_number.map(|number| number.chars().filter(char::is_ascii_digit).collect());
    let mut people: Vec<Person> = phone
        .find_all::<Person>(PEOPLE, &Query::new().ascending("/name"))?
        .into_iter()
        .map(|doc: Doc<Person>| doc.value)
        .collect();
    people.retain(|person| {
        part.as_ref().is_none_or(|part| person.name.to_lowercase().contains(part))
            && digits.as_ref().is_none_or(|digits| person.phones.iter().any(|number| number.contains(digits)))
            && arguments.relation.as_ref().is_none_or(|relation| person.relation.as_ref() == Some(relation))
            && arguments.group.as_ref().is_none_or(|group| person.group.as_ref() == Some(group))
    });
    let contacts: Vec<Value> = people.iter().map(told).collect();
    Ok(Reply::new(format!("{} contacts", contacts.len()), json!({"total": contacts.len(), "contacts": contacts})))
}

fn person(phone: &Phone, argument: &str, id: &str) -> Result<Person, Failure> {
    phone.get(PEOPLE, id)?.ok_or_else(|| Failure::not_found("contact", id).with_data("argument", argument))
}

pub(crate) fn manage(phone: &mut Phone, arguments: ManageContact) -> Result<Reply, Failure> {
    let id = arguments.contact_id;
    let before = person(phone, "contactId", &id)?;
    let mut after = before.clone();
    match arguments.action {
        Action::Delete => {
            phone.delete(PEOPLE, &id)?;
            return Ok(Reply::new(
                format!("`{}` deleted; messages keep the number", before.name),
                json!({"changed": true, "contactId": id}),
            ));
        }
        Action::Favourite => after.favourite = true,
        Action::Unfavourite => after.favourite = false,
        Action::Update => change(
            &mut after,
            arguments.fields.as_ref().ok_or_else(|| Failure::missing_argument("fields", "what changes", "`update`"))?,
        )?,
        Action::Merge => {
            let other = arguments
                .other_contact_id
                .ok_or_else(|| Failure::missing_argument("otherContactId", "the id of the other contact", "`merge`"))?;
            if other == id {
                return Err(Failure::bad_argument("otherContactId", "another contact than contactId", other));
            }
            merge(&mut after, &person(phone, "otherContactId", &other)?)?;
            phone.delete(PEOPLE, &other)?;
        }
    }
    let changed = after != before || arguments.action == Action::Merge;
    if changed {
        after.modified = stamp(phone);
        phone.put(PEOPLE, &id, &after)?;
    }
    Ok(Reply::new(
        format!("`{}` {}", after.name, if changed { "changed" } else { "was already so" }),
        json!({"changed": changed, "contactId": id, "contact": told(&after)}),
    ))
}

fn change(person: &mut Person, fields: &Fields) -> Result<(), Failure> {
    if let Some(name) = &fields.name {
        person.name = named(name)?;
    }
    if let Some(text) = &fields.phone_number {
        person.phones = vec![number(text)?];
    }
    if let Some(text) = &fields.email {
        person.emails = vec![address(text)?];
    }
    if fields.relation.is_some() {
        person.relation.clone_from(&fields.relation);
    }
    if fields.group.is_some() {
        person.group.clone_from(&fields.group);
    }
    Ok(())
}

fn merge(person: &mut Person, other: &Person) -> Result<(), Failure> {
    for (entries, others, argument) in
        [(&mut person.phones, &other.phones, "numbers"), (&mut person.emails, &other.emails, "addresses")]
    {
        for entry in others {
            if !entries.contains(entry) {
                entries.push(entry.clone());
            }
        }
        if entries.len() > ENTRIES_MAX {
            return Err(Failure::limit(argument, ENTRIES_MAX, entries.len()));
        }
    }
    person.relation = person.relation.take().or_else(|| other.relation.clone());
    person.group = person.group.take().or_else(|| other.group.clone());
    person.favourite |= other.favourite;
    Ok(())
}
