//! Bluetooth, NFC, SIM cards, network generation and roaming.

use serde_json::json;

use super::category::{PARALLEL, SINGLE};
use super::{Family, Phrases};
use crate::phone::plan::Plan;
use crate::phone::world;

pub(super) const FAMILIES: &[Family] = &[AIRPLANE_OFF, BLUETOOTH_PAIR, NFC_CARD, SIM_DEFAULT, NETWORK_MODE, ABROAD];

const AIRPLANE_OFF: Family = Family {
    name: "airplane-off",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "We have landed in {city}, turn airplane mode off.",
            "Just arrived in {city}. Disable flight mode, please.",
            "The plane is at the gate in {city}; switch off airplane mode.",
            "Take the phone out of airplane mode, I'm in {city} now.",
            "Touchdown in {city}! Leave flight mode so that everything works as before.",
            "I'm off the plane in {city}, end plane mode.",
        ],
        zh: [
            "已经降落{city}了，关闭飞行模式。",
            "刚到{city}，请把飞行模式关掉。",
            "飞机停在{city}了，退出飞行模式吧。",
            "我到{city}了，把手机的飞行模式关一下。",
            "{city}落地了，取消飞行模式，恢复之前的网络。",
            "在{city}下飞机了，结束飞行模式。",
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
            .put("net", "airplane", world::airplane_on())
            .put("net", "wifi", world::wifi(None))
            .patch("net", "mobile", json!({"on": false}))
            .patch("radio", "bluetooth", json!({"on": false, "connected": []}))
            .call("manage_airplane_mode", json!({"action": "disable"}))
            .is("net", "airplane", "/on", false)
            .is("net", "wifi", "/on", true)
            .is("net", "mobile", "/on", true)
            .is("radio", "bluetooth", "/on", true)
            .only(&["net/airplane", "net/wifi", "net/mobile", "radio/bluetooth"])
    },
};

const BLUETOOTH_PAIR: Family = Family {
    name: "bluetooth-pair",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Pair the new Bluetooth device {device}.",
            "Please pair my phone with {device} over Bluetooth.",
            "I bought a Bluetooth {device}, pair it.",
            "Add {device} to the paired Bluetooth devices.",
            "Bond with the {device} via Bluetooth, it's in pairing mode.",
            "There's a brand new {device} waiting for Bluetooth pairing, go ahead.",
        ],
        zh: [
            "配对新的蓝牙设备{device}。",
            "请用蓝牙和{device}配对。",
            "我新买了蓝牙{device}，配对一下。",
            "把{device}加到蓝牙配对设备里。",
            "{device}已进入配对状态，用蓝牙绑定它。",
            "有个新的{device}等着蓝牙配对，开始吧。",
        ],
    }],
    plan: |draw| {
        let device = draw.pick(&["Speaker", "Keyboard"]);
        Plan::new()
            .word("device", device)
            .call("manage_bluetooth", json!({"action": "pair", "deviceName": device}))
            .row(
                json!({"collection": "radio", "key": "bluetooth", "field": "/paired", "matches": {"contains": device}}),
            )
            .only(&["radio/bluetooth"])
    },
};

const NFC_CARD: Family = Family {
    name: "nfc-card",
    category: PARALLEL,
    phrases: &[Phrases {
        en: [
            "Turn on NFC and use the {card} card with it.",
            "Enable NFC with my {card} card.",
            "NFC on please, in card mode with the {card} card.",
            "I want to hold my phone to the reader with the {card} card, set NFC up for it.",
            "Near field on, and let it act as my {card} card.",
            "Get contactless going with the {card} card.",
        ],
        zh: [
            "打开NFC，并使用{card}卡。",
            "开启NFC，用我的{card}卡。",
            "请打开NFC，设成卡片模式，选{card}卡。",
            "我要拿手机刷{card}卡，把NFC设置好。",
            "近场通信打开，让它当我的{card}卡用。",
            "用{card}卡刷手机，把NFC弄好。",
        ],
    }],
    plan: |draw| {
        let card = draw.pick(&["bank", "bus"]);
        Plan::new()
            .word("card", card)
            .together(vec![
                ("manage_nfc", json!({"action": "enable"})),
                ("manage_nfc", json!({"action": "set_mode", "mode": "card", "cardId": card})),
            ])
            .is("radio", "nfc", "/on", true)
            .is("radio", "nfc", "/mode", "card")
            .is("radio", "nfc", "/card_id", card)
            .only(&["radio/nfc"])
    },
};

const SIM_DEFAULT: Family = Family {
    name: "sim-default",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Make SIM 2 the default card for {purpose}.",
            "Use the second SIM for {purpose} by default.",
            "Set SIM card 2 as the default for {purpose}.",
            "From now on I want {purpose} to go over SIM 2.",
            "My Unicom card in slot two should handle {purpose}.",
            "Switch the standard SIM for {purpose} to number 2.",
        ],
        zh: [
            "把卡2设为{purpose}的默认卡。",
            "默认用第二张SIM卡{purpose}。",
            "将SIM卡2设置成{purpose}默认卡。",
            "以后{purpose}都走卡2。",
            "卡槽二的联通卡负责{purpose}。",
            "{purpose}的首选SIM换成2号卡。",
        ],
    }],
    plan: |draw| {
        let (purpose, english, chinese) = draw.pick(&[
            ("call", "calls", "打电话"),
            ("sms", "text messages", "发短信"),
            ("data", "mobile data", "移动数据上网"),
        ]);
        let spoken = draw.tongue().of((english, chinese));
        Plan::new()
            .word("purpose", spoken)
            .call("manage_sim", json!({"action": "set_default", "slot": 2, "purpose": purpose}))
            .row(json!({"collection": "sims", "key": "2", "field": "/default_for", "matches": {"contains": purpose}}))
            .only(&["sims", "net/mobile"])
    },
};

const NETWORK_MODE: Family = Family {
    name: "network-mode",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Set the mobile network mode to {mode}.",
            "Make the phone use {mode} as its network type.",
            "Change the preferred network generation to {mode}.",
            "I'd like to stay on {mode}, set the network mode.",
            "Pin the cellular generation to {mode}.",
            "Make {mode} the newest network that my phone goes for.",
        ],
        zh: [
            "把移动网络模式设为{mode}。",
            "让手机使用{mode}网络。",
            "首选网络类型改成{mode}。",
            "我想一直用{mode}，设置一下网络模式。",
            "把蜂窝网络制式固定为{mode}。",
            "手机最高只用{mode}网络就行，改一下。",
        ],
    }],
    plan: |draw| {
        let (mode, spoken) = draw.pick(&[("4g", "4G"), ("3g", "3G"), ("2g", "2G")]);
        Plan::new()
            .word("mode", spoken)
            .call("manage_network_mode", json!({"action": "set", "mode": mode}))
            .is("net", "mobile", "/mode", mode)
            .only(&["net/mobile"])
    },
};

const ABROAD: Family = Family {
    name: "abroad-on-data",
    category: PARALLEL,
    phrases: &[Phrases {
        en: [
            "I'm in {country} without Wi-Fi. Turn on data roaming, and mobile data too.",
            "Switch on roaming and mobile data, I've just crossed into {country}.",
            "For my stay in {country} I need data roaming on together with mobile data.",
            "Enable mobile data and roaming while I am in {country}.",
            "Get me online abroad in {country}: both the roaming and the cellular data switch.",
            "{country} has no WLAN here, so allow roaming and start cellular data.",
        ],
        zh: [
            "我在{country}，没有Wi-Fi，打开数据漫游和移动数据。",
            "刚到{country}，把漫游和移动数据都开起来。",
            "在{country}期间我需要数据漫游，移动数据也打开。",
            "我人在{country}，启用移动数据和漫游。",
            "到{country}了，境外上网的漫游和流量开关都打开。",
            "{country}这里没有WLAN，允许漫游并打开蜂窝数据。",
        ],
    }],
    plan: |draw| {
        let country = draw.word(&[
            ("Thailand", "泰国"),
            ("Japan", "日本"),
            ("France", "法国"),
            ("Brazil", "巴西"),
            ("Kenya", "肯尼亚"),
        ]);
        Plan::new()
            .word("country", country)
            .patch("net", "mobile", json!({"on": false}))
            .put("net", "wifi", world::wifi(None))
            .together(vec![
                ("manage_roaming", json!({"action": "enable"})),
                ("manage_mobile_data", json!({"action": "enable"})),
            ])
            .is("net", "roaming", "/on", true)
            .is("net", "mobile", "/on", true)
            .only(&["net/roaming", "net/mobile"])
    },
};
