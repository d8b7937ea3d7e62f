//! What the user wants kept, changed and forgotten.

use serde_json::json;

use super::category::{CONFIRM, MEMORY};
use super::recall::two_ids;
use super::{Family, Phrases};
use crate::phone::draw::{Draw, Two};
use crate::phone::plan::Plan;
use crate::phone::world;

pub(super) const FAMILIES: &[Family] = &[KEEP_CODE, CHANGED_CODE, NEW_SIZE, FORGET_CODE, FORGET_CALLED_OFF];

const LOCKS: &[Two] = &[
    ("bicycle lock", "自行车锁"),
    ("office cabinet", "办公柜"),
    ("suitcase", "行李箱"),
    ("garden gate", "院门"),
    ("gym locker", "健身房储物柜"),
    ("mailbox", "信箱"),
];

/// Two things with a code each: the one that is meant, and another.
struct Codes {
    meant: &'static str,
    other: &'static str,
    ids: (&'static str, &'static str),
    code: i64,
    other_code: i64,
}

impl Codes {
    fn draw(draw: &mut Draw) -> Self {
        let (meant, other) = draw.pair(LOCKS);
        let tongue = draw.tongue();
        Self {
            meant: tongue.of(meant),
            other: tongue.of(other),
            ids: two_ids(draw),
            code: draw.number(1001, 4999, 1),
            other_code: draw.number(5001, 8999, 1),
        }
    }

    /// The plan in whose memory both are.
    fn known(&self, draw: &Draw) -> Plan {
        let (meant, other) = self.ids;
        let record = |key: &str, content: &str| world::memory(key, "long_term", "important_info", content);
        Plan::new()
            .word("thing", self.meant)
            .put("memory", meant, record(meant, &says(draw, self.meant, self.code)))
            .put("memory", other, record(other, &says(draw, self.other, self.other_code)))
            .recall(match draw.tongue().tag() {
                "zh" => format!("{}的密码", self.meant),
                _ => format!("code of the {}", self.meant),
            })
    }
}

fn says(draw: &Draw, thing: &str, code: i64) -> String {
    match draw.tongue().tag() {
        "zh" => format!("{thing}的密码是{code}"),
        _ => format!("The code of the {thing} is {code}"),
    }
}

const KEEP_CODE: Family = Family {
    name: "keep-code",
    category: MEMORY,
    phrases: &[Phrases {
        en: [
            "Remember that the code of the {thing} is {code}.",
            "Keep in mind for me: the {thing} has the code {code}.",
            "Please memorise this: {code} opens the {thing}.",
            "Save to your memory that the {thing}'s code is {code}.",
            "Don't forget: {thing}, code {code}.",
            "I'll need this later, so remember it: {code} for the {thing}.",
        ],
        zh: [
            "记住，{thing}的密码是{code}。",
            "帮我记着：{thing}的密码为{code}。",
            "请记下来：{code}可以打开{thing}。",
            "把{thing}的密码{code}存到你的记忆里。",
            "别忘了：{thing}，密码{code}。",
            "我以后要用，先记住：{thing}是{code}。",
        ],
    }],
    plan: |draw| {
        let codes = Codes::draw(draw);
        let (_, other) = codes.ids;
        let kept = says(draw, codes.other, codes.other_code);
        Plan::new()
            .word("thing", codes.meant)
            .word("code", codes.code)
            .put("memory", other, world::memory(other, "long_term", "important_info", &kept))
            .remember(says(draw, codes.meant, codes.code), "important_info")
            .says("memory", "/content", &codes.code.to_string(), &[])
            .has("memory", other, "/superseded_by", false)
            .is("memory", other, "/content", kept)
            .only(&["memory"])
    },
};

const CHANGED_CODE: Family = Family {
    name: "changed-code",
    category: MEMORY,
    phrases: &[Phrases {
        en: [
            "The code of the {thing} is {new} now, update what you remember.",
            "Correct your memory: the {thing} has the new code {new}.",
            "I changed the {thing}'s code to {new}; replace the old one in your memory.",
            "Please update the remembered code of the {thing} to {new}.",
            "What you know about the {thing} is outdated, its code is {new}.",
            "{new} is what opens the {thing} from now on, so mend what you have stored.",
        ],
        zh: [
            "{thing}的密码现在是{new}，更新你的记忆。",
            "更正一下记忆：{thing}的新密码是{new}。",
            "我把{thing}的密码改成{new}了，替换你记的旧密码。",
            "请把记住的{thing}密码更新为{new}。",
            "你记的{thing}密码过时了，现在是{new}。",
            "以后用{new}开{thing}，把存的改过来。",
        ],
    }],
    plan: |draw| {
        let codes = Codes::draw(draw);
        let (meant, other) = codes.ids;
        let new = draw.number(9001, 9999, 1);
        codes
            .known(draw)
            .word("new", new)
            .replace(meant, says(draw, codes.meant, new))
            .has("memory", meant, "/superseded_by", true)
            .has("memory", other, "/superseded_by", false)
            .is("memory", other, "/content", says(draw, codes.other, codes.other_code))
            .says("memory", "/content", &new.to_string(), &[("/supersedes", json!(meant))])
            .only(&["memory"])
    },
};

const NEW_SIZE: Family = Family {
    name: "new-size",
    category: MEMORY,
    phrases: &[Phrases {
        en: [
            "I wear {what} size {new} now. Replace what you remember.",
            "My {what} size has changed to {new}, update your memory.",
            "Please correct the remembered {what} size: it is {new}.",
            "Change what you know of my {what} size to {new}.",
            "From now on it's {new} for {what}, the stored size is wrong.",
            "Your note on my {what} size is old; {new} is right.",
        ],
        zh: [
            "我现在穿{new}码的{what}，把你记的换掉。",
            "我的{what}尺码变成{new}了，更新记忆。",
            "请更正记住的{what}尺码：是{new}。",
            "把你知道的我的{what}尺码改成{new}。",
            "以后{what}要{new}码，存的尺码不对。",
            "你记的{what}尺码旧了，{new}才对。",
        ],
    }],
    plan: |draw| {
        let tongue = draw.tongue();
        let (what, other) = draw.pair(&[("shoe", "鞋"), ("shirt", "衬衫"), ("glove", "手套")]);
        let (old, new) = draw.pair(&[36, 37, 38, 39, 41, 42, 43]);
        let ids = two_ids(draw);
        let says = |what: Two, size: i64| match tongue.tag() {
            "zh" => format!("我的{}尺码是{size}", what.1),
            _ => format!("My {} size is {size}", what.0),
        };
        let query = match tongue.tag() {
            "zh" => format!("{}尺码", what.1),
            _ => format!("my {} size", what.0),
        };
        Plan::new()
            .word("what", tongue.of(what))
            .word("new", new)
            .put("memory", ids.0, world::memory(ids.0, "long_term", "user_profile", &says(what, old)))
            .put("memory", ids.1, world::memory(ids.1, "long_term", "user_profile", &says(other, 40)))
            .recall(query)
            .replace(ids.0, says(what, new))
            .has("memory", ids.0, "/superseded_by", true)
            .has("memory", ids.1, "/superseded_by", false)
            .is("memory", ids.1, "/content", says(other, 40))
            .says("memory", "/content", &new.to_string(), &[("/supersedes", json!(ids.0))])
            .only(&["memory"])
    },
};

const FORGET_CODE: Family = Family {
    name: "forget-code",
    category: MEMORY,
    phrases: &[Phrases {
        en: [
            "Forget the code of the {thing}, and only that.",
            "Delete the {thing}'s code from your memory; keep everything else.",
            "Please remove what you remember about the {thing}.",
            "I don't want you to remember the code of the {thing} any more.",
            "Wipe the {thing} from your memory, the rest stays.",
            "The {thing} is sold, so its code must leave your memory.",
        ],
        zh: [
            "忘掉{thing}的密码，只忘这一条。",
            "从记忆里删除{thing}的密码，其他保留。",
            "请移除你记住的关于{thing}的内容。",
            "我不想让你再记着{thing}的密码。",
            "把{thing}从你的记忆里抹掉，其余不动。",
            "{thing}卖了，它的密码别再留在记忆里。",
        ],
    }],
    plan: |draw| {
        let codes = Codes::draw(draw);
        let (meant, other) = codes.ids;
        codes
            .known(draw)
            .forget(meant, draw.say("Shall I forget this code for good?", "确定要永久忘记这个密码吗？"), true)
            .absent("memory", &[("/id", json!(meant))])
            .counted("memory", &[("/id", json!(other))], 1)
            .only(match meant {
                "memory-0214" => &["memory/memory-0214"],
                "memory-0641" => &["memory/memory-0641"],
                "memory-0508" => &["memory/memory-0508"],
                _ => &["memory/memory-0733"],
            })
    },
};

const FORGET_CALLED_OFF: Family = Family {
    name: "forget-called-off",
    category: CONFIRM,
    phrases: &[Phrases {
        en: [
            "Delete the {thing}'s code from your memory, but ask me once more.",
            "Forget the code of the {thing}; let me confirm it first.",
            "Remove the {thing} from your memory once I have said yes.",
            "Please forget the {thing}'s code, after checking with me.",
            "The {thing}'s code can leave your memory, if I still agree when you ask.",
            "Get my word first, then wipe the {thing} from your memory.",
        ],
        zh: [
            "从记忆里删除{thing}的密码，但再问我一次。",
            "忘掉{thing}的密码，先让我确认。",
            "我同意之后，把{thing}从记忆里移除。",
            "请忘记{thing}的密码，忘之前跟我确认。",
            "{thing}的密码可以不记了，你问我时我还同意的话。",
            "先得到我的同意，再把{thing}从记忆里抹掉。",
        ],
    }],
    plan: |draw| {
        let codes = Codes::draw(draw);
        codes
            .known(draw)
            .forget(codes.ids.0, draw.say("Shall I forget this code for good?", "确定要永久忘记这个密码吗？"), false)
            .finish(draw.say("I kept it, as you said no.", "您没有同意，所以保留了。"))
            .asked(&[
                "forget", "delete", "remove", "sure", "confirm", "code", "忘", "删", "移除", "确定", "确认", "密码",
            ])
            .counted("memory", &[("/id", json!(codes.ids.0))], 1)
            .only(&[])
    },
};
