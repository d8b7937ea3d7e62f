//! What an episode does with its memory: actions of the planner, and reminders.

#[cfg(test)]
mod tests;

use loopwright_contract::action::Action;
use loopwright_contract::context::Event;
use loopwright_contract::environment::Reply;
use loopwright_contract::fault::{CallFault, HostFault};
use loopwright_contract::memory::{MemoryWrite, SearchMode, reminder};
use loopwright_contract::name::{CallId, MemoryId};
use serde_json::{Value, json};

use super::turn::Gathered;
use super::{LiveEpisode, civil_now};

impl LiveEpisode<'_> {
    /// Shows what became due, once, to a planner that will decide again.
    pub(super) fn remind(&mut self, gathered: &mut Gathered) -> Result<(), CallFault> {
        let decides_again = self.end.is_none() && self.context.turn.saturating_add(1) < self.budget.steps;
        if !decides_again || !self.harness.settings().memory {
            return Ok(());
        }
        for record in self.episode.remind()? {
            let value = reminder(&record);
            gathered.answers.push(value.clone());
            self.context.history.push(Event::Notice { value });
        }
        Ok(())
    }

    /// Runs a search or a write of the memory, and records it.
    pub(super) fn act_on_memory(
        &mut self,
        id: CallId,
        name: String,
        action: &Action,
        gathered: &mut Gathered,
    ) -> Result<(), CallFault> {
        let envelope = match (action, MemoryWrite::of(action)) {
            (Action::Recall { query, limit, category, mode }, _) => {
                self.search_memory(query, *limit, category.as_deref(), *mode)?
            }
            (_, Some(write)) => self.write_memory(&id, &write)?,
            (_, None) => return Err(HostFault::Internal("an action of the memory is none".to_owned()).into()),
        };
        self.answer(id, name, deed(action), envelope, gathered);
        Ok(())
    }

    fn search_memory(
        &mut self,
        query: &str,
        limit: u32,
        category: Option<&str>,
        mode: SearchMode,
    ) -> Result<Value, CallFault> {
        let (records, now) = (self.episode.memory()?, civil_now(self.episode.as_ref())?);
        Ok(self.memory.search(&records, query, limit, category, mode, &now))
    }

    fn write_memory(&mut self, id: &CallId, write: &MemoryWrite) -> Result<Value, CallFault> {
        let reply = self.episode.write_memory(write)?;
        if let MemoryWrite::Remove { memory } = write {
            let call =
                MemoryWrite::removal(id.clone(), memory).map_err(|error| HostFault::Internal(error.to_string()))?;
            match &reply {
                Reply::NeedsConfirmation(_) => {
                    self.pending.insert(id.clone(), call);
                }
                Reply::Done(_) => {
                    let digest = call.digest();
                    self.pending.retain(|_, waiting| waiting.digest() != digest);
                    self.forget(memory)?;
                }
                Reply::Failed(_) => {}
            }
        }
        Ok(reply.envelope())
    }

    /// Hands a removal that the user confirmed to the store at once, where the record came from there.
    fn forget(&self, memory: &MemoryId) -> Result<(), CallFault> {
        let Some(store) = &self.forget else { return Ok(()) };
        if !self.harness.snapshot().is_some_and(|snapshot| snapshot.records.iter().any(|record| record.id == *memory)) {
            return Ok(());
        }
        let now = civil_now(self.episode.as_ref())?;
        let attempt = format!("forgetting `{memory}`, which the user confirmed");
        store
            .forget(memory, &now)
            .map_err(|error| HostFault::Io { attempt, source: std::io::Error::other(error) }.into())
    }
}

/// An action of the memory as evidence names it.
fn deed(action: &Action) -> (&'static str, Value) {
    match action {
        Action::Recall { query, limit, category: None, mode: SearchMode::Relevance } => {
            ("recall", json!({"query": query, "limit": limit}))
        }
        Action::Recall { query, limit, category, mode } => {
            ("recall", json!({"query": query, "limit": limit, "category": category, "mode": mode}))
        }
        Action::Remember { content, category, title, tags, valid_until } => {
            let mut value = json!({"content": content, "category": category});
            if title.is_some() || !tags.is_empty() || valid_until.is_some() {
                value = json!({"content": content, "category": category, "title": title, "tags": tags, "valid_until": valid_until});
            }
            ("remember", value)
        }
        Action::Replace { memory, content } => ("replace", json!({"memory": memory.as_str(), "content": content})),
        Action::Forget { memory, .. } => ("forget", json!({"memory": memory.as_str()})),
        _ => ("none", Value::Null),
    }
}
