//! Wi-Fi, mobile data, airplane mode, Bluetooth and VPN.

use serde_json::json;

use super::category::{CONDITIONAL, MISSING, ORDERED, QUERY, SINGLE};
use super::{Family, Phrases};
use crate::phone::plan::Plan;
use crate::phone::world;

pub(super) const FAMILIES: &[Family] = &[
    WIFI_CONNECT,
    WIFI_PASSWORD,
    MOBILE_DATA_TOGGLE,
    DATA_LIMIT,
    DATA_USAGE,
    AIRPLANE_ON,
    BLUETOOTH_CONNECT,
    VPN_OR_WIFI,
];

const WIFI_CONNECT: Family = Family {
    name: "wifi-connect",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Connect my phone to the Wi-Fi network {ssid}.",
            "Join the {ssid} Wi-Fi, please.",
            "Switch the Wi-Fi over to {ssid}.",
            "I want to be on the {ssid} wireless network.",
            "Hook me up to the WLAN called {ssid}.",
            "Could you get the phone onto {ssid} Wi-Fi?",
        ],
        zh: [
            "帮我连上{ssid}这个Wi-Fi。",
            "把手机的Wi-Fi切换到{ssid}。",
            "请连接无线网络{ssid}。",
            "我想用{ssid}的Wi-Fi上网，连一下。",
            "让手机接入名为{ssid}的WLAN。",
            "麻烦把WiFi换成{ssid}。",
        ],
    }],
    plan: |draw| {
        let ssid = draw.pick(&["Office", "CoffeeShop"]);
        Plan::new()
            .word("ssid", ssid)
            .call("manage_wifi", json!({"action": "connect", "ssid": ssid}))
            .is("net", "wifi", "/connected", ssid)
            .is("net", "wifi", "/on", true)
            .only(&["net/wifi"])
    },
};

const WIFI_PASSWORD: Family = Family {
    name: "wifi-password",
    category: MISSING,
    phrases: &[
        Phrases {
            en: [
                "Connect to the Guest Wi-Fi. It's a new one, I can tell you its password.",
                "Please join the Wi-Fi Guest; ask me for the password.",
                "Get me on the Guest network. It wants a password, which I have here.",
                "I'd like to use the Guest Wi-Fi for the first time, it is password protected.",
                "Put my phone on the protected Guest WLAN, I've got the key on a card.",
                "The Guest wireless needs a passphrase that I know. Log me in there.",
            ],
            zh: [
                "连接Guest这个Wi-Fi，第一次连，密码我可以告诉你。",
                "请连上Guest的Wi-Fi，密码你问我要。",
                "帮我接入Guest网络，它要密码，我手上有。",
                "我想用Guest这个无线网，是加密的，先问我密码。",
                "让手机加入加密的Guest WLAN，口令写在我的卡片上。",
                "Guest的WiFi有密码，我知道，你帮我登上去。",
            ],
        },
        Phrases {
            en: [
                "Connect to the Guest Wi-Fi, the password is {password}.",
                "Join the network Guest with the password {password}.",
                "The Guest Wi-Fi has the password {password}. Connect, please.",
                "Log the phone in to Wi-Fi Guest; {password} is the password.",
                "Put me on the Guest WLAN using {password} as the key.",
                "Use {password} to get onto the Guest wireless network.",
            ],
            zh: [
                "连接Guest这个Wi-Fi，密码是{password}。",
                "用密码{password}加入Guest网络。",
                "Guest的Wi-Fi密码是{password}，帮我连上。",
                "请连上无线网Guest，密码{password}。",
                "用{password}这个口令接入Guest WLAN。",
                "拿{password}登录Guest的WiFi。",
            ],
        },
    ],
    plan: |draw| {
        let password =
            format!("{}{}", draw.pick(&["river", "maple", "ocean", "amber", "cedar"]), draw.number(1000, 9999, 1));
        let missing = draw.branch();
        let scan = json!([
            {"ssid": "HomeNet", "secured": true, "band": "5ghz"},
            {"ssid": "Guest", "secured": true, "band": "2.4ghz", "password": password},
        ]);
        let plan = Plan::new().patch("net", "wifi", json!({"scan": scan}));
        let plan = plan.is("net", "wifi", "/connected", "Guest").only(&["net/wifi"]);
        let plan = if missing {
            plan.slot(
                "password",
                &["password", "passphrase", "key", "密码", "口令"],
                draw.say("It's ", "是").to_owned() + &password,
            )
            .ask(draw.say("What is the password of the Wi-Fi Guest?", "Guest的Wi-Fi密码是什么？"))
            .asked(&["password", "passphrase", "key", "密码", "口令"])
        } else {
            plan.word("password", &password).phrased(1).category(SINGLE)
        };
        plan.call("manage_wifi", json!({"action": "connect", "ssid": "Guest", "password": password}))
    },
};

const MOBILE_DATA_TOGGLE: Family = Family {
    name: "mobile-data-toggle",
    category: SINGLE,
    phrases: &[
        Phrases {
            en: [
                "Turn off mobile data.",
                "Please disable my cellular data.",
                "Stop the phone from using mobile data.",
                "I don't want to use any more mobile data, switch it off.",
                "Cut the cellular internet.",
                "Mobile internet off, please.",
            ],
            zh: [
                "关掉移动数据。",
                "请把数据流量关了。",
                "别让手机再用移动数据了。",
                "我不想再用流量，把移动数据关闭。",
                "断开蜂窝网络数据。",
                "把手机流量停掉。",
            ],
        },
        Phrases {
            en: [
                "Turn on mobile data.",
                "Please enable my cellular data.",
                "Let the phone use mobile data again.",
                "I need mobile data now, switch it on.",
                "Bring back the cellular internet.",
                "Mobile internet on, please.",
            ],
            zh: [
                "打开移动数据。",
                "请把数据流量开启。",
                "让手机重新用移动数据。",
                "我现在需要流量，把移动数据打开。",
                "恢复蜂窝网络数据。",
                "把手机流量开起来。",
            ],
        },
    ],
    plan: |draw| {
        let on = !draw.branch();
        Plan::new()
            .phrased(usize::from(on))
            .patch("net", "mobile", json!({"on": !on}))
            .patch("net", "mobile", json!({"used_mb": draw.number(200, 4000, 50)}))
            .call("manage_mobile_data", json!({"action": if on { "enable" } else { "disable" }}))
            .is("net", "mobile", "/on", on)
            .only(&["net/mobile"])
    },
};

const DATA_LIMIT: Family = Family {
    name: "data-limit",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Limit my mobile data to {limit} MB a month.",
            "Set a data limit of {limit} MB.",
            "Cap the monthly mobile data at {limit} MB.",
            "I only want to use {limit} MB of mobile data each month, set that limit.",
            "My plan has {limit} MB; make that the data cap.",
            "Put a ceiling of {limit} MB on cellular usage.",
        ],
        zh: [
            "把每月移动数据限制在{limit}MB。",
            "设置流量上限为{limit}MB。",
            "每个月流量最多用{limit}MB，设一下限额。",
            "我想限制数据用量，上限{limit}MB。",
            "我的套餐是{limit}MB，把它设成流量限额。",
            "给蜂窝数据加个{limit}MB的封顶。",
        ],
    }],
    plan: |draw| {
        let limit = draw.number(1500, 9000, 500);
        Plan::new()
            .word("limit", limit)
            .call("manage_data_limit", json!({"action": "set", "limitMb": limit}))
            .is("net", "mobile", "/limit_mb", limit)
            .only(&["net/mobile"])
    },
};

const DATA_USAGE: Family = Family {
    name: "data-usage",
    category: QUERY,
    phrases: &[Phrases {
        en: [
            "How many MB of data has the {app} app used?",
            "How much mobile data did {app} use, in MB?",
            "Tell me the data usage of {app} in MB.",
            "What is the traffic of the {app} app in megabytes?",
            "Check how much of my data plan went to {app}.",
            "How many megabytes did {app} eat up?",
        ],
        zh: [
            "{app}应用用了多少MB流量？",
            "查一下{app}的数据用量是多少MB。",
            "告诉我{app}消耗了多少兆流量。",
            "{app}这个应用的流量统计是多少MB？",
            "看看我的流量有多少花在{app}上了。",
            "{app}吃掉了多少兆数据？",
        ],
    }],
    plan: |draw| {
        let app = draw.pick(&["Browser", "Video", "Maps"]);
        let used = draw.number(103, 997, 2);
        Plan::new()
            .word("app", app)
            .patch("net", "usage", json!({"apps": {app: used}}))
            .call("query_data_usage", json!({"appName": app}))
            .finish(format!("{app}: {used} MB."))
            .answers(&[&used.to_string()])
            .only(&[])
    },
};

const AIRPLANE_ON: Family = Family {
    name: "airplane-on",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Turn on airplane mode, the plane to {city} is boarding.",
            "We are about to take off for {city}, enable flight mode.",
            "Put the phone in airplane mode for the flight to {city}.",
            "Airplane mode on, please; I'm flying to {city}.",
            "My flight to {city} leaves now: all radios off with flight mode.",
            "Cabin doors to {city} are closed. Go into plane mode.",
        ],
        zh: [
            "去{city}的飞机开始登机了，打开飞行模式。",
            "马上要起飞去{city}，请开启飞行模式。",
            "我要飞{city}，把手机调成飞行模式。",
            "飞往{city}的航班要起飞了，飞行模式打开一下。",
            "去{city}的舱门关了，进入飞行模式吧。",
            "要坐飞机去{city}，把所有无线都关掉，用飞行模式。",
        ],
    }],
    plan: |draw| {
        let city = draw.word(&[
            ("Chengdu", "成都"),
            ("Xiamen", "厦门"),
            ("Harbin", "哈尔滨"),
            ("Kunming", "昆明"),
            ("Sanya", "三亚"),
        ]);
        Plan::new()
            .word("city", city)
            .call("manage_airplane_mode", json!({"action": "enable"}))
            .is("net", "airplane", "/on", true)
            .is("net", "wifi", "/on", false)
            .is("net", "mobile", "/on", false)
            .is("radio", "bluetooth", "/on", false)
            .only(&["net/airplane", "net/wifi", "net/mobile", "net/hotspot", "net/vpn", "radio/bluetooth"])
    },
};

const BLUETOOTH_CONNECT: Family = Family {
    name: "bluetooth-connect",
    category: ORDERED,
    phrases: &[Phrases {
        en: [
            "Turn on Bluetooth and connect to {device}.",
            "Bluetooth is off. Switch it on and connect {device}.",
            "Enable Bluetooth, then connect my {device}.",
            "Please get {device} connected over Bluetooth, turn Bluetooth on first.",
            "Link up with {device} by Bluetooth; you'll have to power Bluetooth up before.",
            "I want {device} on Bluetooth, which is still off.",
        ],
        zh: [
            "打开蓝牙并连接{device}。",
            "蓝牙关着，打开它再连上{device}。",
            "先开启蓝牙，然后连接我的{device}。",
            "请用蓝牙连上{device}，蓝牙要先打开。",
            "用蓝牙接上{device}，之前得把蓝牙启动。",
            "我要用蓝牙连{device}，现在蓝牙还没开。",
        ],
    }],
    plan: |draw| {
        let device = draw.pick(&["Earbuds", "Car"]);
        Plan::new()
            .word("device", device)
            .patch("radio", "bluetooth", json!({"on": false, "connected": []}))
            .call("manage_bluetooth", json!({"action": "enable"}))
            .call("manage_bluetooth", json!({"action": "connect", "deviceName": device}))
            .is("radio", "bluetooth", "/on", true)
            .row(json!({"collection": "radio", "key": "bluetooth", "field": "/connected", "matches": {"contains": device}}))
            .only(&["radio/bluetooth"])
            .made(json!([
                {"id": "on", "tool": "manage_bluetooth", "arguments": {"action": "enable"}},
                {"id": "connect", "tool": "manage_bluetooth", "arguments": {"action": "connect", "deviceName": device}, "after": ["on"]},
            ]))
    },
};

const VPN_OR_WIFI: Family = Family {
    name: "vpn-or-wifi",
    category: CONDITIONAL,
    phrases: &[Phrases {
        en: [
            "If Wi-Fi is on, connect the {profile} VPN; otherwise turn Wi-Fi on.",
            "Check the Wi-Fi: when it is on, start the {profile} VPN, when it is off, just switch it on.",
            "In case Wi-Fi is already enabled connect to the VPN {profile}, else enable Wi-Fi.",
            "Is the Wi-Fi on? Then connect VPN {profile}. If not, turn Wi-Fi on.",
            "With WLAN running, dial into the {profile} VPN; without it, only switch WLAN on.",
            "Should Wi-Fi be active, bring up the {profile} tunnel; should it be off, activate it.",
        ],
        zh: [
            "如果Wi-Fi开着，就连接{profile} VPN，否则打开Wi-Fi。",
            "看下Wi-Fi：开着就启动{profile}的VPN，关着就只把它打开。",
            "要是Wi-Fi已经打开，连上VPN {profile}；没打开就开启Wi-Fi。",
            "Wi-Fi开了吗？开了就连VPN {profile}，没开就打开Wi-Fi。",
            "无线网在用的话就拨入{profile}这个VPN，不在用就只开无线网。",
            "WLAN若是开启状态，建立{profile}虚拟专用网；若是关闭，就启用它。",
        ],
    }],
    plan: |draw| {
        let profile = draw.pick(&["Work", "Home"]);
        let on = draw.branch();
        let plan = Plan::new().word("profile", profile).call("manage_wifi", json!({"action": "query"}));
        if on {
            plan.call("manage_vpn", json!({"action": "connect", "profile": profile}))
                .is("net", "vpn", "/active", profile)
                .only(&["net/vpn"])
        } else {
            plan.put("net", "wifi", world::wifi(None))
                .call("manage_wifi", json!({"action": "enable"}))
                .is("net", "wifi", "/on", true)
                .only(&["net/wifi"])
        }
    },
};
