//! Small data of our own, the same for the same seed: dialogues in English and Chinese in LoCoMo's form, and Chinese messages in MemDaily's.

use loopwright_contract::memory::Role;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use serde_json::{Map, Value, json};

use super::memdaily::Trajectory;
use crate::message::{Message, Place};
use crate::moment::{Moment, Zone};

/// Sessions of one dialogue.
const SESSIONS: usize = 12;
/// Facts of one session.
const FACTS: usize = 5;
/// Messages of one person in MemDaily's form.
const MESSAGES: usize = 9;

struct Words {
    speakers: [&'static str; 2],
    things: &'static [&'static str],
    places: &'static [&'static str],
    friends: &'static [&'static str],
    days: &'static [&'static str],
    small_talk: &'static [&'static str],
    /// With `{thing}`, `{place}`, `{friend}`, `{day}`.
    facts: &'static [&'static str],
    /// A question for each fact, with `{speaker}` too.
    questions: &'static [&'static str],
    /// LoCoMo's category of each question.
    categories: &'static [u8],
    /// What leads to a fact that is told in the next turn, and the question that uses its words.
    asks: &'static str,
    answers: &'static str,
    asked: &'static str,
    together: &'static str,
    all_places: &'static str,
}

const ENGLISH: Words = Words {
    speakers: ["Anna", "Boris"],
    things: &[
        "kayak",
        "telescope",
        "violin",
        "sourdough starter",
        "bonsai",
        "drone",
        "typewriter",
        "loom",
        "sewing machine",
        "accordion",
        "aquarium",
        "pottery wheel",
    ],
    places: &[
        "harbour",
        "flea market",
        "observatory",
        "botanical garden",
        "library",
        "ice rink",
        "lighthouse",
        "quarry",
        "vineyard",
        "planetarium",
        "castle",
        "canal",
    ],
    friends: &["Miriam", "Oleg", "Priya", "Tomas", "Yusuf", "Helga"],
    days: &["yesterday", "last Friday", "two days ago", "last week", "three weeks ago", "last month"],
    small_talk: &[
        "That sounds lovely!",
        "How have you been?",
        "Take care, talk soon.",
        "Wow, tell me more!",
        "I had a long day at work.",
        "Good to hear from you.",
    ],
    facts: &[
        "I bought a {thing} at the {place} {day}.",
        "{day} {friend} showed me how to repair the {thing}.",
        "I lost my {thing} near the {place} and {friend} found it.",
    ],
    questions: &[
        "What did {speaker} buy at the {place}?",
        "When did {friend} show {speaker} how to repair the {thing}?",
        "Who found the {thing} that {speaker} lost?",
    ],
    categories: &[4, 2, 4],
    asks: "Which colour did you paint the {thing}?",
    answers: "Turquoise, with a thin silver line.",
    asked: "What colour is the {thing} that {speaker} painted?",
    together: "{friend} and I walked to the {place} {day}.",
    all_places: "Which places did {speaker} walk to with {friend}?",
};

const CHINESE: Words = Words {
    speakers: ["小安", "志强"],
    things: &[
        "皮划艇",
        "望远镜",
        "小提琴",
        "缝纫机",
        "手风琴",
        "打字机",
        "无人机",
        "盆景",
        "鱼缸",
        "砚台",
        "风筝",
        "古琴",
    ],
    places: &[
        "码头",
        "旧货市场",
        "天文台",
        "植物园",
        "图书馆",
        "溜冰场",
        "灯塔",
        "采石场",
        "葡萄园",
        "科技馆",
        "城堡",
        "运河边",
    ],
    friends: &["王淑芬", "李建国", "陈晓梅", "赵铁柱", "孙丽华", "周大伟"],
    days: &["昨天", "上周五", "前天", "上周", "三周前", "上个月"],
    small_talk: &[
        "听起来真不错！",
        "你最近怎么样？",
        "保重，回头聊。",
        "哇，多说一点！",
        "今天上班很累。",
        "很高兴收到你的消息。",
    ],
    facts: &[
        "我{day}在{place}买了一个{thing}。",
        "{day}{friend}教我修{thing}。",
        "我在{place}附近弄丢了{thing}，是{friend}找到的。",
    ],
    questions: &[
        "{speaker}在{place}买了什么？",
        "{friend}什么时候教{speaker}修{thing}的？",
        "谁找到了{speaker}弄丢的{thing}？",
    ],
    categories: &[4, 2, 4],
    asks: "你把{thing}漆成了什么颜色？",
    answers: "青绿色，带一条细细的银线。",
    asked: "{speaker}漆的{thing}是什么颜色？",
    together: "{day}我和{friend}一起走到了{place}。",
    all_places: "{speaker}和{friend}一起走到过哪些地方？",
};

/// Which language a dialogue is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// English.
    English,
    /// Chinese.
    Chinese,
}

pub(super) struct Draw(pub(super) ChaCha8Rng);

impl Draw {
    fn below(&mut self, count: usize) -> usize {
        (self.0.next_u64() % (count.max(1) as u64)) as usize
    }

    fn of<'a>(&mut self, from: &[&'a str]) -> &'a str {
        let at = self.below(from.len());
        from.get(at).copied().unwrap_or_default()
    }

    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            let other = self.below(at + 1);
            list.swap(at, other);
        }
    }
}

/// Dialogues in LoCoMo's form, as the text of a file.
#[must_use]
pub fn locomo_form(language: Language, dialogues: usize, seed: u64) -> String {
    let words = match language {
        Language::English => &ENGLISH,
        Language::Chinese => &CHINESE,
    };
    let mut draw = Draw(ChaCha8Rng::seed_from_u64(seed));
    let samples: Vec<Value> = (0..dialogues).map(|number| dialogue(words, number, &mut draw)).collect();
    Value::Array(samples).to_string()
}

struct Dialogue {
    sessions: Vec<Vec<(usize, String)>>,
    questions: Vec<Value>,
}

impl Dialogue {
    fn say(&mut self, session: usize, speaker: usize, text: String) -> String {
        let turns = self.sessions.get_mut(session);
        let at = turns.map_or(0, |turns| {
            turns.push((speaker, text));
            turns.len()
        });
        format!("D{}:{at}", session + 1)
    }

    fn said(&self, id: &str) -> Option<&str> {
        let (session, at) = id.strip_prefix('D')?.split_once(':')?;
        let place = |number: &str| number.parse::<usize>().ok()?.checked_sub(1);
        self.sessions.get(place(session)?)?.get(place(at)?).map(|(_, text)| text.as_str())
    }

    fn ask(&mut self, text: &str, category: u8, gold: &[String]) {
        let answer: Vec<&str> = gold.iter().filter_map(|id| self.said(id)).collect();
        let answer = answer.join(" ");
        self.questions.push(json!({"question": text, "category": category, "evidence": gold, "answer": answer}));
    }
}

fn dialogue(words: &Words, number: usize, draw: &mut Draw) -> Value {
    let mut said = Dialogue { sessions: vec![Vec::new(); SESSIONS], questions: Vec::new() };
    // A thing and a place are told of once by each speaker: the other's story is the distractor.
    let mut pairs: Vec<(usize, usize)> = (0..words.things.len()).flat_map(|thing| [(0, thing), (1, thing)]).collect();
    draw.shuffle(&mut pairs);
    let mut walks: Vec<(usize, usize, Vec<String>)> = Vec::new();
    for session in 0..SESSIONS {
        for _ in 0..FACTS {
            let Some((speaker, thing)) = pairs.pop() else { break };
            fact(words, &mut said, session, speaker, thing, draw);
            said.say(session, draw.below(2), draw.of(words.small_talk).to_owned());
        }
        let (speaker, friend, place) = (draw.below(2), draw.below(words.friends.len()), draw.of(words.places));
        let text = fill(
            words.together,
            "",
            place,
            words.friends.get(friend).copied().unwrap_or_default(),
            draw.of(words.days),
            "",
        );
        let id = said.say(session, speaker, text);
        match walks.iter_mut().find(|(who, with, _)| (*who, *with) == (speaker, friend)) {
            Some((_, _, ids)) => ids.push(id),
            None => walks.push((speaker, friend, vec![id])),
        }
    }
    for (speaker, friend, ids) in walks {
        let (speaker, friend) = (words.speakers.get(speaker), words.friends.get(friend));
        let text = fill(
            words.all_places,
            "",
            "",
            friend.copied().unwrap_or_default(),
            "",
            speaker.copied().unwrap_or_default(),
        );
        said.ask(&text, 1, &ids);
    }
    file(words, number, said)
}

fn fact(words: &Words, said: &mut Dialogue, session: usize, speaker: usize, thing: usize, draw: &mut Draw) {
    let name = words.speakers.get(speaker).copied().unwrap_or_default();
    let thing = words.things.get(thing).copied().unwrap_or_default();
    let (place, friend, day) = (draw.of(words.places), draw.of(words.friends), draw.of(words.days));
    let form = draw.below(words.facts.len() + 1);
    match (words.facts.get(form), words.questions.get(form), words.categories.get(form)) {
        (Some(fact), Some(question), Some(category)) => {
            let id = said.say(session, speaker, fill(fact, thing, place, friend, day, name));
            said.ask(&fill(question, thing, place, friend, day, name), *category, &[id]);
        }
        _ => {
            // The answer shares no word with the question: only its neighbour does.
            said.say(session, 1 - speaker, fill(words.asks, thing, place, friend, day, name));
            let id = said.say(session, speaker, words.answers.to_owned());
            said.ask(&fill(words.asked, thing, place, friend, day, name), 4, &[id]);
        }
    }
}

fn fill(form: &str, thing: &str, place: &str, friend: &str, day: &str, speaker: &str) -> String {
    form.replace("{thing}", thing)
        .replace("{place}", place)
        .replace("{friend}", friend)
        .replace("{day}", day)
        .replace("{speaker}", speaker)
}

fn file(words: &Words, number: usize, said: Dialogue) -> Value {
    let mut conversation = Map::new();
    for (session, turns) in said.sessions.iter().enumerate() {
        let time = format!(
            "{}:05 pm on {} {}, 2024",
            session % 11 + 1,
            session * 2 + 1,
            ["March", "May", "July"].get(session % 3).copied().unwrap_or("May")
        );
        conversation.insert(format!("session_{}_date_time", session + 1), json!(time));
        let turns: Vec<Value> = turns
            .iter()
            .enumerate()
            .map(|(at, (speaker, text))| {
                let speaker = words.speakers.get(*speaker).copied().unwrap_or_default();
                json!({"speaker": speaker, "dia_id": format!("D{}:{}", session + 1, at + 1), "text": text})
            })
            .collect();
        conversation.insert(format!("session_{}", session + 1), Value::Array(turns));
    }
    json!({"sample_id": format!("synthetic-{number}"), "conversation": conversation, "qa": said.questions})
}

const RELATIONS: &[&str] = &["表哥", "同事", "姑姑", "邻居", "大学室友", "岳父", "外甥女", "上司"];
const SURNAMES: &[&str] = &["王", "李", "张", "刘", "陈", "杨", "赵", "黄", "周", "吴"];
const GIVEN: &[&str] = &["伟强", "晓梅", "建华", "淑芬", "子涵", "丽娜", "国栋", "雨桐", "志明", "秀英"];
/// What is told of a person, and how it is asked: `{who}` is the name, `{value}` the answer.
const ATTRIBUTES: &[(&str, &str, &[&str])] = &[
    ("{who}的生日是{value}。", "的生日是哪天？", &["六月三号", "十月二十一号", "一月九号", "八月十五号"]),
    ("{who}在{value}上班。", "在哪里上班？", &["邮电局", "人民医院", "软件园", "气象站"]),
    ("{who}最喜欢吃{value}。", "最喜欢吃什么？", &["酸菜鱼", "臭豆腐", "佛跳墙", "小笼包"]),
    ("{who}的老家在{value}。", "的老家在哪里？", &["绍兴", "敦煌", "漠河", "景德镇"]),
    ("{who}身高{value}厘米。", "有多高？", &["一百六十二", "一百八十五", "一百七十", "一百七十八"]),
    ("下周六下午两点{who}要去{value}。", "下周六要去哪里？", &["体检中心", "驾校", "机场", "钢琴考级"]),
    ("{who}养了一只叫{value}的猫。", "养的猫叫什么？", &["煤球", "豆包", "橘座", "铁蛋"]),
];

/// People of whom a user tells, in MemDaily's form. Some questions name the person; others only the relation, whose name is told in another message.
#[must_use]
pub fn memdaily_form(trajectories: usize, seed: u64) -> Vec<Trajectory> {
    let mut draw = Draw(ChaCha8Rng::seed_from_u64(seed));
    (0..trajectories).map(|number| trajectory(number, &mut draw)).collect()
}

fn trajectory(number: usize, draw: &mut Draw) -> Trajectory {
    let relation = draw.of(RELATIONS);
    let name = format!("{}{}", draw.of(SURNAMES), draw.of(GIVEN));
    let mut order: Vec<usize> = (0..ATTRIBUTES.len()).collect();
    draw.shuffle(&mut order);
    let mut texts = vec![format!("我{relation}叫{name}。")];
    for at in &order {
        let (form, _, values) = ATTRIBUTES.get(*at).copied().unwrap_or_default();
        texts.push(form.replace("{who}", &name).replace("{value}", draw.of(values)));
    }
    texts.push("今天的天气真好，心情也不错。".to_owned());
    texts.truncate(MESSAGES);
    let asked = draw.below(order.len());
    let ending = order.get(asked).and_then(|at| ATTRIBUTES.get(*at)).map_or("", |(_, ending, _)| ending);
    let by_name = draw.below(2) == 0;
    let (question, gold) = if by_name {
        (format!("{name}{ending}"), vec![asked + 1])
    } else {
        (format!("我{relation}{ending}"), vec![0, asked + 1])
    };
    let start = 1_700_000_000_i64 + i64::try_from(number).unwrap_or_default() * 86_400;
    let messages = texts
        .into_iter()
        .zip(0_u32..)
        .map(|(text, position)| Message {
            place: Place {
                dialogue: "memdaily".to_owned(),
                session: number.to_string(),
                position,
                speaker: "用户".to_owned(),
                role: Role::User,
            },
            text,
            mentioned: Moment::new(start + i64::from(position) * 60, Zone::utc()).unwrap_or_else(|_| Moment::epoch()),
        })
        .collect();
    Trajectory { messages, question, gold }
}
