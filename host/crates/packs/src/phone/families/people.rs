//! Contacts.

use serde_json::json;

use super::category::{CONFIRM, ORDERED, QUERY, SINGLE};
use super::{Family, Phrases};
use crate::phone::plan::Plan;
use crate::phone::{pools, world};

pub(super) const FAMILIES: &[Family] =
    &[CONTACT_ADD, CONTACT_NUMBER, CONTACT_RENAME, CONTACT_DELETE, CONTACT_FAVOURITE];

const CONTACT_ADD: Family = Family {
    name: "contact-add",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Add {name} to my contacts, the number is {phone}.",
            "Save the contact {name} with the phone number {phone}.",
            "Create a new contact: {name}, {phone}.",
            "Please store {name}'s number {phone} in the contacts.",
            "{phone} belongs to {name}, put it in the address book.",
            "New entry in the phone book, {name} at {phone}.",
        ],
        zh: [
            "把{name}加到通讯录，号码是{phone}。",
            "保存联系人{name}，电话{phone}。",
            "新建联系人：{name}，{phone}。",
            "请把{name}的号码{phone}存进联系人。",
            "{phone}是{name}的，存到电话簿。",
            "电话簿加一条，{name}，{phone}。",
        ],
    }],
    plan: |draw| {
        let name = draw.word(pools::PEOPLE);
        let phone = draw.phone();
        Plan::new()
            .word("name", name)
            .word("phone", &phone)
            .call("add_contact", json!({"name": name, "phoneNumber": phone}))
            .row(json!({"collection": "contacts", "exists": {"where": [{"at": "/name", "test": "eq", "value": name}, {"at": "/phones", "test": "contains", "value": phone}]}}))
            .only(&["contacts"])
    },
};

const CONTACT_NUMBER: Family = Family {
    name: "contact-number",
    category: QUERY,
    phrases: &[Phrases {
        en: [
            "What is {name}'s phone number? Just the digits.",
            "Look up the number of {name} in my contacts.",
            "Find {name} in my contacts and tell me the phone number.",
            "Which number do I have saved for {name}?",
            "How can I call {name}, what's on file?",
            "Read me {name}'s digits from the address book.",
        ],
        zh: [
            "{name}的电话号码是多少？",
            "在通讯录里查{name}的号码。",
            "从联系人中找到{name}，告诉我电话。",
            "我存的{name}的号码是什么？",
            "怎么打给{name}，登记的是哪个号？",
            "念一下电话簿里{name}的手机号。",
        ],
    }],
    plan: |draw| {
        let name = draw.word(pools::PEOPLE);
        let phone = draw.phone();
        let key = draw.pick(&["contact-k", "contact-m", "contact-r"]);
        Plan::new()
            .word("name", name)
            .put("contacts", key, world::contact(key, name, &phone))
            .call("search_contacts", json!({"name": name}))
            .finish(&phone)
            .answers(&[&phone])
            .only(&[])
    },
};

const CONTACT_RENAME: Family = Family {
    name: "contact-rename",
    category: ORDERED,
    phrases: &[Phrases {
        en: [
            "Rename the contact {name} to {new}.",
            "Change {name}'s name in my contacts to {new}.",
            "The contact {name} is called {new} now, update it.",
            "Edit the contact {name}: the name should be {new}.",
            "{name} got married, put {new} in the address book instead.",
            "In the phone book, {name} must become {new}.",
        ],
        zh: [
            "把联系人{name}改名为{new}。",
            "通讯录里{name}的名字改成{new}。",
            "联系人{name}现在叫{new}，更新一下。",
            "编辑联系人{name}，姓名改为{new}。",
            "{name}改名了，电话簿里换成{new}。",
            "电话簿上的{name}要变成{new}。",
        ],
    }],
    plan: |draw| {
        let (name, new) = draw.pair(pools::PEOPLE);
        let (name, new) = (draw.tongue().of(name), draw.tongue().of(new));
        let phone = draw.phone();
        let key = draw.pick(&["contact-k", "contact-m", "contact-r"]);
        Plan::new()
            .word("name", name)
            .word("new", new)
            .put("contacts", key, world::contact(key, name, &phone))
            .put("messages", "msg-k", world::message("msg-k", &phone, draw.word(pools::MESSAGES)))
            .call("search_contacts", json!({"name": name}))
            .call("manage_contact", json!({"action": "update", "contactId": key, "fields": {"name": new}}))
            .is("contacts", key, "/name", new)
            .is("messages", "msg-k", "/peer", phone)
            .only(&["contacts"])
    },
};

const CONTACT_DELETE: Family = Family {
    name: "contact-delete",
    category: CONFIRM,
    phrases: &[Phrases {
        en: [
            "Delete {name} from my contacts but keep the messages.",
            "Remove the contact {name}, the messages stay.",
            "I don't need the contact {name} any more, delete it. Leave the texts alone.",
            "Take {name} out of my contacts, and don't touch the chat.",
            "Erase {name} from the address book; what we wrote must survive.",
            "Get {name} off the phone book without losing our texts.",
        ],
        zh: [
            "从通讯录删除{name}，短信保留。",
            "移除联系人{name}，消息留着。",
            "不需要联系人{name}了，删掉，短信别动。",
            "把{name}从联系人里去掉，聊天记录不要碰。",
            "电话簿里抹掉{name}，我们写过的得留下。",
            "把{name}清出电话簿，短信不能丢。",
        ],
    }],
    plan: |draw| {
        let name = draw.word(pools::PEOPLE);
        let phone = draw.phone();
        let key = draw.pick(&["contact-k", "contact-m", "contact-r"]);
        Plan::new()
            .word("name", name)
            .put("contacts", key, world::contact(key, name, &phone))
            .put("messages", "msg-k", world::message("msg-k", &phone, draw.word(pools::MESSAGES)))
            .call("search_contacts", json!({"name": name}))
            .confirmed(
                "manage_contact",
                json!({"action": "delete", "contactId": key}),
                draw.say("Shall I delete this contact?", "确定要删除这个联系人吗？"),
            )
            .absent("contacts", &[("/name", json!(name))])
            .is("messages", "msg-k", "/peer", phone)
            .only(&["contacts"])
    },
};

const CONTACT_FAVOURITE: Family = Family {
    name: "contact-favourite",
    category: ORDERED,
    phrases: &[Phrases {
        en: [
            "Mark {name} as a favourite contact.",
            "Add my contact {name} to the favourites.",
            "Make {name} one of my favourite contacts.",
            "Star the contact {name}.",
            "{name} belongs among the people I call most, favourite them.",
            "Pin {name} to the favourites of the address book.",
        ],
        zh: [
            "把{name}设为收藏联系人。",
            "将联系人{name}加入收藏。",
            "把{name}标为我的常用收藏联系人。",
            "给联系人{name}加星标收藏。",
            "{name}是我最常联系的人，收藏起来。",
            "电话簿收藏夹里加上{name}。",
        ],
    }],
    plan: |draw| {
        let name = draw.word(pools::PEOPLE);
        let key = draw.pick(&["contact-k", "contact-m", "contact-r"]);
        Plan::new()
            .word("name", name)
            .put("contacts", key, world::contact(key, name, &draw.phone()))
            .call("search_contacts", json!({"name": name}))
            .call("manage_contact", json!({"action": "favourite", "contactId": key}))
            .is("contacts", key, "/favourite", true)
            .only(&["contacts"])
    },
};
