//! Planted identifiers in both languages, by kind, and sentences that hold none.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// Numbers from a seed: splitmix64.
struct Seeded(u64);

impl Seeded {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[usize::try_from(self.below(list.len() as u64)).expect("small")]
    }

    fn digits(&mut self, count: usize) -> String {
        (0..count).map(|_| char::from(b'0' + u8::try_from(self.below(10)).expect("a digit"))).collect()
    }
}

const GIVEN_PLANTED: &[&str] = &[
    "Anna", "Marcus", "Priya", "Kenji", "Olivia", "Tobias", "Fatima", "Lucas", "Ingrid", "Samuel", "Yolanda",
    "Bertrand",
];
const SURNAMES_PLANTED: &[&str] =
    &["Weber", "Okafor", "Lindqvist", "Patel", "Hargrove", "Nakamura", "Delgado", "Brown", "Petrov", "Castellano"];
const SURNAMES_HAN: &[&str] = &["王", "李", "张", "刘", "陈", "赵", "周", "欧阳", "郑", "韩"];
const GIVEN_HAN: &[&str] = &["建国", "小芳", "伟", "思远", "雨桐", "志强", "静", "子涵", "丽华", "浩然"];
const STREETS: &[&str] =
    &["Maple Street", "Old Mill Road", "Fifth Avenue", "Queens Lane", "Sunset Boulevard", "Church Drive"];
const CITIES_HAN: &[&str] = &["杭州市西湖区", "上海市浦东新区", "广州市天河区", "成都市锦江区", "北京市海淀区"];
const ROADS_HAN: &[&str] = &["文三路", "世纪大道", "中山大道", "人民路", "学院路", "解放街"];

fn resident_id(random: &mut Seeded) -> String {
    let body = format!(
        "110105{}{:02}{:02}{}",
        1950 + random.below(60),
        1 + random.below(12),
        1 + random.below(28),
        random.digits(3)
    );
    let weights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    let sum: u32 = body.bytes().zip(weights).map(|(byte, weight)| u32::from(byte - b'0') * weight).sum();
    let check = ['1', '0', 'X', '9', '8', '7', '6', '5', '4', '3', '2'][(sum % 11) as usize];
    format!("{body}{check}")
}

fn card(random: &mut Seeded) -> String {
    let body = format!("6222{}", random.digits(11));
    let sum: u32 = body
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, byte)| {
            let digit = u32::from(byte - b'0') * if place % 2 == 0 { 2 } else { 1 };
            digit / 10 + digit % 10
        })
        .sum();
    let all = format!("{body}{}", (10 - sum % 10) % 10);
    if random.below(2) == 0 { all } else { format!("{} {} {} {}", &all[..4], &all[4..8], &all[8..12], &all[12..]) }
}

/// An identifier of a kind, for a sentence in English or Chinese.
fn planted(kind: IdentifierKind, chinese: bool, random: &mut Seeded) -> String {
    match kind {
        IdentifierKind::Name if chinese => format!("{}{}", random.pick(SURNAMES_HAN), random.pick(GIVEN_HAN)),
        IdentifierKind::Name => format!("{} {}", random.pick(GIVEN_PLANTED), random.pick(SURNAMES_PLANTED)),
        IdentifierKind::Phone if chinese => match random.below(3) {
            0 => format!("1{}{}", 3 + random.below(7), random.digits(9)),
            1 => format!("+86 1{}{} {} {}", 3 + random.below(7), random.digits(1), random.digits(4), random.digits(4)),
            _ => format!("0571-{}", random.digits(8)),
        },
        IdentifierKind::Phone => match random.below(3) {
            0 => format!("+44 20 7{} {}", random.digits(3), random.digits(4)),
            1 => format!("({}) 555-{}", 200 + random.below(700), random.digits(4)),
            _ => format!("{}-555-{}", 200 + random.below(700), random.digits(4)),
        },
        IdentifierKind::IdNumber if chinese => resident_id(random),
        IdentifierKind::IdNumber => format!("{}-{}-{}", random.digits(3), random.digits(2), random.digits(4)),
        IdentifierKind::BankCard => card(random),
        IdentifierKind::Email => {
            format!(
                "{}.{}{}@{}",
                random.pick(GIVEN_PLANTED).to_lowercase(),
                random.pick(SURNAMES_PLANTED).to_lowercase(),
                random.below(99),
                random.pick(&["mail.example", "qq.com", "corp.example.org"])
            )
        }
        IdentifierKind::Address if chinese => {
            format!(
                "{}{}{}号{}栋{}室",
                random.pick(CITIES_HAN),
                random.pick(ROADS_HAN),
                1 + random.below(300),
                1 + random.below(20),
                101 + random.below(900)
            )
        }
        IdentifierKind::Address => {
            format!("{} {}, Apt {}", 1 + random.below(999), random.pick(STREETS), 1 + random.below(40))
        }
        IdentifierKind::Plate if chinese => {
            format!("{}{}{}", random.pick(&["浙", "沪", "京", "粤"]), random.pick(&["A", "B", "C"]), random.digits(5))
        }
        IdentifierKind::Plate => {
            format!("{}{} {}", random.digits(1), random.pick(&["ABC", "XKD", "LMN"]), random.digits(3))
        }
        IdentifierKind::Account => {
            format!("{}_{}", random.pick(&["sunny", "nightowl", "coder", "xiaoyu"]), random.digits(4))
        }
        IdentifierKind::Url => {
            format!("https://{}.example.com/u/{}", random.pick(&["blog", "photos", "me"]), random.digits(5))
        }
        IdentifierKind::Passport => format!("E{}", random.digits(8)),
        IdentifierKind::Date if chinese => {
            format!("{}年{}月{}日", 1950 + random.below(70), 1 + random.below(12), 1 + random.below(28))
        }
        IdentifierKind::Date => format!(
            "{} {}, {}",
            random.pick(&["March", "July", "October"]),
            1 + random.below(28),
            1950 + random.below(70)
        ),
        IdentifierKind::Amount if chinese => format!("{}元", 1_001 + random.below(90_000)),
        IdentifierKind::Amount => {
            format!("${},{}.{}", 1 + random.below(90), 100 + random.below(899), 10 + random.below(89))
        }
    }
}

fn frames(kind: IdentifierKind, chinese: bool) -> &'static [&'static str] {
    match (kind, chinese) {
        (IdentifierKind::Name, false) => &[
            "I had lunch with {} at the new place.",
            "My manager {} approved the plan.",
            "Please send the notes to {} today.",
            "{} said the train was late.",
        ],
        (IdentifierKind::Name, true) => {
            &["我昨天和{}一起吃饭。", "我同事{}批准了方案。", "请把笔记发给{}。", "{}说火车晚点了。"]
        }
        (IdentifierKind::Phone, false) => {
            &["You can reach me at {} after six.", "The clinic's number is {}.", "I texted {} and nobody answered."]
        }
        (IdentifierKind::Phone, true) => &["我的手机号是{}。", "打{}就能订位。", "诊所电话{}，上午接。"],
        (IdentifierKind::IdNumber, false) => &["My social security number is {}.", "They asked for {} on the form."],
        (IdentifierKind::IdNumber, true) => &["我的身份证号是{}。", "表格上填的是{}。"],
        (IdentifierKind::BankCard, false) => &["Charge it to {} please.", "The card {} was declined."],
        (IdentifierKind::BankCard, true) => &["转到{}这张卡。", "卡号{}被拒了。"],
        (IdentifierKind::Email, false) => &["Write to {} about it.", "The form went to {}."],
        (IdentifierKind::Email, true) => &["发到{}就行。", "我的邮箱是{}。"],
        (IdentifierKind::Address, false) => &["The parcel goes to {}.", "We live at {} now."],
        (IdentifierKind::Address, true) => &["快递寄到{}。", "我住在{}。"],
        (IdentifierKind::Plate, false) => &["The car with plate {} was towed.", "My licence plate is {}."],
        (IdentifierKind::Plate, true) => &["车牌{}被拖走了。", "我的车是{}。"],
        (IdentifierKind::Account, false) => {
            &["My Instagram is {} if you want the photos.", "Follow me, my username is {}."]
        }
        (IdentifierKind::Account, true) => &["加我微信{}。", "我的用户名是{}。"],
        (IdentifierKind::Url, false) => &["The photos are on {} since last week."],
        (IdentifierKind::Url, true) => &["照片在 {} 上。"],
        (IdentifierKind::Passport, false) => &["My passport number is {}.", "They stamped {} at the border."],
        (IdentifierKind::Passport, true) => &["我的护照号是{}。", "登记的是{}。"],
        (IdentifierKind::Date, false) => &["I was born on {}.", "The operation was on {}."],
        (IdentifierKind::Date, true) => &["我是{}出生的。", "手术是{}做的。"],
        (IdentifierKind::Amount, false) => &["My salary is {} a month.", "We paid {} for it."],
        (IdentifierKind::Amount, true) => &["我的工资是{}。", "一共花了{}。"],
    }
}

const CLEAN: &[&str] = &[
    "Boil the pasta for nine minutes and save a cup of the water.",
    "When a flight is cancelled, ask for the next one before you leave the queue.",
    "Book window seats early, they go first.",
    "The user prefers short answers with one example.",
    "First turn off airplane mode, then open the map.",
    "Check that both cities are covered before adding a monitor.",
    "Turn the volume down to 30 percent at night.",
    "A meeting of two hours needs a break in the middle.",
    "Remind people a day before, not an hour before.",
    "The train takes about three hours and the bus five.",
    "Use metric units in recipes.",
    "Ask for the price before ordering.",
    "If the download fails, try again after 5 minutes.",
    "In May the gardens are full, so go in April.",
    "Python is easier to start with than Rust.",
    "Set three alarms for early flights.",
    "The best time to call is between 9 and 11.",
    "Never pay before the room was seen.",
    "Two adults and one child need two rooms there.",
    "On Monday the museum is closed.",
    "Take the second exit and turn left.",
    "Version 2.1 of the app fixed the crash.",
    "It rained for 40 days.",
    "Water the plants twice a week in summer.",
    "先关闭飞行模式，再打开地图。",
    "航班取消的时候，先问下一班还有没有座位。",
    "靠窗的座位要提前订。",
    "用户喜欢简短的回答。",
    "晚上把音量调到三十。",
    "开会两个小时中间要休息一次。",
    "提前一天提醒比提前一小时好。",
    "高铁比飞机方便。",
    "周末人很多，最好周三去。",
    "万一下雨就改到室内。",
    "方法很简单：先泡一夜再煮。",
    "点菜之前先问价格。",
    "下载失败的话，等五分钟再试。",
    "夏天每周浇两次水。",
    "马上出发就能赶上。",
    "时间不够就分两次做。",
    "温度降到零下就不要洗车。",
    "谢谢你的建议，我下次试试。",
    "白天光线好，适合拍照。",
    "程序更新之后要重启。",
    "高兴的时候多走几步路。",
    "任务太多就先做最急的。",
    "安全带要系好。",
    "第三个路口左转。",
    "今天的会议改到下午三点。",
    "每次只加一个监控，不要重复。",
];

#[test]
fn planted_identifiers_are_taken_out() {
    let mut random = Seeded(20_250_304);
    let mut rates: BTreeMap<(IdentifierKind, bool), (usize, usize)> = BTreeMap::new();
    let mut missed = Vec::new();
    let mut sentences = 0;
    for kind in IdentifierKind::ALL {
        for chinese in [false, true] {
            for number in 0..20 {
                let said = planted(kind, chinese, &mut random);
                let frames = frames(kind, chinese);
                let text = frames[number % frames.len()].replace("{}", &said);
                let result = deidentify(&text, &KnownNames::new()).expect("short");
                let gone = is_gone(&result.text, &said);
                let rate = rates.entry((kind, chinese)).or_default();
                rate.1 += 1;
                rate.0 += usize::from(gone);
                sentences += 1;
                if !gone {
                    missed.push(format!("{text} -> {}", result.text));
                }
            }
        }
    }
    assert!(sentences >= 400);
    let (gone, all) = rates.values().fold((0, 0), |(gone, all), rate| (gone + rate.0, all + rate.1));
    for ((kind, chinese), (gone, all)) in &rates {
        println!("privacy: {:9} {} {gone}/{all}", kind.as_str(), if *chinese { "zh" } else { "en" });
    }
    println!("privacy: all {gone}/{all}; missed {missed:#?}");
    assert!(gone * 100 >= all * 97, "{missed:#?}");
    for ((kind, chinese), (gone, all)) in &rates {
        assert!(gone * 100 >= all * 85, "{kind:?} {chinese}: {gone} of {all}; {missed:#?}");
    }
}

/// Identifiers in words that no frame has, and what of them must be gone. At their first reading 25 of 40 were gone, 6 went to a person and 9 passed;
/// detectors were added for those since, so that the set is no longer blind and a new one would do as badly.
const HARD: &[(&str, &str)] = &[
    ("it was Wojciech who fixed the boiler", "Wojciech"),
    ("ask for Ngozi at the front desk", "Ngozi"),
    ("signed, M. Tanaka-Reyes", "Tanaka"),
    ("Anna's brother drove us", "Anna"),
    ("tell priya i'm late", "priya"),
    ("my number: four one five, 555 0199", "555 0199"),
    ("reach me on 0044 7700 900123", "7700 900123"),
    ("text 07700 900456 when you are here", "900456"),
    ("mail me: jo dot smith at example dot com", "smith"),
    ("j.doe(at)example.org", "example.org"),
    ("I'm at Flat 4, 22B Baker St, London NW1 6XE", "22B Baker"),
    ("deliver to 15 rue de Rivoli, Paris", "15 rue"),
    ("Lindenstraße 12, 10969 Berlin", "12, 10969"),
    ("iban DE89 3704 0044 0532 0130 00", "3704 0044"),
    ("card ending in 4242, full 4242 4242 4242 4242", "4242 4242 4242"),
    ("born 3/14/88", "3/14/88"),
    ("DOB: 14 March 1988", "14 March"),
    ("she makes 84.5k dollars", "84.5"),
    ("ssn 078051120", "078051120"),
    ("my steam is xX_blade_77", "blade"),
    ("find me at t.me/greenfox99", "greenfox"),
    ("server is 192.168.4.27", "192.168"),
    ("license K-AB 1234 parked outside", "1234"),
    ("passport no. 533401987", "533401987"),
    ("慕容雪昨天请假了", "慕容雪"),
    ("把资料给欧阳娜娜一份", "欧阳娜娜"),
    ("联系小林就行", "小林"),
    ("林主任同意了", "林主任"),
    ("老陈的车坏了", "老陈"),
    ("打我电话一三八零零一三八零零零", "一三八零零一三八零零零"),
    ("手机：138-0013-8000", "0013"),
    ("加V：greenfox99", "greenfox99"),
    ("qq 1020304050", "1020304050"),
    ("我住朝阳区望京西园四区410楼", "410"),
    ("老家在河南省信阳市光山县马畈镇柳林村", "马畈"),
    ("车牌是粤B·D12345", "12345"),
    ("卡号6222 0212 3456 7890 128", "0212"),
    ("身份证尾号是002X，全号11010519491231002X", "19491231"),
    ("生日九〇年五月十二", "五月十二"),
    ("月薪一万八千五百元", "八千五百"),
];

#[test]
fn identifiers_in_other_words_are_mostly_taken_out_or_doubted() {
    let (mut gone, mut doubted, mut passed) = (0, 0, Vec::new());
    for (text, secret) in HARD {
        let result = deidentify(text, &KnownNames::new()).expect("short");
        if !result.text.contains(secret) {
            gone += 1;
        } else if result.doubts.iter().any(|doubt| !doubt.removed) {
            doubted += 1;
        } else {
            passed.push(format!("{text} -> {}", result.text));
        }
    }
    println!(
        "privacy: hard {gone} gone, {doubted} sent to a person, {} passed of {}: {passed:#?}",
        passed.len(),
        HARD.len()
    );
    assert!((gone + doubted) * 100 >= HARD.len() * 95, "{passed:#?}");
}

/// Whether neither the identifier nor a telling part of it is left.
fn is_gone(text: &str, said: &str) -> bool {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let whole_digits = digits(said);
    let parts = said
        .split([' ', ',', '@'])
        .filter(|part| part.chars().count() > 3 && !part.chars().all(|ch| ch.is_ascii_digit()));
    let telling = |part: &str| text.contains(part) && !["March", "July", "October"].contains(&part);
    !text.contains(said)
        && !parts.into_iter().any(telling)
        && (whole_digits.len() < 5 || !digits(text).contains(&whole_digits))
}

#[test]
fn clean_sentences_stay_as_they_are() {
    let changed: Vec<_> = CLEAN
        .iter()
        .filter_map(|text| {
            let result = deidentify(text, &KnownNames::new()).expect("short");
            (!result.removals.is_empty()).then_some(format!("{text} -> {}", result.text))
        })
        .collect();
    let doubtful =
        CLEAN.iter().filter(|text| !deidentify(text, &KnownNames::new()).expect("short").doubts.is_empty()).count();
    println!(
        "privacy: {} of {} clean sentences changed, {doubtful} doubtful: {changed:#?}",
        changed.len(),
        CLEAN.len()
    );
    assert!(changed.len() * 100 <= CLEAN.len() * 4, "{changed:#?}");
}

#[test]
fn placeholders_are_typed_and_the_same_for_the_same() {
    let text = "Anna Weber met Tom. Anna Weber paid $1,234.56 on March 4, 2025 from 13812345678.";
    let result = deidentify(text, &KnownNames::new()).expect("short");
    assert_eq!(
        result.text,
        "[NAME-1] met [NAME-2]. [NAME-1] paid [AMOUNT about 1000] on [DATE 2025-03] from [PHONE-1]."
    );
    for removal in &result.removals {
        assert!(text.get(removal.range.clone()).is_some());
    }
}

fn entities() -> KnownNames {
    let mut names = KnownNames::new();
    names.add("Zyx Quell", &["Zyx"]);
    names.add("翠花", &[]);
    names.add("98765", &[]);
    names
}

#[test]
fn the_gate_refuses_what_still_holds_an_entity() {
    let plain = |text: &str| DeIdentified {
        text: text.to_owned(),
        removals: Vec::new(),
        doubts: Vec::new(),
        confidence: 1_000,
    };
    for text in ["met zyx today", "the QUELL family", "翠 花来了", "翠\u{200b}花", "code 9-8-7-6-5"] {
        assert_eq!(gate(plain(text), &entities()), Outcome::Refuse { tokens: 1 }, "{text}");
    }
    for text in ["quelling the riot", "[NAME-1] came", "花翠", "9876"] {
        assert!(matches!(gate(plain(text), &entities()), Outcome::Pass(_)), "{text}");
    }
    let taken_out = deidentify("Zyx Quell and 翠花 were there.", &entities()).expect("short");
    assert!(matches!(gate(taken_out, &entities()), Outcome::Pass(_)));
}

#[test]
fn doubt_goes_to_a_person_with_the_places() {
    let text = "I asked Gorblax about it.";
    let result = deidentify(text, &KnownNames::new()).expect("short");
    let Outcome::Review { text: review } = gate(result, &KnownNames::new()) else { panic!("it passed") };
    let doubt = review.doubts.first().expect("a doubt");
    assert_eq!((text.get(doubt.range.clone()), doubt.removed), (Some("Gorblax"), false));
    let number = deidentify("the code is 8812345", &KnownNames::new()).expect("short");
    assert!(matches!(gate(number, &KnownNames::new()), Outcome::Review { .. }));
    // An ID with a wrong check digit is taken out, and doubtful.
    let wrong = deidentify("编号110105194912310021", &KnownNames::new()).expect("short");
    assert!(wrong.doubts.iter().any(|doubt| doubt.removed) && !wrong.text.contains("110105"));
    assert!(matches!(
        gate(deidentify(CLEAN[0], &KnownNames::new()).expect("short"), &KnownNames::new()),
        Outcome::Pass(_)
    ));
}

#[test]
fn names_in_a_run_and_numbers_in_words_are_doubted() {
    for text in [
        "老李推荐的修车店很好",
        "小芳喜欢吃辣",
        "那家店是阿强开的",
        "王芳推荐的牙医不错",
        "the door code is four two one seven",
        "the door code is 4217",
        "it ends in double five, nine one",
        "门口的密码是四二一七",
    ] {
        let result = deidentify(text, &KnownNames::new()).expect("short");
        assert!(matches!(gate(result, &KnownNames::new()), Outcome::Review { .. }), "{text}");
    }
    for text in [
        "小区门口的老店很好吃",
        "老师说小孩喜欢小猫",
        "two or three people, one of four",
        "二零二六年再看",
        "阿姨在阿根廷",
        "小时候的老朋友",
    ] {
        let result = deidentify(text, &KnownNames::new()).expect("short");
        assert!(matches!(gate(result, &KnownNames::new()), Outcome::Pass(_)), "{text}");
    }
}

#[test]
fn invisible_marks_and_wide_digits_hide_nothing() {
    for text in [
        "我的手机号是138\u{200b}1234\u{200d}5678。",
        "我的手机号是１３８１２３４５６７８。",
        "mail anna\u{2060}@example.com",
    ] {
        let result = deidentify(text, &KnownNames::new()).expect("short");
        assert_eq!(result.removals.len(), 1, "{text} -> {}", result.text);
    }
}

#[test]
fn long_texts_and_lists_are_refused() {
    let long = "a".repeat(SHARED_BYTES_MAX + 1);
    assert_eq!(deidentify(&long, &KnownNames::new()), Err(PrivacyError::TooLong { found: SHARED_BYTES_MAX + 1 }));
    let many = "ann@b.co ".repeat(REMOVALS_MAX + 1);
    assert_eq!(deidentify(&many, &KnownNames::new()), Err(PrivacyError::TooMany));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_text_is_looked_through_without_a_fault(text in "\\PC{0,120}") {
        if let Ok(result) = deidentify(&text, &entities()) {
            for removal in &result.removals {
                prop_assert!(text.get(removal.range.clone()).is_some());
            }
            let _ = gate(result, &entities());
        }
    }

    #[test]
    fn a_known_name_never_leaves(before in "[a-z ，。我]{0,20}", after in "[a-z ，。我]{0,20}", which in 0_usize..3) {
        let name = ["Zyx Quell", "翠花", "zyx"][which];
        let text = format!("{before} {name} {after}");
        let result = deidentify(&text, &entities()).expect("short");
        let left = matches!(gate(result.clone(), &entities()), Outcome::Refuse { .. });
        prop_assert!(left || !result.text.to_lowercase().contains(&name.to_lowercase()));
    }
}
