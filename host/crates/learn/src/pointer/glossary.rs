//! Words of everyday actions, things and measures in English and Chinese, so that a specification that is written in one language meets a
//! request in the other. It knows no tool: these are the words that schemas of any kind use for what they ask for.

/// An English word of schemas, with what people say for it.
const WORDS: &[(&str, &str)] = &[
    ("accept", "yes 接受 同意 参加"),
    ("accuracy", "精度"),
    ("action", "操作"),
    ("add", "添加 加 增加 新增"),
    ("address", "地址"),
    ("alarm", "闹钟"),
    ("amount", "金额"),
    ("app", "application 应用"),
    ("append", "add 追加 加上 补充"),
    ("auto", "automatic 自动"),
    ("balance", "平衡"),
    ("body", "text 内容"),
    ("calendar", "日历"),
    ("call", "通话 电话 来电"),
    ("cancel", "取消"),
    ("card", "卡"),
    ("category", "类别"),
    ("city", "城市"),
    ("clear", "清除"),
    ("color", "colour 色彩 颜色"),
    ("connect", "join 连接 连上 接入 加入"),
    ("contact", "person recipient 联系人 收件人 谁"),
    ("content", "text 内容"),
    ("correction", "校正"),
    ("create", "new add make set up 新建 创建 设 建"),
    ("currency", "货币 币种"),
    ("data", "数据 流量"),
    ("date", "day 日期 哪天"),
    ("datetime", "date time day 日期 时间 哪天"),
    ("day", "date 日期 哪天"),
    ("decline", "no 拒绝 谢绝"),
    ("default", "默认"),
    ("delete", "remove cancel 删除 删掉 取消"),
    ("device", "设备"),
    ("disable", "turn off switch off stop 关闭 关掉 关 停用"),
    ("disconnect", "断开"),
    ("download", "下载"),
    ("duration", "时长 多久"),
    ("email", "mail 邮箱"),
    ("enable", "turn on switch on activate 打开 开启 启用 开"),
    ("end", "until 结束"),
    ("event", "title 日程 事件"),
    ("expression", "sum 算式"),
    ("favourite", "favorite star 收藏"),
    ("forget", "忘记 忘掉"),
    ("forward", "转发"),
    ("fri", "friday 周五 星期五"),
    ("from", "start 从 出发"),
    ("group", "分组"),
    ("hide", "隐藏 不显示"),
    ("high", "高"),
    ("id", "which 哪个"),
    ("increase", "raise louder brighter 调高 增大"),
    ("decrease", "lower quieter darker 调低 减小"),
    ("install", "安装"),
    ("item", "项目"),
    ("keyword", "text 关键词 内容"),
    ("label", "name called 名称 标签"),
    ("language", "语言"),
    ("level", "档 级别 大小"),
    ("limit", "上限 限制"),
    ("locale", "语言"),
    ("location", "place where 地点 位置"),
    ("lock", "锁"),
    ("low", "低"),
    ("magnification", "放大"),
    ("media", "媒体"),
    ("memory", "记忆"),
    ("message", "text 消息 短信"),
    ("minutes", "min 分钟"),
    ("min", "minutes 分钟"),
    ("mode", "模式"),
    ("mon", "monday 周一 星期一"),
    ("month", "months 月"),
    ("name", "called 名称 名字"),
    ("network", "网络"),
    ("new", "新"),
    ("normal", "正常 普通"),
    ("note", "memo 笔记 备注"),
    ("notification", "通知"),
    ("number", "号码"),
    ("off", "关"),
    ("offset", "多少"),
    ("on", "开"),
    ("pair", "配对"),
    ("password", "passphrase key 密码 口令"),
    ("pause", "暂停"),
    ("percent", "百分"),
    ("performance", "性能"),
    ("phone", "telephone 电话 手机"),
    ("power", "电源"),
    ("profile", "配置"),
    ("query", "show tell check look up what which is 查询 查 看看"),
    ("read", "已读 读取"),
    ("reboot", "restart 重启"),
    ("relation", "关系"),
    ("remove", "delete 移除 删除"),
    ("rename", "new name call 改名 重命名"),
    ("repeat", "every weekly daily 重复 每"),
    ("resume", "continue 继续"),
    ("ring", "ringtone 铃声 响铃"),
    ("ringtone", "tone sound 铃声"),
    ("route", "航线"),
    ("sat", "saturday weekend 周六 星期六"),
    ("saving", "saver save 省电 节能"),
    ("schedule", "日程 定时"),
    ("search", "find look 查找 搜索"),
    ("seconds", "sec 秒"),
    ("sec", "seconds 秒"),
    ("set", "change put make 设置 设为 调到 设"),
    ("show", "显示"),
    ("silent", "静音"),
    ("size", "大小 字号"),
    ("slot", "card 卡"),
    ("sms", "text message 短信"),
    ("sound", "tone 声音 铃声"),
    ("start", "begin 开始 启动"),
    ("stop", "end 停止 结束"),
    ("sun", "sunday weekend 周日 星期日 星期天"),
    ("super", "ultra 超级"),
    ("target", "目标"),
    ("text", "内容"),
    ("thu", "thursday 周四 星期四"),
    ("time", "when hour 时间 几点 什么时候"),
    ("timezone", "zone 时区"),
    ("title", "name called headed 标题 名称"),
    ("to", "到"),
    ("tue", "tuesday 周二 星期二"),
    ("type", "kind 类型"),
    ("unit", "单位"),
    ("until", "end 直到"),
    ("update", "change move rename edit 修改 改 更新"),
    ("value", "值"),
    ("vibrate", "vibration buzz 振动 震动"),
    ("volume", "音量"),
    ("wake", "起床 叫醒"),
    ("wed", "wednesday 周三 星期三"),
    ("week", "weeks 周"),
    ("year", "years 年"),
];

/// Measures and currencies under the name that programs use, with what people say for them.
const MEASURES: &[(&str, &[&str])] = &[
    ("kilometer", &["kilometers", "kilometer", "kilometres", "kilometre", "km", "公里", "千米"]),
    ("meter", &["meters", "meter", "metres", "metre", "米"]),
    ("centimeter", &["centimeters", "centimeter", "centimetres", "centimetre", "cm", "厘米"]),
    ("millimeter", &["millimeters", "millimeter", "millimetres", "millimetre", "mm", "毫米"]),
    ("mile", &["miles", "mile", "英里"]),
    ("foot", &["feet", "foot", "英尺"]),
    ("inch", &["inches", "inch", "英寸"]),
    ("yard", &["yards", "yard"]),
    ("kilogram", &["kilograms", "kilogram", "kg", "千克", "公斤"]),
    ("gram", &["grams", "gram", "克"]),
    ("milligram", &["milligrams", "milligram", "mg", "毫克"]),
    ("pound", &["pounds", "pound", "lb", "lbs", "磅"]),
    ("ounce", &["ounces", "ounce", "oz", "盎司"]),
    ("tonne", &["tonnes", "tonne", "tons", "吨"]),
    ("liter", &["liters", "liter", "litres", "litre", "升"]),
    ("milliliter", &["milliliters", "milliliter", "millilitres", "millilitre", "ml", "毫升"]),
    ("gallon", &["gallons", "gallon", "加仑"]),
    ("celsius", &["celsius", "摄氏度"]),
    ("fahrenheit", &["fahrenheit", "华氏度"]),
    ("second", &["seconds", "second", "秒"]),
    ("minute", &["minutes", "minute", "分钟"]),
    ("hour", &["hours", "hour", "小时"]),
    ("day", &["days", "day", "天"]),
    ("megabyte", &["megabytes", "megabyte", "mb", "兆"]),
    ("gigabyte", &["gigabytes", "gigabyte", "gb"]),
    ("USD", &["us dollars", "us dollar", "dollars", "dollar", "bucks", "usd", "美元", "美金", "美刀", "刀"]),
    ("CNY", &["yuan", "renminbi", "rmb", "cny", "人民币", "元"]),
    ("EUR", &["euros", "euro", "eur", "欧元"]),
    ("GBP", &["british pounds", "pounds sterling", "gbp", "英镑"]),
    ("JPY", &["yen", "jpy", "日元"]),
    ("HKD", &["hong kong dollars", "hkd", "港币", "港元"]),
    ("KRW", &["korean won", "krw", "韩元"]),
];

/// Operators of sums, longer words first.
const OPERATORS: &[(&str, &str)] = &[
    ("multiplied by", "*"),
    ("divided by", "/"),
    ("times", "*"),
    ("plus", "+"),
    ("minus", "-"),
    ("over", "/"),
    ("乘以", "*"),
    ("乘上", "*"),
    ("除以", "/"),
    ("加上", "+"),
    ("减去", "-"),
    ("乘", "*"),
    ("加", "+"),
    ("减", "-"),
    ("*", "*"),
    ("×", "*"),
    ("÷", "/"),
    ("/", "/"),
    ("+", "+"),
    ("-", "-"),
    ("−", "-"),
];

/// What people say for an English word of a schema.
pub(super) fn said_for(word: &str) -> Option<&'static str> {
    WORDS.iter().find(|(known, _)| *known == word).map(|(_, said)| *said)
}

/// The first Chinese word for an English word of a schema.
pub(super) fn chinese(word: &str) -> Option<&'static str> {
    said_for(word)?.split(' ').find(|said| said.chars().all(super::grams::is_han))
}

/// The words of an identifier such as `phoneNumber` or `super_saving`, in lower case.
pub(super) fn pieces(identifier: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut before = ' ';
    for character in identifier.chars() {
        let cuts = !character.is_alphanumeric()
            || (character.is_uppercase() && before.is_lowercase())
            || (character.is_ascii_digit() != before.is_ascii_digit() && before.is_ascii_alphanumeric());
        if cuts || pieces.is_empty() {
            pieces.push(String::new());
        }
        if character.is_alphanumeric()
            && let Some(piece) = pieces.last_mut()
        {
            piece.extend(character.to_lowercase());
        }
        before = character;
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// An identifier's words with what people say for them in both languages.
pub(super) fn spoken(identifier: &str) -> String {
    let mut text = String::new();
    for piece in pieces(identifier) {
        for part in [Some(piece.as_str()), said_for(&piece)].into_iter().flatten() {
            text.push_str(part);
            text.push(' ');
        }
    }
    text
}

/// The measure or currency that begins a lower-case text, with the bytes that it takes.
pub(super) fn measure_at(text: &str) -> Option<(&'static str, usize)> {
    longest(text, MEASURES.iter().flat_map(|(name, said)| said.iter().map(|said| (*said, *name))))
}

/// The operator that begins a lower-case text, with the bytes that it takes.
pub(super) fn operator_at(text: &str) -> Option<(&'static str, usize)> {
    longest(text, OPERATORS.iter().copied())
}

fn longest(text: &str, words: impl Iterator<Item = (&'static str, &'static str)>) -> Option<(&'static str, usize)> {
    words
        .filter(|(said, _)| text.starts_with(said) && ends_word(said, text.get(said.len()..).unwrap_or_default()))
        .max_by_key(|(said, _)| said.len())
        .map(|(said, name)| (name, said.len()))
}

/// Whether a word ends where the rest begins: a Latin word is not cut.
fn ends_word(said: &str, rest: &str) -> bool {
    let last = said.chars().next_back().is_some_and(|last| last.is_ascii_alphanumeric());
    !(last && rest.chars().next().is_some_and(|next| next.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_fall_into_words() {
        for (identifier, expected) in [
            ("phoneNumber", vec!["phone", "number"]),
            ("super_saving", vec!["super", "saving"]),
            ("5g_auto", vec!["5", "g", "auto"]),
        ] {
            assert_eq!(pieces(identifier), expected, "{identifier}");
        }
        assert!(spoken("enable").contains("打开"));
        assert_eq!(chinese("password"), Some("密码"));
        assert_eq!(chinese("zebra"), None);
    }

    #[test]
    fn measures_are_whole_words_and_the_longest_counts() {
        assert_eq!(measure_at("kilometers to"), Some(("kilometer", 10)));
        assert_eq!(measure_at("毫升是"), Some(("milliliter", 6)));
        assert_eq!(measure_at("meterage"), None);
        assert_eq!(measure_at("us dollars"), Some(("USD", 10)));
        assert_eq!(operator_at("乘以3"), Some(("*", 6)));
        assert_eq!(operator_at("timesheet"), None);
    }

    #[test]
    fn every_word_stands_once() {
        for (place, (word, _)) in WORDS.iter().enumerate() {
            assert_eq!(WORDS.iter().position(|(other, _)| other == word), Some(place), "{word}");
        }
    }
}
