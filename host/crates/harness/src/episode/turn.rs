//! One turn: from a decision to what came of it.

use std::sync::Arc;

use loopwright_contract::action::Action;
use loopwright_contract::context::{Event, LoadedSkill, Remaining};
use loopwright_contract::environment::{Actor, Reply, Turn, TurnResult};
use loopwright_contract::evidence::Deed;
use loopwright_contract::fault::{CallFault, HostFault, chain};
use loopwright_contract::name::{CallId, SkillName};
use loopwright_contract::planner::Decision;
use loopwright_contract::skill::Advice;
use loopwright_contract::tool::{Failure, Success, ToolCall};
use loopwright_contract::trajectory::{AdviceRecord, Line, TurnRecord};
use serde_json::{Value, json};

use super::repeat::stop_guessing;
use super::{End, LiveEpisode};
use crate::decode::{Decoded, Grounds, Taken, decode};
use crate::trajectory::kept;
use crate::user;

/// What a turn gathers for its record.
#[derive(Default)]
pub(super) struct Gathered {
    advice: Vec<AdviceRecord>,
    result: Option<TurnResult>,
    pub(super) answers: Vec<Value>,
}

impl LiveEpisode<'_> {
    /// Runs one turn and records it.
    pub(super) fn turn(&mut self, decision: Decision) {
        let at_ns = self.episode.now_ns();
        let decoded = match self.overdrawn() {
            // The decision that overdraws a budget is recorded and not run.
            Some(reason) => {
                let malformed = vec![reason.clone()];
                self.end = Some(End::Budget(reason));
                Decoded { malformed, ..Decoded::default() }
            }
            None => decode(&decision.proposed, self.grounds()),
        };
        let mut gathered = Gathered::default();
        let actions: Vec<Action> = decoded.taken.iter().map(|taken| taken.action.clone()).collect();
        self.context.history.push(Event::Decided { text: decision.text.clone(), actions: actions.clone() });
        if let Err(fault) = self.act(decoded.taken, &mut gathered) {
            self.end = Some(End::faulted(&fault));
        }
        self.tell_malformed(&decoded.malformed, &mut gathered);
        self.coercions = self.coercions.saturating_add(u32::try_from(decoded.coercions.len()).unwrap_or(u32::MAX));
        self.episode.end_turn();
        if let Err(fault) = self.remind(&mut gathered) {
            self.end = Some(End::faulted(&fault));
        }
        if self.journal.keeps() {
            let record = TurnRecord {
                turn: self.context.turn,
                at_ns,
                decision,
                actions,
                coercions: decoded.coercions,
                malformed: decoded.malformed,
                advice: gathered.advice,
                result: gathered.result.map(|result| kept(self.record, result)),
                answers: gathered.answers,
                invocations: self.episode.invocations().to_vec(),
                changes: kept(self.record, self.episode.changes()),
                state: self.episode.state_digest(),
            };
            self.write(&Line::Turn(Box::new(record)));
        }
        self.turn_ends.push(u32::try_from(self.episode.steps().len()).unwrap_or(u32::MAX));
        self.context.turn += 1;
        self.context.remaining = Remaining {
            steps: self.budget.steps.saturating_sub(self.context.turn),
            tokens: self.budget.tokens.saturating_sub(self.tokens()),
        };
    }

    fn grounds(&self) -> Grounds<'_> {
        Grounds {
            schemas: self.harness.schemas(),
            space: &self.context.space,
            pending: &self.pending,
            loaded: &self.context.skills,
            strict: self.harness.settings().strict,
            turn: self.context.turn,
        }
    }

    fn tell_malformed(&mut self, malformed: &[String], gathered: &mut Gathered) {
        self.malformed = self.malformed.saturating_add(u32::try_from(malformed.len()).unwrap_or(u32::MAX));
        for reason in malformed {
            self.context.history.push(Event::Malformed { reason: reason.clone() });
        }
        for reason in malformed {
            let repeated = self.repeats.count(reason, false);
            self.tell_repeated(repeated, gathered);
        }
    }

    /// Tells a planner that repeats itself to stop; once a turn.
    fn tell_repeated(&mut self, repeated: bool, gathered: &mut Gathered) {
        let value = stop_guessing(&self.task.lang);
        if repeated && self.end.is_none() && !gathered.answers.contains(&value) {
            gathered.answers.push(value.clone());
            self.context.history.push(Event::Notice { value });
        }
    }

    fn act(&mut self, taken: Vec<Taken>, gathered: &mut Gathered) -> Result<(), CallFault> {
        let mut calls = Vec::new();
        let mut other = None;
        for taken in taken {
            match taken.action {
                Action::Call(call) => calls.push(call),
                action => other = Some((taken.id, taken.name, action)),
            }
        }
        match other {
            Some((id, name, action)) => self.act_other(id, name, action, gathered),
            None if calls.is_empty() => Ok(()),
            None => self.act_calls(calls, gathered),
        }
    }

    fn act_calls(&mut self, calls: Vec<ToolCall>, gathered: &mut Gathered) -> Result<(), CallFault> {
        let mut allowed = Vec::new();
        for (position, call) in calls.into_iter().enumerate() {
            match self.advised(u32::try_from(position).unwrap_or(u32::MAX), &call, gathered)? {
                None => allowed.push(call),
                Some((skill, reason)) => self.block(&skill, &call, &reason, gathered),
            }
        }
        if allowed.is_empty() {
            return Ok(());
        }
        let turn = Turn { actor: Actor::Agent, calls: allowed };
        let result = self.episode.step(&turn)?;
        if result.feedback.len() != turn.calls.len() {
            let (found, expected) = (result.feedback.len(), turn.calls.len());
            return Err(HostFault::Internal(format!("the environment answered {found} of {expected} calls")).into());
        }
        self.take_feedback(&turn.calls, &result, gathered);
        self.take_exposed(&result, gathered)?;
        gathered.result = Some(result);
        Ok(())
    }

    /// Asks the loaded skill components about a call, in the order of loading. Some: the skill that blocks it, and why.
    fn advised(
        &mut self,
        position: u32,
        call: &ToolCall,
        gathered: &mut Gathered,
    ) -> Result<Option<(SkillName, String)>, CallFault> {
        let loaded: Vec<SkillName> = self.context.skills.iter().map(|skill| skill.name.clone()).collect();
        for skill in loaded.into_iter().filter(|skill| self.harness.skills().is_component(skill)) {
            let advice = match self.episode.skill_check(&skill, call) {
                Ok(advice) => advice,
                Err(fault @ CallFault::Guest { .. }) => {
                    // The call runs: a broken adviser does not stop the phone.
                    gathered
                        .answers
                        .push(json!({"kind": "skill_fault", "skill": skill.as_str(), "reason": chain(&fault)}));
                    continue;
                }
                Err(fault) => return Err(fault),
            };
            if advice != Advice::Allow {
                gathered.advice.push(AdviceRecord { skill: skill.clone(), call: position, advice: advice.clone() });
            }
            match advice {
                Advice::Allow => {}
                Advice::Warn(text) => self.context.history.push(Event::Advised { skill, text, blocked: false }),
                Advice::Block(reason) => {
                    self.context.history.push(Event::Advised {
                        skill: skill.clone(),
                        text: reason.clone(),
                        blocked: true,
                    });
                    return Ok(Some((skill, reason)));
                }
            }
        }
        Ok(None)
    }

    fn block(&mut self, skill: &SkillName, call: &ToolCall, reason: &str, gathered: &mut Gathered) {
        let envelope = Failure::new(412, format!("not run: skill `{skill}` blocks it: {reason}")).envelope();
        let value = json!({"tool": call.tool.as_str(), "arguments": call.arguments, "skill": skill.as_str()});
        self.episode.record(Deed::Other { name: "blocked-call".to_owned(), value }, false, envelope.clone());
        gathered.answers.push(envelope.clone());
        self.context.history.push(Event::Answered {
            call_id: call.id.clone(),
            name: call.tool.as_str().to_owned(),
            envelope,
            effects: Vec::new(),
        });
        let repeated = self.repeats.count(&call.digest().to_string(), false);
        self.tell_repeated(repeated, gathered);
    }

    fn take_feedback(&mut self, calls: &[ToolCall], result: &TurnResult, gathered: &mut Gathered) {
        let mut repeated = false;
        for (call, feedback) in calls.iter().zip(&result.feedback) {
            let (envelope, effects) = (feedback.reply.envelope(), feedback.effects.clone());
            self.context.history.push(Event::Answered {
                call_id: call.id.clone(),
                name: call.tool.as_str().to_owned(),
                envelope,
                effects,
            });
            match &feedback.reply {
                Reply::NeedsConfirmation(_) => {
                    self.pending.insert(call.id.clone(), call.clone());
                }
                Reply::Done(_) => {
                    let digest = call.digest();
                    self.pending.retain(|_, waiting| waiting.digest() != digest);
                }
                Reply::Failed(_) => {}
            }
            let ok = matches!(feedback.reply, Reply::Done(_));
            repeated |= self.repeats.count(&call.digest().to_string(), ok);
        }
        self.tell_repeated(repeated, gathered);
    }

    fn take_exposed(&mut self, result: &TurnResult, gathered: &mut Gathered) -> Result<(), CallFault> {
        for notice in &result.observation.notices {
            if !self.notices.contains(notice) {
                self.context.history.push(Event::Notice { value: notice.clone() });
            }
        }
        self.notices.clone_from(&result.observation.notices);
        match &result.observation.exposed {
            Some(exposed) if self.offered.expose(exposed) => self.offer_anew(gathered),
            _ => Ok(()),
        }
    }

    /// Puts the offered tools into the context, and renders the guidance of loaded skills for them.
    fn offer_anew(&mut self, gathered: &mut Gathered) -> Result<(), CallFault> {
        let space = Arc::make_mut(&mut self.context.space);
        space.tools = self.offered.specs(self.harness);
        space.skills = self.offered.cards(self.harness);
        let offered = self.offered.names();
        for position in 0..self.context.skills.len() {
            let Some(skill) = self.context.skills.get(position).map(|skill| skill.name.clone()) else { break };
            match self.harness.skills().guidance(self.episode.as_mut(), &skill, &offered, &self.task.lang) {
                Ok(guidance) => {
                    if let Some(loaded) = self.context.skills.get_mut(position) {
                        loaded.guidance = guidance;
                    }
                }
                // The old guidance stays: a broken adviser does not stop the phone.
                Err(fault @ CallFault::Guest { .. }) => {
                    gathered
                        .answers
                        .push(json!({"kind": "skill_fault", "skill": skill.as_str(), "reason": chain(&fault)}));
                }
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }

    fn act_other(
        &mut self,
        id: CallId,
        name: String,
        action: Action,
        gathered: &mut Gathered,
    ) -> Result<(), CallFault> {
        match action {
            Action::Ask { question, pending } => self.ask(question, pending, gathered),
            Action::Refuse { reason } => {
                self.episode.record(Deed::Refuse { reason }, true, Value::Null);
                self.end = Some(End::Agent);
            }
            Action::Finish { answer, data } => {
                let claim = match data {
                    Some(data) => json!({"answer": answer, "data": data}),
                    None => json!({"answer": answer}),
                };
                self.episode.record(Deed::Finish { claim }, true, Value::Null);
                self.end = Some(End::Agent);
            }
            Action::Recall { .. } | Action::Remember { .. } | Action::Replace { .. } | Action::Forget { .. } => {
                self.act_on_memory(id, name, &action, gathered)?;
            }
            Action::LoadSkill { skill } => {
                let envelope = self.load(&skill, gathered)?;
                self.answer(id, name, ("load-skill", json!({"skill": skill.as_str()})), envelope, gathered);
            }
            Action::Delegate { agent, instruction } => {
                let envelope = Failure::new(404, format!("there is no sub-agent `{agent}`; there are none")).envelope();
                self.answer(
                    id,
                    name,
                    ("delegate", json!({"agent": agent, "instruction": instruction})),
                    envelope,
                    gathered,
                );
            }
            Action::Call(call) => return self.act_calls(vec![call], gathered),
        }
        Ok(())
    }

    /// Records an action that is no call, and its answer.
    pub(super) fn answer(
        &mut self,
        call_id: CallId,
        name: String,
        deed: (&str, Value),
        envelope: Value,
        gathered: &mut Gathered,
    ) {
        let ok = envelope.get("success").and_then(Value::as_bool).unwrap_or(false);
        self.episode.record(Deed::Other { name: deed.0.to_owned(), value: deed.1.clone() }, ok, envelope.clone());
        gathered.answers.push(envelope.clone());
        self.context.history.push(Event::Answered { call_id, name, envelope, effects: Vec::new() });
        let repeated = self.repeats.count(&format!("{} {}", deed.0, deed.1), ok);
        self.tell_repeated(repeated, gathered);
    }

    fn ask(&mut self, question: String, pending: Option<CallId>, gathered: &mut Gathered) {
        let waiting = pending.and_then(|id| self.pending.get(&id).cloned());
        let (text, answer) = match waiting {
            Some(call) => {
                let agreed = user::consents(&self.task.user, &call);
                if agreed {
                    self.episode.confirm(&call);
                }
                let text = user::decision(&self.task.lang, agreed).to_owned();
                (text.clone(), json!({"user": text, "confirmed": agreed, "call": call.digest().to_string()}))
            }
            None => {
                let text = user::answer(&self.task.user, &self.task.lang, &question);
                (text.clone(), json!({"user": text}))
            }
        };
        self.episode.record(Deed::Ask { question }, true, answer.clone());
        gathered.answers.push(answer);
        self.context.history.push(Event::User { text });
    }

    fn load(&mut self, skill: &SkillName, gathered: &mut Gathered) -> Result<Value, CallFault> {
        let Some(card) = self.harness.skills().card(skill).cloned() else {
            return Ok(Failure::new(404, format!("there is no skill `{skill}`")).envelope());
        };
        // Tried on a copy, so that a skill which cannot be loaded offers nothing.
        let mut offered = self.offered.clone();
        let added = offered.load(&card);
        let guidance =
            match self.harness.skills().guidance(self.episode.as_mut(), skill, &offered.names(), &self.task.lang) {
                Ok(guidance) => guidance,
                Err(fault @ CallFault::Guest { .. }) => {
                    return Ok(
                        Failure::new(503, format!("skill `{skill}` cannot be loaded: {}", chain(&fault))).envelope()
                    );
                }
                Err(fault) => return Err(fault),
            };
        self.offered = offered;
        // The others' guidance first: the new one is rendered for these tools already.
        self.offer_anew(gathered)?;
        self.context.skills.push(LoadedSkill { name: skill.clone(), guidance });
        let added: Vec<&str> = added.iter().map(loopwright_contract::name::ToolName::as_str).collect();
        Ok(Success { message: format!("skill `{skill}` is loaded"), data: json!({"offered": added}) }.envelope())
    }
}
