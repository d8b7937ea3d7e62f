//! The personal hotspot.

use serde_json::json;

use super::category::{CONFLICT, SINGLE};
use super::{Family, Phrases};
use crate::phone::plan::Plan;

pub(super) const FAMILIES: &[Family] = &[HOTSPOT_RENAMED, HOTSPOT_NEEDS_DATA];

const HOTSPOT_RENAMED: Family = Family {
    name: "hotspot-renamed",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Rename my hotspot to {name}.",
            "Change the name of the personal hotspot to {name}.",
            "My hotspot should be called {name}.",
            "Set the hotspot name to {name}, please.",
            "Others should see my tethering network as {name}.",
            "Give the portable hotspot the new name {name}.",
        ],
        zh: [
            "把我的热点改名为{name}。",
            "个人热点的名称改成{name}。",
            "我的热点要叫{name}。",
            "请把热点名字设置为{name}。",
            "让别人搜到的我的共享网络叫{name}。",
            "给便携式热点起个新名字{name}。",
        ],
    }],
    plan: |draw| {
        let name =
            format!("{}-{}", draw.pick(&["Traveller", "Panda", "BlueSky", "Rocket", "Teapot"]), draw.number(10, 99, 1));
        Plan::new()
            .word("name", &name)
            .call("configure_hotspot", json!({"settingItem": "hotspot_name", "settingValue": name}))
            .is("net", "hotspot", "/name", name)
            .is("net", "hotspot", "/on", false)
            .only(&["net/hotspot"])
    },
};

const HOTSPOT_NEEDS_DATA: Family = Family {
    name: "hotspot-needs-data",
    category: CONFLICT,
    phrases: &[Phrases {
        en: [
            "Share my connection as a hotspot named {name}. Mobile data may be off, then switch it on first.",
            "I need the hotspot on, with the name {name}; turn on mobile data if it's missing.",
            "Start the personal hotspot as {name}, and make sure mobile data is on for it.",
            "Set the hotspot name to {name} and turn the hotspot on. Enable mobile data if that's needed.",
            "Tether from my phone under the name {name}; cellular data has to be running for that.",
            "Open up a hotspot called {name}, with whatever mobile connection it takes.",
        ],
        zh: [
            "用热点{name}共享我的网络，移动数据如果没开就先打开。",
            "帮我打开热点，名字设为{name}，没开流量的话先开移动数据。",
            "开启个人热点，名称{name}，并确保移动数据是开着的。",
            "把热点名改成{name}再打开热点，需要的话启用移动数据。",
            "用手机分享网络，热点叫{name}，蜂窝数据也要打开才行。",
            "开一个叫{name}的热点，需要的移动网络一并打开。",
        ],
    }],
    plan: |draw| {
        let name =
            format!("{}-{}", draw.pick(&["Meeting", "Train", "Garden", "Studio", "Harbour"]), draw.number(10, 99, 1));
        Plan::new()
            .word("name", &name)
            .patch("net", "mobile", json!({"on": false}))
            .together(vec![
                ("manage_mobile_data", json!({"action": "enable"})),
                ("configure_hotspot", json!({"settingItem": "hotspot_name", "settingValue": name})),
            ])
            .call("manage_hotspot", json!({"action": "enable"}))
            .is("net", "mobile", "/on", true)
            .is("net", "hotspot", "/on", true)
            .is("net", "hotspot", "/name", name.as_str())
            .only(&["net/mobile", "net/hotspot", "net/wifi"])
            .made(json!([
                {"id": "data", "tool": "manage_mobile_data", "arguments": {"action": "enable"}},
                {"id": "name", "tool": "configure_hotspot", "arguments": {"settingItem": "hotspot_name", "settingValue": name}},
                {"id": "on", "tool": "manage_hotspot", "arguments": {"action": "enable"}, "after": ["data"]},
            ]))
    },
};
