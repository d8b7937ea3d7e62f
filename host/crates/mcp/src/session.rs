//! One client's session: its world, and who may use it when.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use loopwright_contract::digest::CallDigest;
use loopwright_contract::environment::Reply;
use loopwright_contract::fault::{CallFault, HostFault, chain};
use loopwright_contract::name::{CallId, Lang, ToolName};
use loopwright_contract::tool::{Failure, ToolCall};
use rmcp::model::CallToolResult;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use crate::confirm::{self, Word};
use crate::limits::{CALLS_PER_SESSION_MAX, CALLS_WAITING_MAX, EVIDENCE_BYTES_MAX};
use crate::port::{Answer, World, Worlds};
use crate::result::{Kind, answered, failed};

/// What is done with a call that needs the user's confirmation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Confirm {
    /// The user is asked through the client.
    #[default]
    Ask,
    /// Nobody is asked, and the call does not run.
    Deny,
}

/// A session. When it is dropped and its last call is done, its world ends and its place is free.
pub(crate) struct Session {
    worlds: Arc<dyn Worlds>,
    /// One call at a time. Locked by a task and carried to the thread that runs the call.
    live: Arc<Mutex<Live>>,
    shown: Arc<Shown>,
    /// For calls that run or wait.
    places: Semaphore,
    confirm: Confirm,
    lang: Lang,
}

/// What the client sees of the tools, without waiting for a call that runs.
struct Shown {
    exposed: RwLock<Arc<[ToolName]>>,
    /// They changed, and the client was not told yet.
    changed: AtomicBool,
}

impl Shown {
    fn exposed(&self) -> Arc<[ToolName]> {
        Arc::clone(&self.exposed.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn update(&self, exposed: &[ToolName]) {
        if *self.exposed() != *exposed {
            *self.exposed.write().unwrap_or_else(PoisonError::into_inner) = exposed.into();
            self.changed.store(true, Ordering::Release);
        }
    }
}

/// How a session treats its calls.
pub(crate) struct Manner {
    pub(crate) confirm: Confirm,
    pub(crate) lang: Lang,
}

impl Session {
    pub(crate) fn new(
        worlds: Arc<dyn Worlds>,
        world: Box<dyn World>,
        manner: Manner,
        place: OwnedSemaphorePermit,
    ) -> Self {
        let exposed = RwLock::new(world.exposed().into());
        Self {
            worlds,
            live: Arc::new(Mutex::new(Live { world, calls: 0, bytes: 0, confirmed: BTreeSet::new(), _place: place })),
            shown: Arc::new(Shown { exposed, changed: AtomicBool::new(false) }),
            places: Semaphore::new(CALLS_WAITING_MAX),
            confirm: manner.confirm,
            lang: manner.lang,
        }
    }

    /// The tools that may be called now.
    pub(crate) fn exposed(&self) -> Arc<[ToolName]> {
        self.shown.exposed()
    }

    /// Whether the tools changed since this was last asked.
    pub(crate) fn take_changed(&self) -> bool {
        self.shown.changed.swap(false, Ordering::AcqRel)
    }

    /// Runs a call, and asks the user where it needs their word.
    pub(crate) async fn call(
        &self,
        tool: &str,
        given: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let Ok(_place) = self.places.try_acquire() else {
            let message = format!("{CALLS_WAITING_MAX} calls of this session run or wait: wait for one of them");
            return Ok(failed(Kind::Limit, &Failure::new(429, message)));
        };
        let Some(tool) = self.exposed().iter().find(|name| *name == tool).cloned() else {
            // A name that a client made up is not repeated.
            return Err(ErrorData::invalid_params(
                "there is no tool of that name here; `tools/list` has those there are",
                None,
            ));
        };
        let worlds = Arc::clone(&self.worlds);
        let attempt = self.with(context, move |live| live.attempt(worlds.as_ref(), tool, &given)).await?;
        let (call, failure) = match attempt {
            Attempt::Answered(answer) => return Ok(answered(&answer)),
            Attempt::Refused(kind, failure) => return Ok(failed(kind, &failure)),
            Attempt::Unconfirmed(call, failure) => (call, failure),
        };
        match self.word(&call, context).await? {
            Word::Yes => {
                let answer = self.with(context, move |live| live.run_confirmed(&call)).await?;
                Ok(answered(&answer))
            }
            Word::No => Ok(failed(Kind::Declined, &Failure::new(403, "the user was asked and declined this call"))),
            Word::None(reason) => {
                // What the environment says is for planners, who ask the user themselves and then repeat the call.
                let message =
                    format!("`{}` runs only on the user's word for exactly this call, but {reason}", call.tool);
                let data = serde_json::json!({"call": call.digest().to_string()});
                Ok(failed(Kind::NeedsConfirmation, &Failure { code: failure.code, message, data: Some(data) }))
            }
        }
    }

    /// The user's word on a call.
    async fn word(&self, call: &ToolCall, context: &RequestContext<RoleServer>) -> Result<Word, ErrorData> {
        if self.confirm == Confirm::Deny {
            return Ok(Word::None("this server asks nobody, as its operator chose".to_owned()));
        }
        tokio::select! {
            word = confirm::ask(&context.peer, call, &self.lang) => Ok(word),
            () = context.ct.cancelled() => Err(cancelled()),
        }
    }

    /// Does something with the world on a thread that may block. A cancelled call stops waiting; what runs already is bounded by its own
    /// deadline, and the next call waits for it.
    async fn with<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        act: impl FnOnce(&mut Live) -> Result<T, CallFault> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let mut live = tokio::select! {
            live = Arc::clone(&self.live).lock_owned() => live,
            () = context.ct.cancelled() => return Err(cancelled()),
        };
        let shown = Arc::clone(&self.shown);
        let work = spawn_blocking(move || {
            let done = act(&mut live);
            shown.update(live.world.exposed());
            done
        });
        tokio::select! {
            done = work => match done {
                Ok(done) => done.map_err(|fault| told(&fault)),
                Err(error) => {
                    tracing::error!(%error, "a call ended without an answer");
                    Err(ErrorData::internal_error("the call failed on the host's side", None))
                }
            },
            () = context.ct.cancelled() => Err(cancelled()),
        }
    }
}

/// The answer to a cancelled request, which nobody waits for.
fn cancelled() -> ErrorData {
    ErrorData::internal_error("the request was cancelled", None)
}

/// What a client is told of a fault that is not the tool's: enough to go on, and nothing of its inside, which the log has.
pub(crate) fn told(fault: &CallFault) -> ErrorData {
    tracing::error!(fault = %chain(fault), "a call did not happen");
    let message = match fault {
        CallFault::Host(HostFault::Deadline { limit_ms }) => {
            format!("the deadline of {limit_ms} ms passed; the call did not happen")
        }
        CallFault::Guest { .. } => "the world's own code failed; the call did not happen".to_owned(),
        CallFault::Host(_) => "the call failed on the host's side and did not happen".to_owned(),
    };
    ErrorData::internal_error(message, None)
}

/// What came of a call before the user was asked anything.
enum Attempt {
    Answered(Answer),
    Refused(Kind, Failure),
    Unconfirmed(ToolCall, Failure),
}

/// A world in use.
struct Live {
    world: Box<dyn World>,
    calls: u32,
    /// Of arguments and answers so far.
    bytes: usize,
    /// Calls that ran on the user's word. A world keeps a consent for good; here it is good for one run.
    confirmed: BTreeSet<CallDigest>,
    /// Held for as long as there is a world, also while a call runs whose client has left.
    _place: OwnedSemaphorePermit,
}

impl Live {
    fn attempt(&mut self, worlds: &dyn Worlds, tool: ToolName, given: &Value) -> Result<Attempt, CallFault> {
        let arguments = match worlds.arguments(&tool, given) {
            Ok(arguments) => arguments,
            Err(reason) => return Ok(Attempt::Refused(Kind::Malformed, Failure::new(400, reason))),
        };
        if let Some(spent) = self.spent() {
            let message = format!("this session has spent its {spent}: connect anew for a fresh world");
            return Ok(Attempt::Refused(Kind::Limit, Failure::new(429, message)));
        }
        self.calls += 1;
        let id = CallId::new(format!("call-{}", self.calls)).map_err(|error| HostFault::Internal(error.to_string()))?;
        let call = ToolCall { id, tool, arguments };
        if self.confirmed.contains(&call.digest()) {
            let message = format!("`{}` ran once on the user's word and needs it again", call.tool);
            return Ok(Attempt::Unconfirmed(call, Failure::new(423, message)));
        }
        let answer = self.run(&call)?;
        Ok(match answer.feedback.reply {
            Reply::NeedsConfirmation(failure) => Attempt::Unconfirmed(call, failure),
            _ => Attempt::Answered(answer),
        })
    }

    fn run_confirmed(&mut self, call: &ToolCall) -> Result<Answer, CallFault> {
        self.world.confirm(call);
        self.confirmed.insert(call.digest());
        self.run(call)
    }

    fn run(&mut self, call: &ToolCall) -> Result<Answer, CallFault> {
        let answer = self.world.call(call)?;
        let kept = call.arguments.to_string().len() + answer.feedback.reply.envelope().to_string().len();
        self.bytes = self.bytes.saturating_add(kept);
        Ok(answer)
    }

    /// The limit that is reached.
    fn spent(&self) -> Option<String> {
        if self.calls >= CALLS_PER_SESSION_MAX {
            return Some(format!("{CALLS_PER_SESSION_MAX} calls"));
        }
        (self.bytes >= EVIDENCE_BYTES_MAX).then(|| format!("{EVIDENCE_BYTES_MAX} bytes of arguments and answers"))
    }
}
