//! The ablation world once more, small and native, so that planner and trainer are tested without an engine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use loopwright_contract::action::{Action, ActionSpace, Proposed};
use loopwright_contract::context::{Context, Event, Remaining};
use loopwright_contract::digest::TaskDigest;
use loopwright_contract::name::{EpisodeId, Lang, TaskId, ToolName};
use loopwright_contract::planner::{DecisionRequest, Planner, PlannerFault};
use loopwright_contract::tool::ToolSpec;
use loopwright_contract::trajectory::VerifiedTrajectory;
use serde_json::{Value, json};

use super::*;
use crate::decoder::{Decoder, Sequence};
use crate::nn::Allowed;
use crate::nn::random::Stream;

/// Decisions of an episode, as in the real pack.
pub(crate) const STEPS: u32 = 49;

pub(crate) fn requests() -> Requests {
    Requests { reliable: "They are reliable.".into(), fragile: "They are fragile.".into() }
}

pub(crate) fn request(mark: Mark) -> String {
    let Requests { reliable, fragile } = requests();
    if mark == Mark::Reliable { reliable } else { fragile }
}

/// One episode of the world.
pub(crate) struct World {
    noise: Stream,
    silent: f64,
    at: usize,
    read: bool,
    pub(crate) really: [bool; 3],
}

impl World {
    pub(crate) fn new(mark: Mark, seed: u64) -> Self {
        let silent = if mark == Mark::Reliable { 0.005 } else { 0.1 };
        Self { noise: Stream::numbered(seed, u64::MAX), silent, at: 0, read: false, really: [false; 3] }
    }

    pub(crate) fn run(&mut self, tool: Tool) -> Code {
        let takes = if self.read { 1.0 } else { 0.1 } * (1.0 - self.silent);
        match tool {
            Tool::Think => Code::Thought,
            Tool::Read => {
                self.read = true;
                Code::Read
            }
            Tool::Set => {
                self.really[self.at] = self.noise.uniform() < takes;
                Code::Set
            }
            Tool::Verify if self.really[self.at] => Code::Ok,
            Tool::Verify => Code::Bad,
            Tool::Next => {
                (self.at, self.read) = (self.at + 1, false);
                if self.at == 3 { Code::Over } else { Code::Next }
            }
        }
    }

    pub(crate) fn document(&self) -> Value {
        json!({"at": self.at, "read": self.read, "really": self.really})
    }
}

pub(crate) fn space(tools: &[Tool]) -> Arc<ActionSpace> {
    let spec = |tool: &Tool| ToolSpec {
        name: ToolName::new(tool.name()).unwrap(),
        domain: "ablation".into(),
        description: Vec::new(),
        keywords: Vec::new(),
        arguments_schema: json!({}),
        result_schema: json!({}),
        access: Vec::new(),
        ext: Vec::new(),
    };
    Arc::new(ActionSpace { tools: tools.iter().map(spec).collect(), ..ActionSpace::default() })
}

pub(crate) fn context(episode: &str, request: &str) -> Context {
    Context {
        episode: EpisodeId::new(episode).unwrap(),
        task: TaskId::new("t").unwrap(),
        task_digest: TaskDigest::of(b"t"),
        turn: 0,
        rules: "".into(),
        space: space(&Tool::ALL),
        memory: Vec::new(),
        lang: Lang::english(),
        now: String::new(),
        request: request.into(),
        skills: Vec::new(),
        history: Vec::new(),
        remaining: Remaining { steps: STEPS, tokens: 200_000 },
    }
}

/// Goes on with what a call was answered.
pub(crate) fn answered(context: &mut Context, tool: Tool, envelope: Value) {
    context.turn += 1;
    context.remaining.steps -= 1;
    context.history.push(Event::Answered {
        call_id: loopwright_contract::name::CallId::new("c").unwrap(),
        name: tool.name().into(),
        envelope,
        effects: Vec::new(),
    });
}

pub(crate) fn envelope(code: Code) -> Value {
    json!({"success": true, "message": code.word(), "data": {"at": 1, "code": code.word()}})
}

/// An episode to play.
#[derive(Clone)]
pub(crate) struct Play {
    pub(crate) name: String,
    pub(crate) mark: Mark,
    pub(crate) seed: u64,
}

/// How it went.
pub(crate) struct Played {
    pub(crate) really: [bool; 3],
    pub(crate) tokens: u64,
    /// What was called and answered.
    pub(crate) course: Vec<(Tool, Code)>,
    pub(crate) fault: Option<PlannerFault>,
}

/// Plays episodes in step, as the harness does.
pub(crate) fn play(planner: &dyn Planner, plays: &[Play]) -> Vec<Played> {
    let begin = |play: &Play| {
        let played = Played { really: [false; 3], tokens: 0, course: Vec::new(), fault: None };
        (context(&play.name, &request(play.mark)), World::new(play.mark, play.seed), played, true)
    };
    let mut all: Vec<_> = plays.iter().map(begin).collect();
    while all.iter().any(|(.., open)| *open) {
        let open: Vec<usize> = (0..all.len()).filter(|place| all[*place].3).collect();
        let seed = |place: usize| plays[place].seed ^ u64::from(all[place].0.turn) << 40;
        let requests: Vec<_> =
            open.iter().map(|place| DecisionRequest { context: &all[*place].0, seed: seed(*place) }).collect();
        let decided = planner.decide_batch(&requests);
        for (place, decision) in open.into_iter().zip(decided) {
            let (context, world, played, open) = &mut all[place];
            match decision {
                Err(fault) => (played.fault, *open) = (Some(fault), false),
                Ok(decision) => match &decision.proposed[..] {
                    [Proposed::Action { value: Action::Call(call) }] => {
                        let tool = Tool::named(call.tool.as_str()).unwrap();
                        assert_eq!(decision.tokens[0].id, u32::from(tool.symbol()));
                        let code = world.run(tool);
                        played.course.push((tool, code));
                        played.tokens += decision.usage.tokens_out;
                        answered(context, tool, envelope(code));
                        *open = context.remaining.steps > 0;
                    }
                    _ => *open = false,
                },
            }
            played.really = world.really;
        }
    }
    all.into_iter().map(|(_, _, played, _)| played).collect()
}

pub(crate) fn plays(count: u64, seed: u64) -> Vec<Play> {
    let mark = |number: u64| if number.is_multiple_of(2) { Mark::Reliable } else { Mark::Fragile };
    (0..count)
        .map(|number| Play { name: format!("e{number:04}"), mark: mark(number), seed: seed * 10_000 + number })
        .collect()
}

/// The verbose teacher's next tool.
pub(crate) fn teacher(last: Option<Code>, stream: &mut Stream) -> Tool {
    use Tool::{Next, Read, Set, Think, Verify};
    let row: &[(Tool, f64)] = match last {
        None | Some(Code::Next) => &[(Think, 0.8), (Read, 0.18), (Set, 0.02)],
        Some(Code::Thought) => &[(Think, 0.54), (Read, 0.46)],
        Some(Code::Read) => &[(Read, 0.28), (Set, 0.72)],
        Some(Code::Set) => &[(Verify, 0.8), (Next, 0.2)],
        Some(Code::Ok) => &[(Verify, 0.25), (Next, 0.75)],
        Some(_) => &[(Set, 0.66), (Read, 0.3), (Next, 0.04)],
    };
    let mut left = stream.uniform();
    row.iter().find(|(_, weight)| (left -= weight, left < 0.0).1).map_or(row[0].0, |(tool, _)| *tool)
}

/// A teacher's episode as the harness would record it, judged at every turn's end.
pub(crate) fn taught(mark: Mark, seed: u64) -> VerifiedTrajectory {
    let (mut world, mut stream, mut course) = (World::new(mark, seed), Stream::numbered(seed, 7), Vec::new());
    let mut documents = vec![world.document()];
    let mut last = None;
    while last != Some(Code::Over) && course.len() < STEPS as usize {
        let tool = teacher(last, &mut stream);
        let code = world.run(tool);
        course.push((tool, envelope(code)));
        documents.push(world.document());
        last = Some(code);
    }
    recorded(&request(mark), &course, &documents)
}

/// A trajectory out of calls with their answers, and the world's document before and after each.
pub(crate) fn recorded(request: &str, course: &[(Tool, Value)], documents: &[Value]) -> VerifiedTrajectory {
    use crate::sft::tests::{Turn, trajectory};
    let turns: Vec<Turn> = course
        .iter()
        .zip(documents.windows(2))
        .map(|((tool, envelope), pair)| {
            let really = |document: &Value| {
                (0..3).map(|place| (format!("setting-{place}"), document["really"][place] == true, false)).collect()
            };
            Turn {
                tool: tool.name().into(),
                arguments: json!({}),
                reply: Ok(envelope["data"].clone()),
                changes: crate::sft::tests::change("environment", "ablation", &pair[0], &pair[1]),
                criteria: really(&pair[1]),
            }
        })
        .collect();
    let passed = documents.last().unwrap()["really"] == json!([true, true, true]);
    trajectory(request, &[], &turns, passed, true)
}

fn planner(decoder: &Decoder, rows: usize, greedy: bool) -> AblationPlanner {
    AblationPlanner::new(decoder, requests(), rows, greedy).unwrap()
}

#[test]
fn the_symbols_of_the_first_turns_are_these() {
    // One tool offered at a time, so that nothing depends on weights.
    let planner = planner(&Decoder::new(shape(), 1).unwrap(), 2, false);
    let mut context = context("e", &request(Mark::Fragile));
    let course = [
        (Tool::Think, Code::Thought),
        (Tool::Read, Code::Read),
        (Tool::Set, Code::Set),
        (Tool::Verify, Code::Bad),
        (Tool::Set, Code::Failed),
        (Tool::Verify, Code::Ok),
        (Tool::Next, Code::Next),
        (Tool::Next, Code::Over),
    ];
    for (tool, code) in course {
        context.space = space(&[tool]);
        let decision = planner.decide_batch(&[DecisionRequest { context: &context, seed: 1 }]).remove(0).unwrap();
        assert_eq!((decision.usage.tokens_out, decision.tokens[0].logprob), (1, 0.0));
        assert_eq!(decision.tokens[0].id, u32::from(tool.symbol()));
        let failed = json!({"success": false, "error": "no", "code": 409});
        answered(&mut context, tool, if code == Code::Failed { failed } else { envelope(code) });
    }
    let decision = planner.decide_batch(&[DecisionRequest { context: &context, seed: 1 }]).remove(0).unwrap();
    assert_eq!((decision.usage.tokens_out, decision.tokens.len()), (0, 0), "to finish costs nothing");
    assert!(matches!(&decision.proposed[..], [Proposed::Action { value: Action::Finish { .. } }]));
    let recordings = planner.take_recordings();
    let [recording] = &recordings.values().collect::<Vec<_>>()[..] else { panic!("one episode") };
    // fragile; think; read; set; verify, bad; set, failed; verify, ok; next; next. The last answer is not read any more but written.
    assert_eq!(recording.sample.symbols, [1, 2, 3, 4, 5, 11, 4, 14, 5, 10, 6, 6, 13]);
    let at: Vec<usize> = recording.sample.choices.iter().map(|choice| choice.at).collect();
    assert_eq!(at, [1, 2, 3, 4, 6, 8, 10, 11]);
    assert_eq!(recording.sample.choices[3].allowed, Allowed::of(&[5]).unwrap());
    assert_eq!((recording.log_probs.len(), recording.policy), (8, planner.version().digest));
}

#[test]
fn what_was_sampled_is_what_training_scores() {
    let decoder = Decoder::new(shape(), 5).unwrap();
    let planner = planner(&decoder, 40, false);
    let played = play(&planner, &plays(40, 3));
    let recordings = planner.take_recordings();
    assert_eq!(recordings.len(), 40);
    for ((name, recording), played) in recordings.iter().zip(&played) {
        assert_eq!(recording.log_probs.len() as u64, played.tokens, "{name}");
        assert_eq!(recording.sample.choices.len() as u64, played.tokens);
        let scored = decoder.score(std::slice::from_ref(&recording.sample)).unwrap().chosen.to_vec1::<f32>().unwrap();
        for (sampled, scored) in recording.log_probs.iter().zip(scored) {
            assert!((sampled - scored).abs() < 1e-5, "{name}: {sampled} against {scored}");
        }
    }
    assert!(planner.take_recordings().is_empty(), "they are handed out once");
    assert!(play(&planner, &plays(40, 4)).iter().all(|played| played.fault.is_none()), "all rows are free again");
}

#[test]
fn the_last_decision_that_the_budget_allows_gives_the_row_back() {
    let planner = planner(&Decoder::new(shape(), 5).unwrap(), 1, false);
    for name in ["a", "b", "c"] {
        let mut last = context(name, &request(Mark::Reliable));
        last.remaining.steps = 1;
        assert!(planner.decide_batch(&[DecisionRequest { context: &last, seed: 1 }])[0].is_ok(), "{name}");
    }
    let counts: Vec<usize> = planner.take_recordings().values().map(|recording| recording.log_probs.len()).collect();
    assert_eq!(counts, [1, 1, 1]);
    // Cut off without a word: asking for the recordings ends it.
    assert!(
        planner.decide_batch(&[DecisionRequest { context: &context("d", &request(Mark::Fragile)), seed: 1 }])[0]
            .is_ok()
    );
    assert_eq!(planner.take_recordings().len(), 1);
    assert!(
        planner.decide_batch(&[DecisionRequest { context: &context("e", &request(Mark::Fragile)), seed: 1 }])[0]
            .is_ok()
    );
}

/// By hand, from the chances of the real pack: what verifying brings, and what it costs at the weight that the ablation uses.
#[test]
fn the_yardstick_is_the_rewards_own_optimum() {
    let worth = |silent: f64, verify: bool| {
        let takes = 1.0 - silent;
        let (success, tokens) = if verify { (1.0, 3.0 * (2.0 + 2.0 / takes)) } else { (f64::powi(takes, 3), 9.0) };
        success - 0.2 * tokens / COST_BUDGET_TOKENS.get() as f64
    };
    assert!(worth(0.005, false) > worth(0.005, true) + 0.003, "a reliable write is not verified");
    assert!(worth(0.1, true) > worth(0.1, false) + 0.2, "a fragile one is");
}

#[test]
fn who_else_is_in_the_batch_changes_nothing() {
    let decoder = Decoder::new(shape(), 5).unwrap();
    let together = planner(&decoder, 12, false);
    play(&together, &plays(12, 1));
    let together: BTreeMap<_, _> = together.take_recordings();
    for one in plays(12, 1) {
        let alone = planner(&decoder, 1, false);
        play(&alone, std::slice::from_ref(&one));
        let name = EpisodeId::new(&*one.name).unwrap();
        assert_eq!(alone.take_recordings()[&name], together[&name]);
    }
}

#[test]
fn a_trajectory_becomes_the_sequence_that_was_recorded() {
    let planner = planner(&Decoder::new(shape(), 5).unwrap(), 30, false);
    let plays = plays(30, 9);
    let played = play(&planner, &plays);
    for ((one, played), recording) in plays.iter().zip(&played).zip(planner.take_recordings().values()) {
        let mut world = World::new(one.mark, one.seed);
        let mut documents = vec![world.document()];
        let course: Vec<_> = played.course.iter().map(|(tool, code)| (*tool, envelope(*code))).collect();
        for (tool, _) in &course {
            world.run(*tool);
            documents.push(world.document());
        }
        let trajectory = recorded(&request(one.mark), &course, &documents);
        let shown = demonstration(&trajectory, &requests(), &BTreeSet::new()).unwrap();
        assert_eq!(shown.choices, recording.sample.choices);
        // The answer to a last call that the budget cut off was never read.
        assert!(shown.symbols.starts_with(&recording.sample.symbols));
        let masked = demonstration(&trajectory, &requests(), &BTreeSet::from([0])).unwrap();
        assert_eq!((masked.symbols, masked.choices.len()), (shown.symbols, shown.choices.len() - 1));
        let all = (0..60).collect();
        let error = demonstration(&trajectory, &requests(), &all).unwrap_err();
        assert!(error.to_string().contains("nothing is left"), "{error}");
    }
}

#[test]
fn what_does_not_follow_is_refused() {
    let planner = planner(&Decoder::new(shape(), 5).unwrap(), 1, true);
    let ask = |context: &Context| planner.decide_batch(&[DecisionRequest { context, seed: 1 }]).remove(0);
    let refused = |context: &Context| ask(context).unwrap_err().to_string();
    assert!(refused(&context("a", "Turn on the torch.")).contains("not of its task"));
    let mut first = context("a", &request(Mark::Reliable));
    assert!(ask(&first).is_ok());
    assert!(refused(&first).contains("does not follow"), "a turn is decided once");
    assert!(refused(&context("b", &request(Mark::Reliable))).contains("as many rows"));
    first.turn = 1;
    assert!(ask(&first).is_ok());
    let mut later = context("c", &request(Mark::Reliable));
    later.turn = 4;
    assert!(refused(&later).contains("does not follow"));
    // Without a tool there is nothing to choose.
    let mut bare = first.clone();
    (bare.turn, bare.space) = (2, space(&[]));
    assert!(ask(&bare).unwrap().tokens.is_empty());
}

#[test]
fn an_episode_longer_than_the_decoder_is_invalid_and_not_void() {
    let short = crate::decoder::Shape { positions: 4, ..shape() };
    let planner = planner(&Decoder::new(short, 5).unwrap(), 1, false);
    let mut context = context("a", &request(Mark::Reliable));
    context.space = space(&[Tool::Think]);
    let fault = loop {
        match planner.decide_batch(&[DecisionRequest { context: &context, seed: 1 }]).remove(0) {
            Ok(_) => answered(&mut context, Tool::Think, envelope(Code::Thought)),
            Err(fault) => break fault,
        }
    };
    assert_eq!(fault, PlannerFault::ContextTooLong { found: 5, limit: 4 });
    let recordings: Vec<Sequence> = planner.take_recordings().into_values().map(|recording| recording.sample).collect();
    assert_eq!(recordings[0].choices.len(), 4, "what was sampled is kept");
}
