//! The command line: what was said, and nothing of what it means.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use loopwright_kit::{Kind, Lang};

use crate::cli_memory::MemoryArgs;
use crate::cli_registry::RegistryCommand;
use crate::cli_serve::ServeCommand;
use crate::cli_train::{CareBenchArgs, EvalArgs, ExportArgs, TrainArgs};

/// The examples at the end of `--help`, and the exit codes.
const AFTER: &str = "\
Examples:
  loopwright run                                    the main job: every planner on the built-in phone pack
  loopwright run --request \"set an alarm for 6:45\"   one request in plain words, by the local model
  loopwright run --pack phone --planner scripted --jobs 2 --out runs/gold --json
  loopwright replay runs/gold
  loopwright plugin call manage_alarm '{\"action\":\"query\"}'

Exit codes:
  0  done, and nothing to report against it
  1  done, and something differs: a replay, a refused task, a void episode
  2  bad arguments or bad input
  3  something is not installed: run `loopwright doctor`";

/// A WebAssembly plugin host for planner agents.
#[derive(Debug, Parser)]
#[command(name = "loopwright", version, after_help = AFTER, arg_required_else_help = true)]
pub struct Cli {
    /// What all commands share.
    #[command(flatten)]
    pub shared: Shared,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Where built plugins are, unless something else is said.
const PLUGINS: &str = "target/plugins";
/// Where compiled components are.
const CACHE: &str = "target/cache";
/// What is told: the MCP library warns of every mistake of a client.
const LOG: &str = "warn,rmcp::service=error";

/// What all commands share.
#[derive(Debug, Clone, Args)]
pub struct Shared {
    /// Folder of built plugin components.
    #[arg(long, global = true, env = "LOOPWRIGHT_PLUGINS", default_value = PLUGINS)]
    pub plugins: PathBuf,
    /// What plugins from elsewhere may touch [default: grants.toml in the folder of plugins].
    #[arg(long, global = true, env = "LOOPWRIGHT_GRANTS", value_name = "FILE")]
    pub grants: Option<PathBuf>,
    /// Folder of compiled components.
    #[arg(long, global = true, env = "LOOPWRIGHT_CACHE", default_value = CACHE)]
    pub cache: PathBuf,
    /// Machine output on standard output.
    #[arg(long, global = true)]
    pub json: bool,
    /// Diagnostics on standard error: a level, or a filter such as `loopwright_engine=debug`.
    // Whatever an MCP client does wrong, the library warns of; that is for those who ask.
    #[arg(long, global = true, env = "LOOPWRIGHT_LOG", default_value = LOG)]
    pub log: String,
}

impl Default for Shared {
    /// What is meant where nothing is said.
    fn default() -> Self {
        Self { plugins: PLUGINS.into(), grants: None, cache: CACHE.into(), json: false, log: LOG.to_owned() }
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs tasks, or one request in plain words.
    Run(Box<RunArgs>),
    /// Task packs: checks, writes, replays others' records.
    #[command(subcommand)]
    Pack(PackCommand),
    /// Plugins: what is installed, and one call by hand.
    #[command(subcommand)]
    Plugin(PluginCommand),
    /// Publishes, fetches, lists and withdraws plugins.
    #[command(subcommand)]
    Registry(RegistryCommand),
    /// Runs trajectories again and compares them byte by byte.
    Replay(ReplayArgs),
    /// Judges stored trajectories again, also with their pack deleted.
    Verify(VerifyArgs),
    /// Shows a trajectory in readable form.
    Show(ShowArgs),
    /// Verifiers: which serve, swapping one while everything runs, going back, comparing two.
    #[command(subcommand)]
    Verifier(VerifierCommand),
    /// Serves phone worlds to other programs.
    #[command(subcommand)]
    Serve(ServeCommand),
    /// What is remembered of a user: captures, finds, forgets, proves.
    Memory(Box<MemoryArgs>),
    /// Trains policies in the plugins' worlds.
    Train(TrainArgs),
    /// Measures a policy or a baseline on one part of a pack.
    Eval(EvalArgs),
    /// Writes weights, or trajectories with advantages for other trainers.
    Export(ExportArgs),
    /// Measures what a call, a reset, a fork and a verdict cost, beside bare wasmtime; or runs attacks.
    Bench(BenchArgs),
    /// Says what is installed, what is missing and how to get it.
    Doctor,
    /// Compiles the component on standard input, confined. The host runs it for what third parties ship.
    #[command(name = COMPILE_COMMAND, hide = true)]
    CompileComponent(CompileArgs),
    /// Prints a completion script.
    Completions {
        /// For which shell.
        shell: clap_complete::Shell,
    },
}

/// The hidden command that compiles one component.
pub const COMPILE_COMMAND: &str = "compile-component";

/// What the host tells its compiler process.
#[derive(Debug, Args)]
pub struct CompileArgs {
    /// `tool`, `environment` or `verifier`.
    pub class: String,
    /// Seconds of processor time that it may use.
    pub cpu_s: u64,
    /// Bytes of address space that it may use.
    pub memory_bytes: u64,
}

/// Which planner decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlannerKind {
    /// A task's gold actions.
    Scripted,
    /// Any offered action, seeded.
    Random,
    /// Finishes at once, having done nothing.
    Idle,
    /// Overlap of words and fit of types, no learning.
    Lexical,
    /// The pointer policy that ships, or that of --policy.
    Policy,
    /// The local GGUF model.
    Local,
    /// An OpenAI-compatible server.
    Openai,
}

/// How much a trajectory keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RecordKind {
    /// Observations and changes whole.
    Full,
    /// Their digests only.
    Digest,
}

/// `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The pack: `phone` (built in) or a folder.
    #[arg(long, default_value = "phone")]
    pub pack: String,
    /// Who decides; several run one after another. Without it: scripted, random, idle, lexical and the shipped policy on the whole pack, and the local model on a few tasks.
    #[arg(long, value_enum)]
    pub planner: Vec<PlannerKind>,
    /// One request in plain words, instead of a pack's tasks.
    #[arg(long, conflicts_with_all = ["pack", "task", "limit"])]
    pub request: Option<String>,
    /// The language of `--request`.
    #[arg(long, default_value = "en")]
    pub lang: String,
    /// Only these tasks, by id.
    #[arg(long)]
    pub task: Vec<String>,
    /// Only the first so many tasks.
    #[arg(long)]
    pub limit: Option<usize>,
    /// Tasks for the local model when no planner is named.
    #[arg(long, default_value_t = 6)]
    pub model_tasks: usize,
    /// Steps for the local model when no planner is named.
    #[arg(long, default_value_t = 6)]
    pub model_steps: u32,
    /// Steps of an episode, instead of each task's own budget.
    #[arg(long)]
    pub steps: Option<u32>,
    /// Seconds of wall time of an episode, instead of each task's own; the local model has an hour. An episode that takes longer is void.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    pub wall_s: Option<u64>,
    /// Keeps to the verifiers that serve when the run begins, whatever is swapped meanwhile.
    #[arg(long)]
    pub pin_verifiers: bool,
    /// Episodes at a time; results do not depend on it.
    #[arg(long, default_value_t = 1)]
    pub jobs: usize,
    /// Seed of random planners and of sampling.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Seed of the built-in pack's instances.
    #[arg(long, default_value_t = 1)]
    pub pack_seed: u64,
    /// Where trajectories go: a new folder; default: the next free one under target/runs.
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// How much trajectories keep.
    #[arg(long, value_enum, default_value = "full")]
    pub record: RecordKind,
    /// Refuses arguments of a wrong type instead of repairing them.
    #[arg(long)]
    pub strict: bool,
    /// Drops every plugin instance after each call: slower, same bytes.
    #[arg(long)]
    pub drop_instances: bool,
    /// Judges every prefix, not only the whole episode.
    #[arg(long)]
    pub prefixes: bool,
    /// Folders of plain `SKILL.md` skills.
    #[arg(long)]
    pub skills: Vec<PathBuf>,
    /// Lays a user's memory over the world of every episode, and keeps in it what the episodes that pass leave: the folder of `memory`.
    #[arg(long, value_name = "DIR")]
    pub memory: Option<PathBuf>,
    /// Whose memory.
    #[arg(long, default_value = "me", requires = "memory")]
    pub memory_user: String,
    /// The workspace of that user.
    #[arg(long, default_value = "default", requires = "memory")]
    pub memory_workspace: String,
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Which model, for the planners that ask one.
#[derive(Debug, Clone, Args)]
pub struct ModelArgs {
    /// The weights of `--planner policy`: a run's folder or a file [default: those that ship].
    #[arg(long, value_name = "PATH")]
    pub policy: Option<PathBuf>,
    /// A GGUF file of the Llama, Qwen2 or Qwen3 family.
    #[arg(long)]
    pub model: Option<PathBuf>,
    /// Sampling temperature; 0 takes the likeliest token.
    #[arg(long, default_value_t = 0.0)]
    pub temperature: f32,
    /// Base address of an OpenAI-compatible server, such as `http://127.0.0.1:8000/v1`.
    #[arg(long)]
    pub endpoint: Option<String>,
    /// The model's name on that server.
    #[arg(long, default_value = "default")]
    pub model_name: String,
    /// The environment variable that holds the server's key.
    #[arg(long, default_value = "OPENAI_API_KEY")]
    pub key_variable: String,
    /// Price of a million input tokens, in millionths of your currency.
    #[arg(long, default_value_t = 0)]
    pub price_in_micros: u64,
    /// Price of a million output tokens, in millionths of your currency.
    #[arg(long, default_value_t = 0)]
    pub price_out_micros: u64,
    /// Seconds to wait for the server.
    #[arg(long, default_value_t = 120)]
    pub timeout_s: u64,
}

/// `pack`.
#[derive(Debug, Subcommand)]
pub enum PackCommand {
    /// Runs the admission gate and names the rule that each refused task breaks.
    Check {
        /// `phone` (built in), a folder, or a folder of a task pack from elsewhere.
        pack: String,
        /// Seed of the built-in pack's instances.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Tasks at a time.
        #[arg(long, default_value_t = 1)]
        jobs: usize,
        /// Only the first so many tasks.
        #[arg(long)]
        limit: Option<usize>,
    },
    /// Writes the built-in pack to a folder.
    Write {
        /// The new folder.
        dir: PathBuf,
        /// Seed of the instances.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Lists a pack's families.
    List {
        /// `phone` or a folder.
        #[arg(default_value = "phone")]
        pack: String,
        /// Seed of the built-in pack's instances.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Recall of the gold tools among the candidates, by language.
    Recall {
        /// Seed of the built-in pack's instances.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Phrasings that the specs' authors were not shown.
        #[arg(long)]
        unseen: bool,
        /// Requests of a file instead: JSON lines `{"lang", "request", "tools": [name]}`.
        #[arg(long)]
        requests: Option<PathBuf>,
    },
    /// Which share of the gold the phone policy's choices can point to; fails below 98 of 100 arguments.
    Reach {
        /// Seed of the built-in pack's instances.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The phrasings that are kept for test.
        #[arg(long)]
        unseen: bool,
    },
    /// Runs the calls that another implementation recorded and compares field by field.
    Replay {
        /// A folder with `db.json`, `tools.json` and `replays.jsonl`.
        dir: PathBuf,
        /// The tool plugin that answers, such as `tau2-retail`.
        #[arg(long)]
        plugin: String,
    },
}

/// `plugin`.
#[derive(Debug, Subcommand)]
pub enum PluginCommand {
    /// Makes a folder with a new plugin, its tests and the SDK.
    New {
        /// Its name, and the folder's: `a-z`, `0-9` and `-`.
        name: String,
        /// `tool`, `environment`, `verifier` or `skill`.
        #[arg(long, default_value = "tool")]
        kind: Kind,
        /// `rust`, `python` or `js`.
        #[arg(long, default_value = "rust")]
        lang: Lang,
        /// Where the folder is made.
        #[arg(long, default_value = ".")]
        within: PathBuf,
        /// A checkout's `sdk` folder for a Rust plugin, instead of a copy beside it.
        #[arg(long, value_name = "PATH")]
        sdk: Option<PathBuf>,
    },
    /// Builds the plugin of a folder into a component.
    Build {
        /// The plugin's folder.
        #[arg(default_value = ".")]
        dir: PathBuf,
        /// Where a set-up put guest toolchains.
        #[arg(long, env = "LOOPWRIGHT_GUEST_TOOLS", default_value = "target/guest-tools")]
        tools: PathBuf,
    },
    /// Says whether a host would install a component, and what it costs.
    Check {
        /// A plugin's folder that was built, or a component.
        #[arg(default_value = ".")]
        plugin: PathBuf,
    },
    /// Runs the golden cases of a plugin's folder in the host's engine.
    Test {
        /// The plugin's folder.
        #[arg(default_value = ".")]
        dir: PathBuf,
        /// Only cases whose name contains this.
        #[arg(long)]
        filter: Option<String>,
        /// Writes what came out as what is expected, to be reviewed as a change.
        #[arg(long)]
        bless: bool,
    },
    /// Compares two components: contract, request, tools and size.
    Diff {
        /// The old one: a folder that was built, or a component.
        a: PathBuf,
        /// The new one.
        b: PathBuf,
    },
    /// Lists what is installed.
    List,
    /// Shows one plugin whole: tools, schemas, collections, what it asks for and what it got.
    Describe {
        /// Its name.
        name: String,
    },
    /// Says what a plugin asks for, what it got, and why something is denied.
    Explain {
        /// An installed plugin's name, or a component's file.
        plugin: String,
    },
    /// Grants an installed plugin what it asks for, or part of it.
    Grant {
        /// Its name.
        name: String,
        /// Versions that the grant is for, such as `^1.2` or `=1.2.3` [default: those compatible with the installed one].
        #[arg(long, value_name = "RANGE")]
        versions: Option<semver::VersionReq>,
        /// Leaves this out: a capability (`tool.call`), a collection or a tool, by name.
        #[arg(long, value_name = "NAME")]
        except: Vec<String>,
    },
    /// Takes back every grant of a plugin.
    Revoke {
        /// Its name.
        name: String,
    },
    /// Calls one tool on a fresh world.
    Call {
        /// The tool.
        tool: String,
        /// Its arguments, a JSON object.
        #[arg(default_value = "{}")]
        arguments: String,
        /// Calls it through the environment, so that the rules of the world hold.
        #[arg(long)]
        through_environment: bool,
    },
}

/// `replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// A folder of trajectories.
    pub dir: PathBuf,
    /// Trajectories at a time.
    #[arg(long, default_value_t = 1)]
    pub jobs: usize,
    /// Drops every plugin instance after each call.
    #[arg(long)]
    pub drop_instances: bool,
}

/// `verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// A folder of trajectories.
    pub dir: PathBuf,
    /// Judges with this verifier instead of each check's own.
    #[arg(long)]
    pub verifier: Option<String>,
    /// Trajectories at a time.
    #[arg(long, default_value_t = 1)]
    pub jobs: usize,
}

/// `show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// A trajectory's file.
    pub file: PathBuf,
    /// Shows results and changes whole instead of folded.
    #[arg(long)]
    pub full: bool,
}

/// `verifier`.
#[derive(Debug, Subcommand)]
pub enum VerifierCommand {
    /// How every verifier stands.
    Status,
    /// Puts a component in place of the verifier of that name. Processes that run take it from their next verdict on; any failure leaves the
    /// old one serving.
    #[command(after_help = "Examples:
  loopwright verifier swap target-state new.wasm
  loopwright verifier swap target-state new.wasm --shadow 200 --disagreements 0")]
    Swap(SwapArgs),
    /// Goes back to the component that served before.
    Rollback {
        /// The verifier.
        name: String,
    },
    /// Judges recorded trajectories with the verifier that serves and with a component, and prints where they differ.
    #[command(after_help = "Example:
  loopwright verifier compare target/runs/0001 --verifier target-state --with new.wasm")]
    Compare(CompareArgs),
}

/// `verifier swap`.
#[derive(Debug, Args)]
pub struct SwapArgs {
    /// The verifier whose place it takes.
    pub name: String,
    /// The component.
    pub component: PathBuf,
    /// The digest that the component must have, `sha256:` and 64 hex digits.
    #[arg(long)]
    pub digest: Option<String>,
    /// Runs beside the old one for so many verdicts first; its own count only once it is promoted.
    #[arg(long, value_name = "VERDICTS", value_parser = clap::value_parser!(u64).range(1..))]
    pub shadow: Option<u64>,
    /// With --shadow: disagreements that are still acceptable.
    #[arg(long, default_value_t = 0, requires = "shadow")]
    pub disagreements: u64,
}

/// `verifier compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Trajectories.
    pub dir: PathBuf,
    /// The verifier.
    #[arg(long)]
    pub verifier: String,
    /// The component to compare with it.
    #[arg(long, value_name = "COMPONENT")]
    pub with: PathBuf,
    /// Trajectories at a time.
    #[arg(long, default_value_t = 1)]
    pub jobs: usize,
}

/// `bench`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BenchArgs {
    /// What to measure; without it, costs.
    #[command(subcommand)]
    pub command: Option<BenchCommand>,
    /// Of the costs.
    #[command(flatten)]
    pub costs: CostArgs,
}

/// `bench` of something else than costs.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Runs every hostile guest and says what stopped it; fails when one was not contained.
    Hostile(HostileArgs),
    /// Swaps a verifier again and again while episodes are judged; fails when a verdict is lost or mixed.
    Swap(SwapBenchArgs),
    /// The ablation of CARE against its rivals, on a task whose best way is known.
    Care(Box<CareBenchArgs>),
    /// Measures episodes a second as training runs them; fails when one is void.
    Rollout(RolloutBenchArgs),
    /// Measures how long after its deadline a call ends, for guests that spin and for the longest host functions; fails when an aim is missed.
    Deadline(DeadlineArgs),
    /// Loads, calls and unloads plugins again and again; fails when the process grows.
    Soak(SoakArgs),
    /// Attacks the registry's client through a server that lies, and shows what each attack met; fails when one was not refused.
    RegistryAttacks,
}

/// `bench swap`.
#[derive(Debug, Args)]
pub struct SwapBenchArgs {
    /// Verdicts in all.
    #[arg(long, default_value_t = 100_000)]
    pub verdicts: u64,
    /// Verdicts a second over all threads; 0: as many as the machine gives.
    #[arg(long, default_value_t = 5_000)]
    pub rate: u64,
    /// Threads that judge.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub judges: u64,
    /// Milliseconds between two swaps.
    #[arg(long, default_value_t = 5)]
    pub every_ms: u64,
}

/// `bench rollout`.
#[derive(Debug, Args)]
pub struct RolloutBenchArgs {
    /// Seconds of each row.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub seconds: u64,
    /// Members of a group; there are 16 groups in a step.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(2..=512))]
    pub members: u32,
}

/// `bench deadline`.
#[derive(Debug, Args)]
pub struct DeadlineArgs {
    /// Calls of each kind.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub tries: u64,
    /// Only kinds whose name contains this.
    #[arg(long)]
    pub filter: Option<String>,
}

/// `bench soak`.
#[derive(Debug, Args)]
pub struct SoakArgs {
    /// How often a plugin is loaded, called and unloaded.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(10..=10_000_000))]
    pub cycles: u64,
    /// Every so many cycles the machine code on the disk goes too, and is compiled anew; 0: never.
    #[arg(long, default_value_t = 0)]
    pub compile_every: u64,
}

/// `bench hostile`.
#[derive(Debug, Args)]
pub struct HostileArgs {
    /// Only guests whose name contains this.
    #[arg(long)]
    pub filter: Option<String>,
}

/// `bench` of costs.
#[derive(Debug, Args)]
pub struct CostArgs {
    /// Only rows whose name contains this.
    #[arg(long)]
    pub filter: Option<String>,
    /// Samples a row.
    #[arg(long, default_value_t = 2000)]
    pub samples: usize,
    /// Where `cargo xtask kit` made plugins from the templates; its verifiers in Python and JavaScript are measured.
    #[arg(long, default_value = "target/kit")]
    pub kit: PathBuf,
    /// A verifier's component to measure in fresh instances, in a file named as its plugin; it gets the check of the templates. Repeatable.
    #[arg(long)]
    pub verifier: Vec<PathBuf>,
    /// The check that the verifiers of --verifier are given, JSON; without it, what the kit's template asks for.
    #[arg(long)]
    pub check: Option<String>,
    /// A folder of recorded calls to measure beside (tau2 retail).
    #[arg(long)]
    pub retail: Option<PathBuf>,
}
