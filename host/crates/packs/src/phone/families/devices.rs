//! Casting and sharing with other devices.

use serde_json::json;

use super::category::{CONFLICT, MISSING, SINGLE};
use super::{Family, Phrases};
use crate::phone::plan::Plan;
use crate::phone::world;

pub(super) const FAMILIES: &[Family] = &[CAST_START, CAST_SWITCH, CAST_WHERE, CLIPBOARD, KEYBOARD_SHARED, MULTI_SCREEN];

const TELEVISIONS: &[&str] = &["Living Room TV", "Bedroom TV"];

const CAST_START: Family = Family {
    name: "cast-start",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Cast my screen to the {device}.",
            "Start screen casting to {device}.",
            "Show my phone on the {device}.",
            "Mirror the screen to {device}, please.",
            "Throw what I see onto the {device}.",
            "Put the phone's picture up on {device}.",
        ],
        zh: [
            "把屏幕投到{device}。",
            "开始投屏到{device}。",
            "投屏，让{device}显示我的手机画面。",
            "请把屏幕镜像到{device}。",
            "我看的东西放到{device}上去。",
            "手机画面弄到{device}上看。",
        ],
    }],
    plan: |draw| {
        let device = draw.pick(&["Living Room TV", "Bedroom TV", "Office PC", "Tablet"]);
        Plan::new()
            .word("device", device)
            .call("control_screen_casting", json!({"action": "start", "targetDeviceName": device}))
            .is("casting", "session", "/state", "casting")
            .row(json!({"collection": "casting", "key": "session", "field": "/device", "equals": device}))
            .only(&["casting/session"])
    },
};

const CAST_SWITCH: Family = Family {
    name: "cast-switch",
    category: CONFLICT,
    phrases: &[Phrases {
        en: [
            "I'm casting to the {old}. Cast to the {new} instead.",
            "Move the screen casting from {old} over to {new}.",
            "Switch the cast to {new}; it is running on {old} now.",
            "End the casting on {old} and cast to {new}.",
            "The picture is on {old}, bring it to {new}.",
            "Wrong telly: not {old}, mirror to {new}.",
        ],
        zh: [
            "我正在投屏到{old}，改投到{new}。",
            "把投屏从{old}换到{new}。",
            "投屏切换到{new}，现在在{old}上。",
            "结束{old}的投屏，投到{new}。",
            "画面在{old}上，弄到{new}去。",
            "投错了，不是{old}，镜像到{new}。",
        ],
    }],
    plan: |draw| {
        let (old, new) = draw.pair(&["Living Room TV", "Bedroom TV", "Office PC", "Tablet"]);
        Plan::new()
            .word("old", old)
            .word("new", new)
            .put("casting", "session", world::casting_to(old))
            .skill("conflict-order-arbiter")
            .call("control_screen_casting", json!({"action": "stop"}))
            .call("control_screen_casting", json!({"action": "start", "targetDeviceName": new}))
            .is("casting", "session", "/state", "casting")
            .is("casting", "session", "/device", new)
            .only(&["casting/session"])
            .made(json!([
                {"id": "stop", "tool": "control_screen_casting", "arguments": {"action": "stop"}},
                {"id": "start", "tool": "control_screen_casting", "arguments": {"action": "start", "targetDeviceName": new}, "after": ["stop"]},
            ]))
    },
};

const CAST_WHERE: Family = Family {
    name: "cast-where",
    category: MISSING,
    phrases: &[
        Phrases {
            en: [
                "Cast my screen to a TV, for {what}.",
                "Start casting to one of the TVs, we want to watch {what}.",
                "Show {what} from my phone on a television. Ask me which one.",
                "Screen casting for {what}, please. I have two TVs.",
                "Put {what} up on the telly, whichever I tell you.",
                "Mirror {what} onto a big screen; check with me where.",
            ],
            zh: [
                "把屏幕投到电视上，要看{what}。",
                "投屏到其中一台电视，我们要看{what}。",
                "把手机上的{what}放到电视，哪台问我。",
                "请投屏看{what}，我有两台电视。",
                "{what}放到电视机上，哪一台听我说。",
                "把{what}镜像到大屏幕，先问我在哪儿看。",
            ],
        },
        Phrases {
            en: [
                "Cast my screen to the {device}, for {what}.",
                "Start casting to the {device}, we want to watch {what}.",
                "Show {what} from my phone on the {device}.",
                "Screen casting for {what} to the {device}, please.",
                "Put {what} up on the telly, the {device}.",
                "Mirror {what} onto {device}.",
            ],
            zh: [
                "把屏幕投到{device}，要看{what}。",
                "投屏到{device}，我们要看{what}。",
                "把手机上的{what}放到{device}。",
                "请投屏到{device}看{what}。",
                "{what}放到电视机上，{device}那台。",
                "把{what}镜像到{device}。",
            ],
        },
    ],
    plan: |draw| {
        let device = draw.pick(TELEVISIONS);
        let what = draw.word(&[
            ("the match", "球赛"),
            ("our photos", "我们的照片"),
            ("a film", "电影"),
            ("the concert", "音乐会"),
            ("the slides", "幻灯片"),
        ]);
        let words = ["which", "where", "what tv", "what device", "哪", "哪台", "哪个", "哪里"];
        let plan = Plan::new().word("what", what);
        let plan = if draw.branch() {
            plan.slot("device", &words, device)
                .ask(draw.say("Which TV should I cast to?", "要投到哪台电视？"))
                .asked(&words)
        } else {
            plan.word("device", device).phrased(1).category(SINGLE)
        };
        plan.call("control_screen_casting", json!({"action": "start", "targetDeviceName": device}))
            .is("casting", "session", "/state", "casting")
            .is("casting", "session", "/device", device)
            .only(&["casting/session"])
    },
};

const CLIPBOARD: Family = Family {
    name: "clipboard-sharing",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Turn on clipboard sharing, I want to copy {what} across.",
            "Share the clipboard with my other devices, for {what}.",
            "Enable the shared clipboard so that I can paste {what} elsewhere.",
            "Clipboard sharing on, please; I'm copying {what}.",
            "Let what I copy here, {what}, be pasted on my computer.",
            "I'd like to copy {what} on the phone and paste on the PC, allow that.",
        ],
        zh: [
            "打开剪贴板共享，我要复制{what}过去。",
            "和我的其他设备共享剪贴板，要传{what}。",
            "启用共享剪贴板，方便我在别处粘贴{what}。",
            "请开启剪贴板共享，我在复制{what}。",
            "让我在这里复制的{what}能在电脑上粘贴。",
            "我想手机复制{what}电脑粘贴，开一下。",
        ],
    }],
    plan: |draw| {
        let what = draw.word(&[
            ("an address", "一个地址"),
            ("a link", "一个链接"),
            ("a quote", "一段引文"),
            ("some code", "一段代码"),
            ("a poem", "一首诗"),
        ]);
        Plan::new()
            .word("what", what)
            .call("manage_clipboard_sharing", json!({"action": "enable"}))
            .is("sharing", "clipboard", "/on", true)
            .only(&["sharing/clipboard"])
    },
};

const KEYBOARD_SHARED: Family = Family {
    name: "keyboard-shared",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Share keyboard and mouse with the {device}.",
            "Turn on keyboard and mouse sharing with {device}.",
            "I want to use the same keyboard and mouse with {device}, enable it.",
            "Enable sharing of mouse and keyboard for the {device}.",
            "Let one set of keys and pointer work together with {device}.",
            "Type across to {device}: switch input sharing on.",
        ],
        zh: [
            "和{device}共享键盘鼠标。",
            "打开与{device}的键鼠共享。",
            "我想和{device}共用一套键盘鼠标，启用一下。",
            "启用{device}的鼠标键盘共享。",
            "让一套键鼠跟{device}一起用。",
            "要跨到{device}打字，开键鼠共享。",
        ],
    }],
    plan: |draw| {
        let device = draw.pick(&["Office PC", "Tablet"]);
        Plan::new()
            .word("device", device)
            .call("manage_keyboard_mouse_sharing", json!({"action": "enable", "deviceName": device}))
            .is("sharing", "keyboard_mouse", "/on", true)
            .is("sharing", "keyboard_mouse", "/device", device)
            .only(&["sharing/keyboard_mouse"])
    },
};

const MULTI_SCREEN: Family = Family {
    name: "second-display",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Start multi-screen collaboration with the {device}.",
            "Begin multi-screen with {device}.",
            "I want to work on the phone and the {device} together, start multi-screen.",
            "Open a multi-screen session to {device}, please.",
            "Join phone and {device} into one workspace.",
            "Collaborate across screens with {device}.",
        ],
        zh: [
            "和{device}开始多屏协同。",
            "启动与{device}的多屏协同。",
            "我想手机和{device}一起用，开多屏协同。",
            "请打开到{device}的多屏协同。",
            "把手机和{device}连成一个工作区。",
            "跟{device}跨屏协作。",
        ],
    }],
    plan: |draw| {
        let device = draw.pick(&["Office PC", "Tablet"]);
        Plan::new()
            .word("device", device)
            .call("manage_multi_screen", json!({"action": "start", "device": device}))
            .is("sharing", "multi_screen", "/on", true)
            .is("sharing", "multi_screen", "/device", device)
            .only(&["sharing/multi_screen"])
    },
};
