//! The contacts app. It knows no other app: messages keep a number, and look the name up here, so a deleted contact leaves them whole and a
//! new name shows everywhere (world rule 10).

mod people;

use loopwright_sdk::{Collection, Identity, Requirement, Storage, Tool, ToolPlugin, identity};
use serde_json::{Value, json};

/// The domain of every tool here.
const DOMAIN: &str = "calls_communication";

struct Contacts;

impl ToolPlugin for Contacts {
    const IDENTITY: Identity = identity!("contacts");

    fn tools() -> Vec<Tool> {
        let permission = Requirement::Permission("contacts");
        vec![
            Tool::new("add_contact", people::add)
                .domain(DOMAIN)
                .en(
                    "Creates a contact with a name and, where given, number, mail address, relation and group.",
                    "add contact, new contact, save number, save phone number, create contact, add to address book, new person, store his number, remember this number",
                )
                .zh("新建联系人：姓名，以及号码、邮箱、关系和分组。", "新建联系人 添加联系人 保存号码 存电话 存一下号码 加到通讯录 记下电话 新联系人")
                .writes()
                .requires(permission),
            Tool::new("search_contacts", people::search)
                .domain(DOMAIN)
                .en(
                    "Finds contacts by name, number, relation or group; all of them when nothing is given.",
                    "search contacts, find contact, look up number, what is the phone number of, contact details, address book, who is, list contacts, email of, phone book, whose number, several people with the same name, message or call a person by name, ring tone for a person, ask which one",
                )
                .zh("按姓名、号码、关系或分组查找联系人；不填则列出全部。", "查找联系人 搜索联系人 电话号码是多少 查电话 通讯录 谁的号码 联系人列表 联系方式 电话簿 同名 重名 哪一个 给某人发消息 给某人打电话 某人的铃声")
                .reads()
                .requires(permission),
            Tool::new("manage_contact", people::manage)
                .domain(DOMAIN)
                .en(
                    "Changes, deletes or merges contacts, or marks one as a favourite.",
                    "edit contact, change number, rename contact, delete contact, remove contact, favourite contact, favorite, star contact, merge duplicates, update phone number, unfavourite, erase contact, take off the phone book, get rid of a contact, forget this person, keep the messages",
                )
                .zh("修改、删除、合并联系人，或收藏联系人。", "修改联系人 改号码 改名字 删除联系人 收藏联系人 合并联系人 更新电话 取消收藏 重复联系人 从通讯录删掉 移除联系人 电话簿 保留短信")
                .when("action", &["delete", "merge"])
                .destructive()
                .requires(permission)
                .writes()
                .requires(permission),
        ]
    }

    fn storage() -> Storage {
        let person = |id: &str, name: &str, phone: &str, relation: Value| json!({"id": id, "name": name, "phones": [phone], "emails": [], "relation": relation, "group": null, "favourite": false, "created": "2026-01-05T10:00:00+08:00", "modified": "2026-01-05T10:00:00+08:00"});
        Storage::new().owns(
            Collection::new("contacts")
                .documents::<people::Person>()
                .bookkeeping("/created")
                .bookkeeping("/modified")
                .index("/name")
                .initial("contact-a", person("contact-a", "Alice Wang", "13811110001", json!("colleague")))
                .initial("contact-b", person("contact-b", "Bob Li", "13811110002", Value::Null))
                .initial("contact-c", person("contact-c", "妈妈", "13811110003", json!("mother"))),
        )
    }
}

loopwright_sdk::export_tool!(Contacts);

#[cfg(test)]
mod tests;
