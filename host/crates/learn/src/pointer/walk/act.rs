//! The acts that are open, what they take, and the actions that they become.

use std::sync::Arc;

use loopwright_contract::action::{Action, reserved};
use loopwright_contract::memory::{SEARCH_LIMIT_DEFAULT, SearchMode};
use loopwright_contract::name::{CallId, MemoryId};
use loopwright_contract::tool::ToolCall;
use serde_json::Value;

use crate::pointer::candidates::is_fillable;
use crate::pointer::choice::Bag;
use crate::pointer::grams::{Grams, terms};
use crate::pointer::scene::Scene;
use crate::pointer::spec::{Shape, Slot};

use super::say;

/// Something that can be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pointer) enum Act {
    /// Calls an offered tool, by its place in the scene.
    Tool(usize),
    /// Loads a skill, by its place in the scene.
    Skill(usize),
    /// Searches the memory.
    Recall,
    /// Adds to the memory.
    Remember,
    /// Changes what is remembered.
    Replace,
    /// Forgets.
    Forget,
    /// Asks the user for something.
    Ask,
    /// Asks the user to confirm a call that waits, by its place in the history.
    Confirm(usize),
    /// Refuses.
    Refuse,
    /// Finishes.
    Finish,
}

impl Act {
    /// The acts that are open. Later calls of a decision are calls of tools.
    pub(in crate::pointer) fn open(scene: &Scene, later: bool) -> Vec<Self> {
        let callable = |place: &usize| {
            let offer = scene.offers.get(*place).map(|(_, offer)| offer);
            offer.is_some_and(|offer| offer.slots.iter().filter(|slot| slot.required).all(|slot| fillable(scene, slot)))
        };
        let mut acts: Vec<Self> = (0..scene.offers.len()).filter(callable).map(Self::Tool).collect();
        if later {
            return acts;
        }
        acts.extend((0..scene.cards.len()).map(Self::Skill));
        if scene.memory {
            acts.extend([Self::Recall, Self::Remember]);
            if !scene.memories.is_empty() {
                acts.extend([Self::Replace, Self::Forget]);
            }
        }
        if scene.ask {
            if !scene.offers.is_empty() {
                acts.push(Self::Ask);
            }
            acts.extend((0..scene.history.pending.len()).map(Self::Confirm));
        }
        acts.extend([Self::Refuse, Self::Finish]);
        acts
    }

    /// The reserved name of an act that is no tool.
    pub(in crate::pointer) fn reserved(self) -> Option<&'static str> {
        match self {
            Self::Tool(_) | Self::Skill(_) => None,
            Self::Recall => Some(reserved::RECALL),
            Self::Remember => Some(reserved::REMEMBER),
            Self::Replace => Some(reserved::REPLACE),
            Self::Forget => Some(reserved::FORGET),
            Self::Ask | Self::Confirm(_) => Some(reserved::ASK_USER),
            Self::Refuse => Some(reserved::REFUSE),
            Self::Finish => Some(reserved::FINISH),
        }
    }

    /// What people say when they mean it, in both languages.
    pub(in crate::pointer) fn words(self) -> &'static str {
        match self {
            Self::Tool(_) | Self::Skill(_) => "",
            Self::Recall => "search memory usual my preferred like always rule 我的 平时 习惯 喜欢 规矩 记忆",
            Self::Remember => "remember keep in mind memorise save don't forget 记住 记着 记下来 别忘了 记忆",
            Self::Replace => "update replace correct memory changed now new remembered 更新 更正 记忆 改成 现在",
            Self::Forget => "forget delete remove wipe from memory 忘掉 忘记 删除 移除 记忆",
            Self::Ask => "ask question which what who when missing 问 哪个 缺少",
            Self::Confirm(_) => "confirm sure go ahead yes 确认 确定",
            Self::Refuse => "refuse cannot not possible 无法 不能 拒绝",
            Self::Finish => "finish done answer tell 完成 结束 回答 告诉",
        }
    }

    /// Whether an earlier action of this name was one.
    pub(in crate::pointer) fn is_named(self, scene: &Scene, name: &str) -> bool {
        match self {
            Self::Tool(place) => scene.offers.get(place).is_some_and(|(_, offer)| offer.name.as_str() == name),
            Self::Skill(place) => scene.cards.get(place).is_some_and(|card| card.name.action_name() == name),
            act => act.reserved().is_some_and(|reserved| reserved == name),
        }
    }

    /// Its words as a bag.
    pub(in crate::pointer) fn bag(self, scene: &Scene) -> Bag {
        match self {
            Self::Tool(place) => scene.offers.get(place).map(|(_, offer)| offer.bag.clone()).unwrap_or_default(),
            Self::Skill(place) => scene.cards.get(place).map(|card| card.bag.clone()).unwrap_or_default(),
            Self::Confirm(place) => {
                let waits = scene.history.pending.get(place);
                let name = waits.map(|waits| waits.call.tool.as_str().replace('_', " ")).unwrap_or_default();
                scene.kept.bag(&["confirm", &name], || self.grams().text(&name).bag())
            }
            act => scene.kept.own.of(act).bag.clone(),
        }
    }

    fn grams(self) -> Grams {
        Grams::default().marked("act", self.words()).text(self.words())
    }

    /// Its terms.
    pub(in crate::pointer) fn terms(self, scene: &Scene) -> &[u64] {
        match self {
            Self::Tool(place) => scene.offers.get(place).map(|(_, offer)| &*offer.terms).unwrap_or_default(),
            Self::Skill(place) => scene.cards.get(place).map(|card| &*card.terms).unwrap_or_default(),
            act => &scene.kept.own.of(act).terms,
        }
    }

    /// What it takes, in order.
    pub(in crate::pointer) fn slots(self, scene: &Scene) -> &[Arc<Slot>] {
        match self {
            Self::Tool(place) => scene.offers.get(place).map(|(_, offer)| &*offer.slots).unwrap_or_default(),
            act => &scene.kept.own.of(act).slots,
        }
    }

    /// The same of an act that is no tool.
    fn own_slots(self) -> Vec<Arc<Slot>> {
        let own = |name: &str, shape: Shape, required: bool, spoken: &str| {
            Arc::new(Slot {
                name: name.to_owned(),
                required,
                shape,
                spoken: spoken.to_owned(),
                description: String::new(),
                says: Vec::new(),
                described: Vec::new(),
                terms: terms(spoken),
                count: None,
                bag: Grams::default().text(spoken).marked("owner", self.words()).bag(),
            })
        };
        match self {
            Self::Recall => vec![own("query", Shape::Query, true, "query search 查询")],
            Self::Remember => vec![
                own("content", Shape::Content, true, "content remember 内容"),
                own("memoryCategory", Shape::Category, false, "category 类别"),
            ],
            Self::Replace => vec![
                own("memoryId", Shape::Memory, true, "memory 记忆"),
                own("content", Shape::Content, true, "content now new 现在 新 内容"),
            ],
            Self::Forget => vec![own("memoryId", Shape::Memory, true, "memory 记忆")],
            Self::Ask => vec![
                own("thing", Shape::Thing, true, "ask which what 问"),
                own("topic", Shape::Topic, false, "about 关于"),
            ],
            Self::Refuse => vec![own("reason", Shape::Reason, true, "reason 原因")],
            Self::Finish => vec![own("answer", Shape::Answer, true, "answer 回答")],
            Self::Tool(_) | Self::Skill(_) | Self::Confirm(_) => Vec::new(),
        }
    }

    /// The action that it becomes. None: something that it takes is not there, which the choices do not let happen.
    pub(in crate::pointer) fn action(self, scene: &Scene, arguments: &Value, id: CallId) -> Option<Action> {
        let text = |key: &str| arguments.get(key).and_then(Value::as_str);
        Some(match self {
            Self::Tool(place) => {
                let (_, offer) = scene.offers.get(place)?;
                Action::Call(ToolCall { id, tool: offer.name.clone(), arguments: arguments.clone() })
            }
            Self::Skill(place) => Action::LoadSkill { skill: scene.cards.get(place)?.name.clone() },
            Self::Recall => Action::Recall {
                query: text("query")?.to_owned(),
                limit: SEARCH_LIMIT_DEFAULT,
                category: None,
                mode: SearchMode::Relevance,
            },
            Self::Remember => Action::Remember {
                content: text("content")?.to_owned(),
                category: text("memoryCategory").map(str::to_owned),
                title: None,
                tags: Vec::new(),
                valid_until: None,
            },
            Self::Replace => {
                Action::Replace { memory: MemoryId::new(text("memoryId")?).ok()?, content: text("content")?.to_owned() }
            }
            Self::Forget => Action::Forget { memory: MemoryId::new(text("memoryId")?).ok()?, call: Some(id) },
            Self::Ask => Action::Ask { question: say::question(scene, arguments)?, pending: None },
            Self::Confirm(place) => {
                let waits = scene.history.pending.get(place)?;
                Action::Ask { question: say::confirmation(scene, waits), pending: Some(waits.id.clone()) }
            }
            Self::Refuse => Action::Refuse { reason: say::refusal(scene, text("reason")?) },
            Self::Finish => Action::Finish { answer: say::answer(scene, text("answer")), data: None },
        })
    }
}

/// An act that is no tool: what it says and takes is the same in every decision.
#[derive(Debug, Default)]
pub(in crate::pointer) struct OwnAct {
    bag: Bag,
    terms: Vec<u64>,
    slots: Vec<Arc<Slot>>,
}

/// The acts that are no tools.
#[derive(Debug)]
pub(in crate::pointer) struct Own {
    recall: OwnAct,
    remember: OwnAct,
    replace: OwnAct,
    forget: OwnAct,
    ask: OwnAct,
    confirm: OwnAct,
    refuse: OwnAct,
    finish: OwnAct,
    /// Of tools and skills, which scenes know.
    none: OwnAct,
}

impl Own {
    pub(in crate::pointer) fn new() -> Self {
        let own = |act: Act| OwnAct { bag: act.grams().bag(), terms: terms(act.words()), slots: act.own_slots() };
        Self {
            recall: own(Act::Recall),
            remember: own(Act::Remember),
            replace: own(Act::Replace),
            forget: own(Act::Forget),
            ask: own(Act::Ask),
            confirm: own(Act::Confirm(0)),
            refuse: own(Act::Refuse),
            finish: own(Act::Finish),
            none: OwnAct::default(),
        }
    }

    fn of(&self, act: Act) -> &OwnAct {
        match act {
            Act::Recall => &self.recall,
            Act::Remember => &self.remember,
            Act::Replace => &self.replace,
            Act::Forget => &self.forget,
            Act::Ask => &self.ask,
            Act::Confirm(_) => &self.confirm,
            Act::Refuse => &self.refuse,
            Act::Finish => &self.finish,
            Act::Tool(_) | Act::Skill(_) => &self.none,
        }
    }
}

/// Whether some value for a slot was observed.
fn fillable(scene: &Scene, slot: &Slot) -> bool {
    match &slot.shape {
        Shape::Enum(_) | Shape::Bool => true,
        Shape::Object(slots) => slots.iter().filter(|slot| slot.required).all(|slot| fillable(scene, slot)),
        Shape::List { item, .. } => fillable(scene, item),
        _ => is_fillable(scene, slot),
    }
}
