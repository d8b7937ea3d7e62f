//! Notes, calculations, units and currencies.

use serde_json::json;

use super::category::{CONFIRM, CROSS_APP, ORDERED, QUERY, SINGLE};
use super::{Family, Phrases};
use crate::phone::plan::Plan;
use crate::phone::{pools, world};

pub(super) const FAMILIES: &[Family] =
    &[NOTE_CREATE, NOTE_APPEND, NOTE_DELETE, EXPRESSION, UNIT, CURRENCY_OFFLINE, CURRENCY_NOTED];

const NOTE_CREATE: Family = Family {
    name: "note-create",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Make a note titled {title}: \"{body}\".",
            "Create a note called {title} with the text \"{body}\".",
            "New note: title {title}, content \"{body}\".",
            "Write a note {title} that says \"{body}\".",
            "Jot down \"{body}\" under the heading {title}.",
            "Keep in mind for me, as {title}: \"{body}\". A memo will do.",
        ],
        zh: [
            "新建标题为{title}的笔记：“{body}”。",
            "创建一条叫{title}的笔记，内容“{body}”。",
            "新笔记：标题{title}，内容“{body}”。",
            "写一条笔记{title}，写上“{body}”。",
            "在{title}这个标题下记下“{body}”。",
            "帮我记着“{body}”，备忘叫{title}。",
        ],
    }],
    plan: |draw| {
        let (title, body) = draw.pick(pools::NOTES);
        let (title, body) = (draw.tongue().of(title), draw.tongue().of(body));
        Plan::new()
            .word("title", title)
            .word("body", body)
            .call("manage_note", json!({"action": "create", "title": title, "content": body}))
            .exists("notes", &[("/title", json!(title)), ("/body", json!(body))])
            .only(&["notes"])
    },
};

const NOTE_APPEND: Family = Family {
    name: "note-append",
    category: ORDERED,
    phrases: &[Phrases {
        en: [
            "Add \"{more}\" to my note {title}.",
            "Append \"{more}\" to the note called {title}.",
            "My note {title} should also say \"{more}\" at the end.",
            "Put \"{more}\" at the end of the note {title}.",
            "Extend the {title} memo by \"{more}\".",
            "One more line for {title} in my notes: \"{more}\".",
        ],
        zh: [
            "在我的笔记{title}里加上“{more}”。",
            "给名为{title}的笔记追加“{more}”。",
            "我的笔记{title}末尾还要写“{more}”。",
            "把“{more}”放到笔记{title}的最后。",
            "{title}那条备忘再补一句“{more}”。",
            "笔记{title}里多写一行：“{more}”。",
        ],
    }],
    plan: |draw| {
        let (title, body) = draw.pick(pools::NOTES);
        let (title, body) = (draw.tongue().of(title), draw.tongue().of(body));
        let more = draw.word(&[
            ("ask Lena about it", "问问丽娜"),
            ("finish by Friday", "周五前完成"),
            ("buy two of them", "买两份"),
            ("see page 40", "看第40页"),
        ]);
        let key = draw.pick(&["note-k", "note-m", "note-r"]);
        Plan::new()
            .word("title", title)
            .word("more", more)
            .put("notes", key, world::note(title, body))
            .call("manage_note", json!({"action": "search", "title": title}))
            .call("manage_note", json!({"action": "append", "noteId": key, "content": more}))
            .row(json!({"collection": "notes", "key": key, "field": "/body", "matches": {"starts_with": body}}))
            .row(json!({"collection": "notes", "key": key, "field": "/body", "matches": {"contains": more}}))
            .reaches_gold()
    },
};

const NOTE_DELETE: Family = Family {
    name: "note-delete",
    category: CONFIRM,
    phrases: &[Phrases {
        en: [
            "Delete the note {title}.",
            "Remove my note called {title}.",
            "I don't need the note {title} any longer, delete it.",
            "Erase the note with the title {title}.",
            "The memo {title} can be thrown away.",
            "Bin what I wrote down under {title}.",
        ],
        zh: [
            "删除笔记{title}。",
            "把我名为{title}的笔记移除。",
            "不需要{title}这条笔记了，删掉。",
            "清除标题为{title}的笔记。",
            "{title}那条备忘可以扔了。",
            "我记在{title}下面的东西删了吧。",
        ],
    }],
    plan: |draw| {
        let (gone, kept) = draw.pair(pools::NOTES);
        let tongue = draw.tongue();
        let (key, other) = draw.pair(&["note-k", "note-m", "note-r"]);
        Plan::new()
            .word("title", tongue.of(gone.0))
            .put("notes", key, world::note(tongue.of(gone.0), tongue.of(gone.1)))
            .put("notes", other, world::note(tongue.of(kept.0), tongue.of(kept.1)))
            .call("manage_note", json!({"action": "search", "title": tongue.of(gone.0)}))
            .confirmed(
                "manage_note",
                json!({"action": "delete", "noteId": key}),
                draw.say("Shall I delete this note?", "确定删除这条笔记吗？"),
            )
            .absent("notes", &[("/title", json!(tongue.of(gone.0)))])
            .reaches_gold()
    },
};

const EXPRESSION: Family = Family {
    name: "expression",
    category: QUERY,
    phrases: &[Phrases {
        en: [
            "What is {a} times {b} plus {c}?",
            "Calculate {a} * {b} + {c}.",
            "How much is {a} × {b} + {c}?",
            "Work out {a} times {b}, plus {c}.",
            "Multiply {a} by {b} and add {c}. What comes out?",
            "Do the sum for me: {a} lots of {b}, with {c} on top.",
        ],
        zh: [
            "{a}乘以{b}再加{c}等于多少？",
            "计算{a} * {b} + {c}。",
            "{a}×{b}+{c}是多少？",
            "算一下{a}乘{b}加{c}。",
            "用{a}乘{b}，再加上{c}，结果是几？",
            "帮我算算，{b}个{a}另加{c}一共多少。",
        ],
    }],
    plan: |draw| {
        let (a, b, c) = (draw.number(12, 29, 1), draw.number(13, 33, 1), draw.number(11, 99, 1));
        let answer = (a * b + c).to_string();
        Plan::new()
            .word("a", a)
            .word("b", b)
            .word("c", c)
            .call("calculate_expression", json!({"expression": format!("{a} * {b} + {c}")}))
            .finish(&answer)
            .answers(&[&answer])
            .only(&[])
    },
};

const UNIT: Family = Family {
    name: "unit",
    category: QUERY,
    phrases: &[Phrases {
        en: [
            "How many {to} are {value} {from}?",
            "Convert {value} {from} to {to}.",
            "What is {value} {from} in {to}?",
            "{value} {from}: how much is that in {to}?",
            "Turn {value} {from} into {to} for me.",
            "Express {value} {from} as {to}.",
        ],
        zh: [
            "{value}{from}是多少{to}？",
            "把{value}{from}换算成{to}。",
            "{value}{from}等于几{to}？",
            "{value}{from}，换成{to}是多少？",
            "帮我将{value}{from}转为{to}。",
            "用{to}表示{value}{from}。",
        ],
    }],
    plan: |draw| {
        let (category, from, to, factor, english, chinese) = draw.pick(&[
            ("length", "kilometer", "meter", 1000, ("kilometers", "meters"), ("公里", "米")),
            ("mass", "kilogram", "gram", 1000, ("kilograms", "grams"), ("千克", "克")),
            ("volume", "liter", "milliliter", 1000, ("liters", "milliliters"), ("升", "毫升")),
            ("length", "meter", "centimeter", 100, ("meters", "centimeters"), ("米", "厘米")),
        ]);
        let value = draw.number(3, 97, 1);
        let (spoken_from, spoken_to) =
            (draw.tongue().of((english.0, chinese.0)), draw.tongue().of((english.1, chinese.1)));
        let answer = (value * factor).to_string();
        Plan::new()
            .word("value", value)
            .word("from", spoken_from)
            .word("to", spoken_to)
            .call("convert_unit", json!({"category": category, "fromUnit": from, "toUnit": to, "value": value}))
            .finish(&answer)
            .answers(&[&answer])
            .only(&[])
    },
};

const CURRENCY_OFFLINE: Family = Family {
    name: "currency-offline",
    category: ORDERED,
    phrases: &[Phrases {
        en: [
            "How many yuan are {amount} US dollars? The phone is offline, so turn on mobile data first.",
            "Turn on mobile data and convert {amount} USD to CNY.",
            "I'm offline. Switch mobile data on, then tell me what {amount} dollars are in yuan.",
            "Enable mobile data, and find out how much {amount} USD is in CNY.",
            "Get online with cellular data and exchange {amount} dollars into yuan for me.",
            "{amount} bucks in renminbi? You'll have to start mobile internet before you look.",
        ],
        zh: [
            "{amount}美元是多少人民币？手机没网，先打开移动数据。",
            "打开移动数据，把{amount}美元换算成人民币。",
            "我断网了，打开流量再告诉我{amount}美元等于多少人民币。",
            "启用移动数据，查一下{amount}美元合多少人民币。",
            "用蜂窝数据上网，帮我把{amount}美金换成人民币。",
            "{amount}刀折合多少元？得先开手机流量再查。",
        ],
    }],
    plan: |draw| {
        let amount = draw.number(20, 130, 10);
        let answer = (amount * 72 / 10).to_string();
        Plan::new()
            .word("amount", amount)
            .put("rates", "CNY", json!({"code": "CNY", "per_usd_micros": 7_200_000, "dated": "2026-03-01"}))
            .put("net", "wifi", world::wifi(None))
            .patch("net", "mobile", json!({"on": false}))
            .call("manage_mobile_data", json!({"action": "enable"}))
            .call("convert_currency", json!({"amount": amount, "fromCurrency": "USD", "toCurrency": "CNY"}))
            .finish(&answer)
            .answers(&[&answer])
            .is("net", "mobile", "/on", true)
            .only(&["net/mobile"])
    },
};

const CURRENCY_NOTED: Family = Family {
    name: "currency-noted",
    category: CROSS_APP,
    phrases: &[Phrases {
        en: [
            "Convert {amount} USD to CNY and save the whole number as a note titled {title}.",
            "Make a note titled {title} with what {amount} US dollars are in yuan, the number only.",
            "How many yuan are {amount} dollars? Write only that number in a new note called {title}.",
            "Work out {amount} USD in CNY and put just the number into a note {title}.",
            "Exchange {amount} dollars to yuan and jot the bare figure down under {title}.",
            "I want a memo headed {title} holding the renminbi figure for {amount} bucks.",
        ],
        zh: [
            "把{amount}美元换算成人民币，整数结果存为标题{title}的笔记。",
            "新建标题为{title}的笔记，内容是{amount}美元合多少人民币，只写数字。",
            "{amount}美元是多少人民币？把数字单独写进叫{title}的新笔记。",
            "算出{amount}美元的人民币金额，只把数字放进笔记{title}。",
            "{amount}美金换成元，把光秃秃的数字记在{title}下面。",
            "我要一条叫{title}的备忘，写{amount}刀折合的人民币数。",
        ],
    }],
    plan: |draw| {
        let amount = draw.number(20, 130, 10);
        let answer = (amount * 72 / 10).to_string();
        let title =
            draw.word(&[("Budget", "预算"), ("Exchange", "换汇"), ("Trip money", "旅费"), ("Price check", "比价")]);
        Plan::new()
            .word("amount", amount)
            .word("title", title)
            .put("rates", "CNY", json!({"code": "CNY", "per_usd_micros": 7_200_000, "dated": "2026-03-01"}))
            .call("convert_currency", json!({"amount": amount, "fromCurrency": "USD", "toCurrency": "CNY"}))
            .call("manage_note", json!({"action": "create", "title": title, "content": answer}))
            .row(json!({"collection": "notes", "exists": {"where": [{"at": "/title", "test": "eq", "value": title}, {"at": "/body", "test": "contains", "value": answer}]}}))
            .only(&["notes"])
    },
};
