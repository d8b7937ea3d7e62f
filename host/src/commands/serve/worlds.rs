//! Worlds of a served phone: each an episode of its own on one prepared task. They know no client and no protocol.

use std::sync::Arc;

use loopwright_contract::environment::{Actor, Turn};
use loopwright_contract::episode::{Episode, EpisodeHost, PreparedTask};
use loopwright_contract::evidence::Deed;
use loopwright_contract::fault::{CallFault, GuestFault, HostFault};
use loopwright_contract::name::{CallId, ToolName};
use loopwright_contract::task::{Task, UserScript};
use loopwright_contract::tool::{ToolCall, ToolSpec};
use loopwright_harness::ToolArguments;
use loopwright_mcp::{Answer, Opened, World, Worlds};
use serde_json::Value;

/// Opens episodes on a task's world.
pub struct PhoneWorlds {
    host: Arc<dyn EpisodeHost>,
    prepared: Arc<dyn PreparedTask>,
    arguments: ToolArguments,
}

impl PhoneWorlds {
    /// Prepares a task's world. Its gold, checks and scripted user stay out of it.
    ///
    /// # Errors
    /// [`CallFault`] when the world cannot be made.
    pub fn prepare(host: Arc<dyn EpisodeHost>, mut task: Task) -> Result<Self, CallFault> {
        task.gold.clear();
        task.checks.clear();
        task.user = UserScript::default();
        let prepared = host.prepare(&task)?;
        let arguments = ToolArguments::new(host.tools());
        Ok(Self { host, prepared, arguments })
    }
}

impl Worlds for PhoneWorlds {
    fn tools(&self) -> Vec<ToolSpec> {
        self.host.tools().iter().map(|tool| tool.spec.clone()).collect()
    }

    fn arguments(&self, tool: &ToolName, given: &Value) -> Result<Value, String> {
        self.arguments.conform(tool, given)
    }

    fn open(&self) -> Result<Opened, CallFault> {
        let mut episode = self.prepared.open()?;
        let observation = episode.reset()?;
        let exposed = observation.exposed.unwrap_or_default();
        let now = episode.now_text();
        let notices = observation.notices.clone();
        let world = Box::new(PhoneWorld { episode, exposed, notices: observation.notices });
        Ok(Opened { world, now, notices })
    }
}

/// One episode without a planner.
struct PhoneWorld {
    episode: Box<dyn Episode>,
    exposed: Vec<ToolName>,
    /// What the phone showed last.
    notices: Vec<Value>,
}

impl World for PhoneWorld {
    fn exposed(&self) -> &[ToolName] {
        &self.exposed
    }

    fn call(&mut self, call: &ToolCall) -> Result<Answer, CallFault> {
        let result = self.episode.step(&Turn { actor: Actor::Agent, calls: vec![call.clone()] })?;
        let fault = self.fault(&call.id);
        self.episode.end_turn();
        let feedback = result.feedback.into_iter().next();
        let feedback =
            feedback.ok_or_else(|| HostFault::Internal("the environment answered no call of one".to_owned()))?;
        if let Some(exposed) = result.observation.exposed {
            self.exposed = exposed;
        }
        let shown = std::mem::replace(&mut self.notices, result.observation.notices);
        let notices = self.notices.iter().filter(|notice| !shown.contains(notice)).cloned().collect();
        Ok(Answer { feedback, fault, notices })
    }

    fn confirm(&mut self, call: &ToolCall) {
        self.episode.confirm(call);
    }
}

impl PhoneWorld {
    /// How the host saw the call go, by its own record. The environment's calls of the turn stand there too.
    fn fault(&self, id: &CallId) -> Option<GuestFault> {
        let steps = self.episode.steps().iter().rev();
        let invocations = self.episode.invocations().iter().rev();
        let ours = steps
            .zip(invocations)
            .find(|(step, _)| step.by == Actor::Agent && matches!(&step.deed, Deed::Call { call } if call.id == *id));
        ours.and_then(|(_, invocation)| invocation.fault.clone())
    }
}
