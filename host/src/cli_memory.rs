//! The command line of `memory`: what was said, and nothing of what it means.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// The examples at the end of `memory --help`, and the exit codes.
pub(crate) const AFTER: &str = "\
Examples:
  loopwright memory add \"I live in Lisbon and I'm allergic to peanuts\"
  loopwright memory add \"I moved to Porto\"                  the old city stays in the history, and is served no more
  loopwright memory search \"where do I live\"
  loopwright memory history --claim user/lives_in
  loopwright memory forget --claim user/lives_in            gone from log, index, vectors and snapshot
  loopwright memory verify --absent Porto                   proves it: nothing on disk holds the word
  loopwright memory export --out me.jsonl && loopwright memory --user twin import me.jsonl
  loopwright memory bench locomo --data locomo10.json --cv --json

Exit codes:
  0  done; a search found something
  1  a search found nothing above the threshold; a verification found something; something was forgotten and the pool could not be told yet
  2  bad arguments, a bad file, a damaged log (the message names the command that repairs it)
  3  another process writes this user's memory, or what was asked for, or was to be forgotten, is not there";

/// `memory`.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub struct MemoryArgs {
    /// The folder of all memories.
    #[arg(long, global = true, env = "LOOPWRIGHT_MEMORY", default_value = "target/memory", value_name = "DIR")]
    pub memory: PathBuf,
    /// The workspace, whose users share a pool.
    #[arg(long, global = true, env = "LOOPWRIGHT_WORKSPACE", default_value = "default")]
    pub workspace: String,
    /// Whose memory. No command reads two.
    #[arg(long, global = true, env = "LOOPWRIGHT_USER", default_value = "me")]
    pub user: String,
    /// The time zone of what is said without one.
    #[arg(long, global = true, env = "LOOPWRIGHT_ZONE", default_value = "UTC")]
    pub zone: String,
    /// The moment to take for now, ISO 8601 with an offset [default: the machine's clock].
    #[arg(long, global = true, value_name = "MOMENT")]
    pub now: Option<String>,
    /// The folder of the embedder; without it, or for text that it does not know, search is by words alone.
    #[arg(
        long,
        global = true,
        env = "LOOPWRIGHT_EMBEDDER",
        default_value = "target/models/all-minilm-l6-v2",
        value_name = "DIR"
    )]
    pub embedder: PathBuf,
    /// Searches by words alone.
    #[arg(long, global = true)]
    pub lexical: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: MemoryCommand,
}

/// What a speaker is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RoleArg {
    /// The user.
    User,
    /// Another person.
    Other,
    /// The assistant.
    Assistant,
    /// A tool's result.
    Tool,
    /// Instructions of the system.
    System,
}

/// A layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LayerArg {
    /// Preferences and standing instructions.
    Profile,
    /// What was said and done.
    Episodic,
    /// Facts and decisions.
    LongTerm,
    /// What is to be done.
    Prospective,
}

/// The commands of `memory`.
#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// Captures what was said, and says what was understood from it.
    Add(AddArgs),
    /// Finds what fits a question: an evidence ledger, never prose.
    Search(SearchArgs),
    /// Shows one unit whole: claim, times, evidence and its quotes, links.
    Show {
        /// Its id.
        id: String,
    },
    /// Shows how a claim, or the claim of a unit, changed over time.
    History {
        /// A unit's id.
        #[arg(conflicts_with = "claim", required_unless_present = "claim")]
        id: Option<String>,
        /// `subject/predicate` or `subject/predicate/qualifier`.
        #[arg(long)]
        claim: Option<String>,
    },
    /// Lists what is always served now: profile, standing instructions, and reminders that are due until they are done or 30 days over.
    Served,
    /// Removes for good, from log, index, vectors, snapshot and pool; says of which claims. Only what is said in a later second comes back.
    Forget(ForgetArgs),
    /// Removes for good what a layer does not keep so long, or so many of. What a unit that stays rests on stays too.
    Retain(RetainArgs),
    /// Writes everything as JSON Lines.
    Export {
        /// The new file [default: standard output].
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Reads what `export` wrote, and refuses the file if a fact in it does not follow from its messages. What was forgotten stays forgotten.
    Import {
        /// The file.
        file: PathBuf,
    },
    /// Reads everything again and compares: checksums, evidence, whether facts follow from it, links, index and vectors.
    Verify {
        /// Looks for this text, also as JSON escapes it, in every byte of every file of this user and of the pool and in the dictionaries of
        /// their indexes, and fails where it is found.
        #[arg(long, value_name = "TEXT")]
        absent: Option<String>,
    },
    /// Throws index and vectors away and makes them anew from the log.
    Rebuild {
        /// Mends a damaged log: keeps every record that can be read, sets the damaged file aside, and says what was lost.
        #[arg(long)]
        repair: bool,
    },
    /// Counts and sizes.
    Stats,
    /// Shares one unit with the workspace, without what identifies anybody.
    Share {
        /// Its id.
        id: String,
        /// Shares although a person has to look: you have.
        #[arg(long)]
        reviewed: bool,
    },
    /// Lists, or searches, what the workspace shares.
    Pool {
        /// What to look for.
        query: Option<String>,
    },
    /// Measures retrieval on a data set, without a language model unless one is named.
    Bench(MemoryBenchArgs),
}

/// `memory add`.
#[derive(Debug, Args)]
pub struct AddArgs {
    /// What was said.
    #[arg(conflicts_with = "from", required_unless_present = "from")]
    pub text: Option<String>,
    /// A file of messages instead: JSON lines `{"text", "speaker"?, "role"?, "at"?, "dialogue"?, "session"?}`.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Who said it.
    #[arg(long, default_value = "user")]
    pub speaker: String,
    /// What the speaker is. Only a user's own words become facts.
    #[arg(long, value_enum, default_value = "user")]
    pub role: RoleArg,
    /// When it was said, ISO 8601 with an offset [default: now].
    #[arg(long, value_name = "MOMENT")]
    pub at: Option<String>,
    /// The dialogue that it belongs to.
    #[arg(long, default_value = "notes")]
    pub dialogue: String,
    /// The session of the dialogue [default: the day].
    #[arg(long)]
    pub session: Option<String>,
    /// It is working data of this task, and goes at the task's end: `forget --task NAME`.
    #[arg(long, value_name = "NAME")]
    pub task: Option<String>,
}

/// `memory retain`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("rule").required(true).multiple(true).args(["days", "most"]))]
pub struct RetainArgs {
    /// The layer.
    #[arg(long, value_enum)]
    pub layer: LayerArg,
    /// Days since it was said.
    #[arg(long)]
    pub days: Option<u32>,
    /// Units; the newest stay.
    #[arg(long)]
    pub most: Option<u64>,
}

/// `memory search`.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// The question.
    pub query: String,
    /// Items.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub limit: u32,
    /// What was known then, ISO 8601 with an offset.
    #[arg(long, value_name = "MOMENT")]
    pub as_of: Option<String>,
    /// Also what was superseded, expired or done, marked.
    #[arg(long)]
    pub history: bool,
    /// Only these layers.
    #[arg(long, value_enum)]
    pub layer: Vec<LayerArg>,
    /// Tokens of all quotes together [default: 4000].
    #[arg(long, value_name = "TOKENS")]
    pub tokens: Option<u32>,
    /// The whole memory in its order, when it fits the tokens.
    #[arg(long)]
    pub whole: bool,
}

/// `memory forget`.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub struct ForgetArgs {
    /// Units, by id.
    #[arg(conflicts_with_all = ["claim", "from", "until", "task", "everything"])]
    pub id: Vec<String>,
    /// The working data of a task that ended, and what was derived from it alone.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["claim", "from", "until", "everything"])]
    pub task: Option<String>,
    /// Everything that was ever said of a claim: `subject/predicate` or `subject/predicate/qualifier`.
    #[arg(long, conflicts_with_all = ["from", "until", "everything"])]
    pub claim: Option<String>,
    /// What was said from this moment on, ISO 8601 with an offset.
    #[arg(long, value_name = "MOMENT", conflicts_with = "everything")]
    pub from: Option<String>,
    /// What was said before this moment.
    #[arg(long, value_name = "MOMENT", conflicts_with = "everything")]
    pub until: Option<String>,
    /// The user's whole memory, and what the user gave to the pool. Keyed marks stay, so that an import does not bring it back.
    #[arg(long)]
    pub everything: bool,
}

/// The data sets that the bench reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BenchSet {
    /// LoCoMo: `locomo10.json`.
    Locomo,
    /// BEAM: a folder of conversations, such as `chats/100K`, each with `chat.json` and `probing_questions`.
    Beam,
    /// MemDaily: the folder of its `messages_and_QAs`. Each question is asked among 300 messages of other people.
    Memdaily,
    /// Our own small bilingual set, in LoCoMo's form. Needs no data.
    Synthetic,
    /// Our own Chinese set of MemDaily's form, with distractors. Needs no data.
    SyntheticZh,
    /// How long requests take, and what an index costs, on drawn messages. Needs no data.
    Speed,
}

/// `memory bench`.
#[derive(Debug, Args)]
pub struct MemoryBenchArgs {
    /// Which.
    #[arg(value_enum)]
    pub set: BenchSet,
    /// Sizes that `speed` measures, in units; up to 100,000 there are vectors too.
    #[arg(long, value_delimiter = ',', default_value = "1000,20000,1000000")]
    pub units: Vec<u64>,
    /// Its file or folder.
    #[arg(long, value_name = "PATH")]
    pub data: Option<PathBuf>,
    /// Chooses the weights on the other conversations for each conversation, and pools the results.
    #[arg(long)]
    pub cv: bool,
    /// Seed of synthetic sets, tie-breaks and intervals.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Also answers the questions with a model behind an OpenAI-compatible server, such as `http://127.0.0.1:8000/v1`, and judges the answers.
    #[arg(long, value_name = "URL")]
    pub endpoint: Option<String>,
    /// The model's name on that server.
    #[arg(long, default_value = "default", requires = "endpoint")]
    pub model_name: String,
    /// The judge's name on that server [default: the model itself].
    #[arg(long, requires = "endpoint")]
    pub judge_name: Option<String>,
    /// The environment variable that holds the server's key.
    #[arg(long, default_value = "OPENAI_API_KEY", requires = "endpoint")]
    pub key_variable: String,
    /// Only the first so many questions of each conversation are answered.
    #[arg(long, requires = "endpoint")]
    pub questions: Option<usize>,
    /// Items of the ledger that an answer is given from.
    #[arg(long, default_value_t = loopwright_memory::bench::ANSWER_ITEMS, requires = "endpoint")]
    pub items: usize,
    /// Where vectors, and answers question by question, are kept between runs: one that was killed goes on.
    #[arg(long, default_value = "target/memory-bench", value_name = "DIR")]
    pub keep: PathBuf,
}
