//! The screen.

use serde_json::json;

use super::category::{CONDITIONAL, PARALLEL, QUERY, SINGLE};
use super::{Family, Phrases};
use crate::phone::plan::Plan;

pub(super) const FAMILIES: &[Family] = &[
    BRIGHTNESS_SET,
    DARK_OR_COMFORT,
    SCREEN_TIMEOUT,
    FONT_SIZE,
    READING_SETUP,
    AUTO_ROTATE,
    STATUS_BAR,
    BRIGHTNESS_WHICH,
];

const BRIGHTNESS_SET: Family = Family {
    name: "brightness-set",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Set the screen brightness to {level} percent.",
            "Brightness to {level}%, please.",
            "Make the display {level} percent bright.",
            "I'd like the screen brightness at {level}%.",
            "Adjust how bright the screen is: {level} out of 100.",
            "Put the backlight at {level} percent.",
        ],
        zh: [
            "把屏幕亮度调到{level}%。",
            "亮度设为百分之{level}。",
            "请把显示亮度调成{level}。",
            "我想让屏幕亮度是{level}%。",
            "屏幕亮暗程度改到{level}（满分100）。",
            "背光调到{level}%。",
        ],
    }],
    plan: |draw| {
        let (level, before) = draw.pair(&[10, 15, 25, 35, 40, 65, 70, 80, 85, 90, 95]);
        Plan::new()
            .word("level", level)
            .patch("display", "brightness", json!({"level": before}))
            .call("manage_brightness", json!({"action": "set", "level": level}))
            .is("display", "brightness", "/level", level)
            .only(&["display/brightness"])
    },
};

const DARK_OR_COMFORT: Family = Family {
    name: "dark-or-comfort",
    category: CONDITIONAL,
    phrases: &[Phrases {
        en: [
            "If dark mode is already on, turn on eye comfort; otherwise turn on dark mode. Brightness stays at {level}%.",
            "Check dark mode: if it's on, enable eye comfort, if it's off, enable dark mode. Leave brightness at {level}%.",
            "Is dark mode on? Then switch eye comfort on, else switch dark mode on. Don't touch the brightness of {level}%.",
            "Turn on eye comfort if dark mode is active, and dark mode if it isn't. The brightness of {level}% is fine.",
            "With the dark theme already active give me the blue light filter; without it give me the dark theme. {level}% brightness is right.",
            "Night colours first: dark mode when it's still off, eye protection when dark mode is there. Keep {level}% brightness.",
        ],
        zh: [
            "如果深色模式已经打开，就开启护眼模式，否则打开深色模式。亮度保持{level}%。",
            "看一下深色模式：开着就打开护眼，关着就打开深色模式，亮度{level}%不要动。",
            "深色模式开了吗？开了就启用护眼模式，没开就启用深色模式，亮度{level}%别变。",
            "深色模式在用的话打开护眼，没在用就打开深色模式，{level}%的亮度正合适。",
            "已经是暗色主题就给我开蓝光过滤，不是就换成暗色主题，亮度留在{level}%。",
            "夜里看屏幕：深色没开就开深色，深色开了就开护眼，亮度还是{level}%。",
        ],
    }],
    plan: |draw| {
        let dark = draw.branch();
        let level = draw.number(20, 80, 5);
        let plan = Plan::new()
            .word("level", level)
            .patch("display", "brightness", json!({"level": level}))
            .patch("display", "dark_mode", json!({"on": dark}))
            .call("manage_dark_mode", json!({"action": "query"}));
        if dark {
            plan.call("manage_eye_comfort", json!({"action": "enable"}))
                .is("display", "eye_comfort", "/on", true)
                .only(&["display/eye_comfort"])
        } else {
            plan.call("manage_dark_mode", json!({"action": "enable"}))
                .is("display", "dark_mode", "/on", true)
                .only(&["display/dark_mode"])
        }
    },
};

const SCREEN_TIMEOUT: Family = Family {
    name: "screen-timeout",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Let the screen turn off after {seconds} seconds.",
            "Set the screen timeout to {seconds} seconds.",
            "Auto-lock the screen after {seconds} seconds.",
            "The display should go to sleep after {seconds} seconds.",
            "If I do nothing for {seconds} seconds the screen should go dark.",
            "Change automatic lock to {seconds} seconds.",
        ],
        zh: [
            "屏幕{seconds}秒后自动熄灭。",
            "把息屏时间设为{seconds}秒。",
            "自动锁屏改成{seconds}秒。",
            "让显示屏{seconds}秒后休眠。",
            "我{seconds}秒不操作就黑屏。",
            "锁定前的等待时间调整到{seconds}秒。",
        ],
    }],
    plan: |draw| {
        let seconds = draw.pick(&[15, 30, 120, 300, 600]);
        Plan::new()
            .word("seconds", seconds)
            .patch("display", "timeout", json!({"seconds": 60}))
            .call("set_screen_timeout", json!({"seconds": seconds}))
            .is("display", "timeout", "/seconds", seconds)
            .only(&["display/timeout"])
    },
};

const FONT_SIZE: Family = Family {
    name: "font-size",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Set the font size to {size} percent.",
            "Make the text on the phone {size}% of normal size.",
            "Change the system font to {size} percent.",
            "I can't read this, font size {size}%, please.",
            "Letters should be {size} percent big.",
            "Scale all writing to {size}%.",
        ],
        zh: [
            "把字体大小设为{size}%。",
            "手机文字调成正常大小的{size}%。",
            "系统字体改到百分之{size}。",
            "我看不清，字号调到{size}%。",
            "文字的大小要{size}%。",
            "把字放到{size}%。",
        ],
    }],
    plan: |draw| {
        let size = draw.pick(&[85, 110, 115, 120, 130, 140]);
        Plan::new()
            .word("size", size)
            .call("manage_font", json!({"action": "set", "sizePercent": size}))
            .is("display", "font", "/size_percent", size)
            .only(&["display/font"])
    },
};

const READING_SETUP: Family = Family {
    name: "reading-setup",
    category: PARALLEL,
    phrases: &[Phrases {
        en: [
            "I'm going to read in bed: dark mode on, eye comfort on and brightness {level}%.",
            "Turn on dark mode and eye comfort and set the brightness to {level} percent.",
            "For reading at night, enable dark mode, enable eye comfort, and dim the screen to {level}%.",
            "Set up night reading: {level}% brightness, dark mode, eye comfort.",
            "Easy on my eyes please: dark theme, blue light filter, backlight at {level}%.",
            "Late read coming up. {level} percent brightness, and both dark mode and eye protection.",
        ],
        zh: [
            "我要在床上看书：打开深色模式和护眼模式，亮度调到{level}%。",
            "开启深色模式和护眼，并把亮度设为百分之{level}。",
            "晚上阅读用：启用深色模式，启用护眼模式，屏幕调暗到{level}%。",
            "设置夜间阅读：亮度{level}%，深色模式，护眼模式。",
            "让眼睛舒服点：暗色主题、蓝光过滤，背光{level}%。",
            "准备熬夜看书了，亮度百分之{level}，深色和护眼都要开。",
        ],
    }],
    plan: |draw| {
        let level = draw.number(10, 35, 5);
        Plan::new()
            .word("level", level)
            .together(vec![
                ("manage_dark_mode", json!({"action": "enable"})),
                ("manage_eye_comfort", json!({"action": "enable"})),
                ("manage_brightness", json!({"action": "set", "level": level})),
            ])
            .is("display", "dark_mode", "/on", true)
            .is("display", "eye_comfort", "/on", true)
            .is("display", "brightness", "/level", level)
            .only(&["display/dark_mode", "display/eye_comfort", "display/brightness"])
            .made(json!([
                {"tool": "manage_dark_mode", "arguments": {"action": "enable"}},
                {"tool": "manage_eye_comfort", "arguments": {"action": "enable"}},
                {"tool": "manage_brightness", "arguments": {"action": "set", "level": level}},
            ]))
    },
};

const AUTO_ROTATE: Family = Family {
    name: "rotation-switch",
    category: SINGLE,
    phrases: &[
        Phrases {
            en: [
                "Turn off auto-rotate.",
                "Stop the screen from rotating by itself.",
                "Lock the screen orientation, please.",
                "Disable automatic rotation.",
                "My display keeps flipping sideways, make it stop.",
                "Hold the picture upright when I tilt the phone.",
            ],
            zh: [
                "关闭自动旋转。",
                "别让屏幕自己转来转去。",
                "请锁定屏幕方向。",
                "把自动旋转屏幕关掉。",
                "屏幕老是横过来，让它停下。",
                "我歪着拿手机时画面别跟着转。",
            ],
        },
        Phrases {
            en: [
                "Turn on auto-rotate.",
                "Let the screen rotate by itself again.",
                "Unlock the screen orientation, please.",
                "Enable automatic rotation.",
                "The display should flip when I turn the phone sideways.",
                "I want the picture to follow when I tilt the phone.",
            ],
            zh: [
                "打开自动旋转。",
                "让屏幕重新可以自动旋转。",
                "请解除屏幕方向锁定。",
                "把自动旋转屏幕打开。",
                "手机横过来时屏幕也要跟着横过来。",
                "我转手机时画面要跟着转。",
            ],
        },
    ],
    plan: |draw| {
        let on = !draw.branch();
        let level = draw.number(30, 90, 5);
        Plan::new()
            .phrased(usize::from(on))
            .patch("display", "auto_rotate", json!({"on": !on}))
            .patch("display", "brightness", json!({"level": level}))
            .call("manage_auto_rotate", json!({"action": if on { "enable" } else { "disable" }}))
            .is("display", "auto_rotate", "/on", on)
            .only(&["display/auto_rotate"])
    },
};

const STATUS_BAR: Family = Family {
    name: "status-bar-item",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Hide the {item} in the status bar.",
            "I don't want to see the {item} in the status bar.",
            "Remove the {item} from the status bar.",
            "Please stop showing the {item} at the top of the screen, in the status bar.",
            "Clean up my status bar, the {item} should be gone.",
            "No more {item} up in the status bar.",
        ],
        zh: [
            "在状态栏隐藏{item}。",
            "我不想在状态栏看到{item}。",
            "把{item}从状态栏去掉。",
            "屏幕顶部状态栏别再显示{item}。",
            "清理一下状态栏，{item}不要了。",
            "状态栏上不要有{item}。",
        ],
    }],
    plan: |draw| {
        let (item, english, chinese) = draw.pick(&[
            ("battery_percent", "battery percentage", "电池百分比"),
            ("carrier_name", "carrier name", "运营商名称"),
            ("notification_icons", "notification icons", "通知图标"),
        ]);
        let spoken = draw.tongue().of((english, chinese));
        Plan::new()
            .word("item", spoken)
            .call("manage_status_bar_display", json!({"action": "hide", "item": item}))
            .is("display", "status_bar", &format!("/{item}"), false)
            .only(&["display/status_bar"])
    },
};

const BRIGHTNESS_WHICH: Family = Family {
    name: "brightness-which",
    category: QUERY,
    phrases: &[Phrases {
        en: [
            "What is the screen brightness right now, in percent?",
            "How bright is the display set, as a percentage?",
            "Tell me the current brightness level of the screen.",
            "Which percentage is my screen brightness at?",
            "Look up how bright the backlight is, as a number.",
            "Give me the number of the brightness slider.",
        ],
        zh: [
            "现在屏幕亮度是百分之多少？",
            "显示屏亮度设的是多少？",
            "告诉我当前的屏幕亮度数值。",
            "我的屏幕亮度在百分之几？",
            "查一下背光有多亮，说个数。",
            "亮度滑块现在是多少？",
        ],
    }],
    plan: |draw| {
        let level = draw.number(11, 99, 1);
        Plan::new()
            .patch("display", "brightness", json!({"level": level}))
            .call("manage_brightness", json!({"action": "query"}))
            .finish(format!("{level}%"))
            .answers(&[&level.to_string()])
            .only(&[])
    },
};
