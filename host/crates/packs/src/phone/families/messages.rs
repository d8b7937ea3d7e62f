//! Text messages.

use serde_json::json;

use super::category::{CROSS_APP, MISSING, ORDERED, QUERY, SINGLE};
use super::{Family, Phrases};
use crate::phone::plan::Plan;
use crate::phone::{pools, world};

pub(super) const FAMILIES: &[Family] =
    &[MESSAGE_SEND, MESSAGE_TO_WHOM, TWO_OF_A_NAME, NUMBER_PASSED_ON, MESSAGE_READ, CODE_WHICH];

const MESSAGE_SEND: Family = Family {
    name: "message-send",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Text {name}: \"{text}\".",
            "Send a message to {name} saying \"{text}\".",
            "Send {name} the SMS \"{text}\".",
            "Please write to {name}: \"{text}\".",
            "Let {name} know \"{text}\" by text.",
            "Drop {name} a line: \"{text}\".",
        ],
        zh: [
            "给{name}发短信：“{text}”。",
            "发消息给{name}说“{text}”。",
            "把短信“{text}”发给{name}。",
            "请写给{name}：“{text}”。",
            "用短信告诉{name}“{text}”。",
            "跟{name}说一声：“{text}”，发条信息。",
        ],
    }],
    plan: |draw| {
        let (name, phone) =
            draw.pick(&[("Alice Wang", "13811110001"), ("Bob Li", "13811110002"), ("妈妈", "13811110003")]);
        let text = draw.word(pools::MESSAGES);
        Plan::new()
            .word("name", name)
            .word("text", text)
            .call("send_message", json!({"contact": name, "content": text}))
            .exists("messages", &[("/peer", json!(phone)), ("/body", json!(text)), ("/direction", json!("out"))])
            .only(&["messages"])
    },
};

const MESSAGE_TO_WHOM: Family = Family {
    name: "message-to-whom",
    category: MISSING,
    phrases: &[
        Phrases {
            en: [
                "Send the text message \"{text}\".",
                "I want to send an SMS that says \"{text}\".",
                "Please text someone for me: \"{text}\".",
                "Send off a message with the words \"{text}\".",
                "Get this out by SMS: \"{text}\".",
                "A text has to go out, \"{text}\".",
            ],
            zh: [
                "发一条短信“{text}”。",
                "我想发短信，内容是“{text}”。",
                "请帮我发个消息给一个人：“{text}”。",
                "把“{text}”这句话用短信发出去。",
                "用短信把“{text}”送出去。",
                "有条信息要发，“{text}”。",
            ],
        },
        Phrases {
            en: [
                "Send the text message \"{text}\" to {name}.",
                "I want to send {name} an SMS that says \"{text}\".",
                "Please text {name} for me: \"{text}\".",
                "Send off a message to {name} with the words \"{text}\".",
                "Get this to {name} by SMS: \"{text}\".",
                "A text has to go out to {name}, \"{text}\".",
            ],
            zh: [
                "发一条短信“{text}”给{name}。",
                "我想给{name}发短信，内容是“{text}”。",
                "请帮我发个消息给{name}：“{text}”。",
                "把“{text}”这句话用短信发给{name}。",
                "用短信把“{text}”送到{name}那里。",
                "有条信息要发给{name}，“{text}”。",
            ],
        },
    ],
    plan: |draw| {
        let (name, phone) = draw.pick(&[("Alice Wang", "13811110001"), ("Bob Li", "13811110002")]);
        let text = draw.word(pools::MESSAGES);
        let words = ["who", "whom", "recipient", "contact", "number", "谁", "收件人", "联系人", "号码"];
        let plan = Plan::new().word("text", text);
        let plan = if draw.branch() {
            plan.slot("recipient", &words, name).ask(draw.say("Who should I send it to?", "要发给谁？")).asked(&words)
        } else {
            plan.word("name", name).phrased(1).category(SINGLE)
        };
        plan.call("send_message", json!({"contact": name, "content": text}))
            .exists("messages", &[("/peer", json!(phone)), ("/body", json!(text)), ("/direction", json!("out"))])
            .only(&["messages"])
    },
};

const TWO_OF_A_NAME: Family = Family {
    name: "two-of-a-name",
    category: MISSING,
    phrases: &[Phrases {
        en: [
            "Send {name} a message: \"{text}\". If there is more than one, ask me which.",
            "Text {name} \"{text}\"; when the name fits several contacts I'll tell you which.",
            "Message {name}: \"{text}\". Check with me if there are two of that name.",
            "I want to text \"{text}\" to {name}. There may be two, then ask.",
            "Write \"{text}\" to {name}; have me choose where several contacts fit.",
            "{name} should get \"{text}\" by SMS. Not sure which one? Ask.",
        ],
        zh: [
            "给{name}发消息“{text}”，同名的话问我是哪个。",
            "把“{text}”发给{name}，有几个同名联系人就问我。",
            "短信给{name}：“{text}”，若有两个{name}先跟我确认。",
            "我想发“{text}”给{name}，可能有重名，重名就问我。",
            "写“{text}”给{name}，分不清是谁让我选。",
            "{name}要收到短信“{text}”，不确定是哪位就问。",
        ],
    }],
    plan: |draw| {
        let name = draw.word(pools::PEOPLE);
        let text = draw.word(pools::MESSAGES);
        let (right, wrong) = (draw.phone(), draw.phone());
        let (key, other) = draw.pair(&["contact-k", "contact-m", "contact-r"]);
        let words = ["which", "who", "whom", "number", "several", "two", "哪", "谁", "号码", "两个"];
        let answer = if draw.tongue().tag() == "en" {
            format!("The one with the number {right}.")
        } else {
            format!("号码是{right}的那个。")
        };
        Plan::new()
            .word("name", name)
            .word("text", text)
            .put("contacts", key, world::contact(key, name, &right))
            .put("contacts", other, world::contact(other, name, &wrong))
            .slot("which", &words, answer)
            .call("search_contacts", json!({"name": name}))
            .ask(draw.say("There are two of that name. Which number?", "有两个同名联系人，是哪个号码？"))
            .call("send_message", json!({"phoneNumber": right, "content": text}))
            .asked(&words)
            .exists("messages", &[("/peer", json!(right)), ("/body", json!(text)), ("/direction", json!("out"))])
            .only(&["messages"])
    },
};

const NUMBER_PASSED_ON: Family = Family {
    name: "number-passed-on",
    category: CROSS_APP,
    phrases: &[Phrases {
        en: [
            "Look up {whose}'s number and text only the number to {name}.",
            "Send {name} a message that consists of {whose}'s phone number from my contacts, nothing else.",
            "{name} needs {whose}'s number: find it in the contacts and send just the digits as a message.",
            "Find the number of {whose} and message it to {name} without any other text.",
            "Pass {whose}'s digits from my phone book on to {name} by SMS, the digits alone.",
            "Text {name} how to reach {whose}: bare phone number from the address book.",
        ],
        zh: [
            "查{whose}的号码，用短信只把号码发给{name}。",
            "给{name}发一条消息，内容只有通讯录里{whose}的电话号码。",
            "{name}要{whose}的号码：在联系人里找到，只发数字。",
            "找到{whose}的号码，发短信给{name}，不要别的文字。",
            "把电话簿里{whose}的手机号短信转给{name}，只要数字。",
            "告诉{name}怎么联系{whose}，从电话簿里把号码单独发过去。",
        ],
    }],
    plan: |draw| {
        let whose = draw.word(pools::PEOPLE);
        let (name, peer) = draw.pick(&[("Alice Wang", "13811110001"), ("Bob Li", "13811110002")]);
        let phone = draw.phone();
        let key = draw.pick(&["contact-k", "contact-m", "contact-r"]);
        Plan::new()
            .word("whose", whose)
            .word("name", name)
            .put("contacts", key, world::contact(key, whose, &phone))
            .call("search_contacts", json!({"name": whose}))
            .call("send_message", json!({"contact": name, "content": phone}))
            .exists("messages", &[("/peer", json!(peer)), ("/body", json!(phone)), ("/direction", json!("out"))])
            .only(&["messages"])
    },
};

const MESSAGE_READ: Family = Family {
    name: "message-read",
    category: ORDERED,
    phrases: &[Phrases {
        en: [
            "Mark the message \"{text}\" as read.",
            "I've seen the text \"{text}\", mark it read.",
            "Set the SMS that says \"{text}\" to read.",
            "Find the message \"{text}\" and mark it as read.",
            "Get rid of the unread dot on \"{text}\".",
            "\"{text}\" is old news, it needn't show as unread.",
        ],
        zh: [
            "把短信“{text}”标为已读。",
            "“{text}”这条我看过了，标记已读。",
            "将内容是“{text}”的短信设为已读。",
            "找到消息“{text}”并标记为已读。",
            "去掉“{text}”这条的未读红点。",
            "“{text}”早看过了，别再显示未读。",
        ],
    }],
    plan: |draw| {
        let text = draw.word(pools::MESSAGES);
        let phone = draw.phone();
        let key = draw.pick(&["msg-k", "msg-m", "msg-r"]);
        Plan::new()
            .word("text", text)
            .put("messages", key, world::message(key, &phone, text))
            .call("search_messages", json!({"keyword": text}))
            .call("manage_message", json!({"action": "mark_read", "messageId": key}))
            .is("messages", key, "/read", true)
            .only(&["messages"])
    },
};

const CODE_WHICH: Family = Family {
    name: "code-which",
    category: QUERY,
    phrases: &[Phrases {
        en: [
            "What is the verification code in my messages from {sender}?",
            "Find the {sender} code in my texts.",
            "Which code did {sender} send me by SMS?",
            "Look in my messages for the {sender} verification code.",
            "I need the digits that {sender} texted me.",
            "Dig out the one-time password from {sender} in the inbox.",
        ],
        zh: [
            "{sender}发给我的短信验证码是多少？",
            "在短信里找{sender}的验证码。",
            "{sender}短信发的码是什么？",
            "查一下消息里{sender}的验证码。",
            "我要{sender}发来的那串数字。",
            "把收件箱里{sender}的一次性密码找出来。",
        ],
    }],
    plan: |draw| {
        let sender = draw.pick(&["Harbor Bank", "QuickMail", "RailGo", "CloudBox"]);
        let code = draw.number(100_000, 999_999, 1);
        let phone = draw.phone();
        let body = if draw.tongue().tag() == "en" {
            format!("{sender}: your verification code is {code}")
        } else {
            format!("【{sender}】您的验证码是{code}")
        };
        Plan::new()
            .word("sender", sender)
            .put("messages", "msg-k", world::message("msg-k", &phone, &body))
            .call("search_messages", json!({"keyword": sender}))
            .finish(code)
            .answers(&[&code.to_string()])
            .only(&[])
    },
};
