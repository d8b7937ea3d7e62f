//! Do not disturb, focus, language, notifications and accessibility.

use serde_json::json;

use super::category::{ORDERED, PARALLEL, SINGLE};
use super::{Family, Phrases};
use crate::phone::plan::Plan;
use crate::phone::pools;

pub(super) const FAMILIES: &[Family] =
    &[DND_UNTIL, FOCUS_START, DEVICE_RENAME, NOTIFICATIONS_OFF, EASY_SIGHT, LOCATION_ACCURACY, UPDATE_DOWNLOAD];

const DND_UNTIL: Family = Family {
    name: "dnd-until",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Turn on do not disturb until {time}.",
            "Do not disturb till {time}, please.",
            "I don't want to be disturbed until {time}, switch DND on.",
            "Enable do not disturb and let it end at {time}.",
            "Peace and quiet up to {time}: no interruptions.",
            "Hold back all disturbances until {time}.",
        ],
        zh: [
            "打开免打扰到{time}。",
            "请开启免打扰，{time}结束。",
            "{time}之前不要打扰我，开启免打扰。",
            "启用免打扰模式直到{time}。",
            "到{time}为止我要清静，开勿扰。",
            "{time}前别让任何东西烦我，勿扰打开。",
        ],
    }],
    plan: |draw| {
        let time = draw.time(10, 21);
        Plan::new()
            .word("time", time.spoken(draw.tongue()))
            .call("manage_dnd", json!({"action": "enable", "untilTime": time.text()}))
            .is("settings", "dnd", "/on", true)
            .is("settings", "dnd", "/until", time.text())
            .only(&["settings/dnd"])
    },
};

const FOCUS_START: Family = Family {
    name: "focus-start",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Start the {profile} focus mode.",
            "Switch focus mode to the profile {profile}.",
            "Focus mode {profile} on, please.",
            "I need to concentrate: begin the {profile} focus.",
            "Help me not get distracted, use the {profile} focus profile.",
            "Activate concentration with the {profile} profile.",
        ],
        zh: [
            "开始{profile}专注模式。",
            "把专注模式切到{profile}方案。",
            "请打开{profile}专注模式。",
            "我要集中精神，启动{profile}专注。",
            "别让我分心，用{profile}这个专注方案。",
            "启用{profile}方案，帮我保持专注。",
        ],
    }],
    plan: |draw| {
        let profile = draw.pick(&["Work", "Sleep"]);
        Plan::new()
            .word("profile", profile)
            .call("manage_focus_mode", json!({"action": "start", "profile": profile}))
            .is("settings", "focus", "/active/profile", profile)
            .only(&["settings/focus"])
    },
};

const DEVICE_RENAME: Family = Family {
    name: "device-rename",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Rename my phone to {name}.",
            "Change the device name to {name}.",
            "This phone should be called {name}.",
            "Set {name} as the name of the device.",
            "Let the phone introduce itself as {name}.",
            "I'd like a new device name, {name}.",
        ],
        zh: [
            "把我的手机改名为{name}。",
            "设备名称改成{name}。",
            "这台手机要叫{name}。",
            "将{name}设为设备名。",
            "让手机以{name}的名字示人。",
            "我想给设备换个名字：{name}。",
        ],
    }],
    plan: |draw| {
        let name = draw.word(&[
            ("Blue Whale", "蓝鲸"),
            ("Night Owl", "夜猫子"),
            ("Pocket Rocket", "小火箭"),
            ("Green Tea", "绿茶"),
            ("North Star", "北极星"),
        ]);
        Plan::new()
            .word("name", name)
            .call("manage_device_info", json!({"action": "rename", "name": name}))
            .is("settings", "device", "/name", name)
            .only(&["settings/device"])
    },
};

const NOTIFICATIONS_OFF: Family = Family {
    name: "notifications-off",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Turn off notifications from {app}.",
            "Stop {app} from sending me notifications.",
            "No more notifications from the app {app}.",
            "Disable the notifications of {app}.",
            "{app} keeps popping up alerts, block them.",
            "Silence the push alerts that come from {app}.",
        ],
        zh: [
            "关闭{app}的通知。",
            "别让{app}再给我发通知。",
            "不要{app}应用的通知了。",
            "禁用{app}的通知。",
            "{app}总弹提醒，屏蔽掉。",
            "把{app}的推送消息停了。",
        ],
    }],
    plan: |draw| {
        let app = draw.pick(pools::APPS);
        Plan::new()
            .word("app", app)
            .call("manage_notification_setting", json!({"action": "set", "appName": app, "enabled": false}))
            .is("settings", "notifications", &format!("/{app}/enabled"), false)
            .only(&["settings/notifications"])
    },
};

const EASY_SIGHT: Family = Family {
    name: "easy-sight",
    category: PARALLEL,
    phrases: &[Phrases {
        en: [
            "My eyesight is poor: turn on {aid} and set the font size to {size}%.",
            "Enable {aid} and make the font {size} percent.",
            "For my grandmother: {aid} on, font size {size}%.",
            "Set the font to {size} percent and switch {aid} on.",
            "Everything is hard to see. {aid} please, and letters at {size}%.",
            "Help weak eyes with {aid} and writing scaled to {size} percent.",
        ],
        zh: [
            "我视力不好：打开{aid}，字体大小设为{size}%。",
            "启用{aid}，并把字体调到百分之{size}。",
            "给奶奶用：开{aid}，字号{size}%。",
            "字体设成{size}%，再把{aid}打开。",
            "什么都看不清，开{aid}，文字放到{size}%。",
            "照顾一下眼睛不好的人，{aid}打开，字放大到百分之{size}。",
        ],
    }],
    plan: |draw| {
        let (feature, english, chinese) = draw.pick(&[
            ("magnification", "magnification", "放大手势"),
            ("color_correction", "color correction", "色彩校正"),
        ]);
        let spoken = draw.tongue().of((english, chinese));
        let size = draw.pick(&[120, 125, 130, 135, 140, 150]);
        Plan::new()
            .word("aid", spoken)
            .word("size", size)
            .together(vec![
                ("manage_accessibility_feature", json!({"action": "enable", "feature": feature})),
                ("manage_font", json!({"action": "set", "sizePercent": size})),
            ])
            .is("settings", "accessibility", &format!("/{feature}"), true)
            .is("display", "font", "/size_percent", size)
            .only(&["settings/accessibility", "display/font"])
    },
};

const LOCATION_ACCURACY: Family = Family {
    name: "location-on",
    category: ORDERED,
    phrases: &[Phrases {
        en: [
            "Turn on the location service and set its accuracy to {accuracy}.",
            "Location on, with {accuracy} accuracy.",
            "Enable location and choose the accuracy {accuracy}.",
            "I need the location service running with the {accuracy} accuracy.",
            "Let the phone know where it is, in {accuracy} precision.",
            "Positioning on, please, {accuracy} kind.",
        ],
        zh: [
            "打开定位服务，精度设为{accuracy}。",
            "开启定位，用{accuracy}精度。",
            "启用位置服务并选择{accuracy}精度。",
            "我要用定位，精度选{accuracy}。",
            "让手机知道自己在哪，{accuracy}那种定位。",
            "位置信息打开，定位方式{accuracy}。",
        ],
    }],
    plan: |draw| {
        let (accuracy, english, chinese) =
            draw.pick(&[("battery_saving", "battery saving", "省电"), ("device_only", "device only", "仅限设备")]);
        let spoken = draw.tongue().of((english, chinese));
        Plan::new()
            .word("accuracy", spoken)
            .patch("settings", "location", json!({"on": false, "accuracy": "high"}))
            .call("manage_location_service", json!({"action": "enable"}))
            .call("manage_location_service", json!({"action": "accuracy", "accuracy": accuracy}))
            .is("settings", "location", "/on", true)
            .is("settings", "location", "/accuracy", accuracy)
            .only(&["settings/location"])
    },
};

const UPDATE_DOWNLOAD: Family = Family {
    name: "update-download",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Download the system update {version}, but don't install it.",
            "Get the update to {version} downloaded, I'll install it myself later.",
            "There's a system update {version}. Download it only.",
            "Please download version {version} of the system without installing.",
            "Fetch the new firmware {version} and leave it at that.",
            "Pull the {version} OS upgrade onto the phone, nothing more.",
        ],
        zh: [
            "下载系统更新{version}，但不要安装。",
            "把{version}更新先下载好，我之后自己装。",
            "有系统更新{version}，只下载。",
            "请下载{version}版本的系统，先别安装。",
            "把新固件{version}拉下来就行。",
            "{version}的系统升级包下到手机里，别的不用做。",
        ],
    }],
    plan: |draw| {
        let version = format!("1.{}.{}", draw.number(1, 6, 1), draw.number(0, 9, 1));
        Plan::new()
            .word("version", &version)
            .put(
                "settings",
                "update",
                json!({"current": "1.0.0", "available": version, "state": "available", "time": null}),
            )
            .call("manage_system_update", json!({"action": "download"}))
            .is("settings", "update", "/state", "downloaded")
            .is("settings", "update", "/current", "1.0.0")
            .only(&["settings/update"])
    },
};
