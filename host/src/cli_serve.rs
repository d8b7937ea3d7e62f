//! The command line of `serve`: what was said, and nothing of what it means.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use loopwright_mcp::limits::{CONFIRM_WAIT, SESSION_IDLE, SESSIONS_DEFAULT, SESSIONS_MAX};

/// The examples at the end of `serve mcp --help`, and the exit codes.
const AFTER: &str = "\
A client sees the tools of one phone. It cannot reset it, read its state, have it judged, or confirm a call for the user.

Examples:
  loopwright serve mcp                                       one client over standard input and output
  loopwright serve mcp --listen 127.0.0.1:8811               many clients at http://127.0.0.1:8811/mcp
  loopwright serve mcp --task phone.contact-delete.en.0      the phone that a task begins with
  loopwright serve mcp --listen 0.0.0.0:8811 --allow-remote --token-file token --allow-host phone.example

Exit codes:
  0  the client left, or the server was told to stop (SIGINT, SIGTERM)
  2  bad arguments, an address that cannot be had, or a client that speaks no MCP
  3  something is not installed: run `loopwright doctor`";

/// `serve`.
#[derive(Debug, Subcommand)]
pub enum ServeCommand {
    /// Serves the tools of phone worlds to MCP clients, a world for each session.
    #[command(after_help = AFTER)]
    Mcp(Box<McpArgs>),
}

/// In which language tools are described and users are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LangKind {
    /// English.
    En,
    /// Chinese.
    Zh,
}

/// What is done with a call that needs the user's confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ConfirmKind {
    /// The user is asked through the client (MCP elicitation); where the client cannot, the call does not run.
    Ask,
    /// The call does not run.
    Deny,
}

/// `serve mcp`.
#[derive(Debug, Args)]
pub struct McpArgs {
    /// Serves HTTP at this address instead of standard input and output; port 0 takes a free one.
    #[arg(long, value_name = "IP:PORT")]
    pub listen: Option<SocketAddr>,
    /// Begins each world as this task does, instead of as a fresh phone.
    #[arg(long, value_name = "ID")]
    pub task: Option<String>,
    /// The pack of `--task`: `phone` (built in) or a folder.
    #[arg(long, default_value = "phone", requires = "task")]
    pub pack: String,
    /// Seed of the built-in pack's instances.
    #[arg(long, default_value_t = 1, requires = "task")]
    pub pack_seed: u64,
    /// Seed of a fresh phone: same seed, same calls, same results.
    #[arg(long, default_value_t = 1, conflicts_with = "task")]
    pub seed: u64,
    /// The language of descriptions and questions.
    #[arg(long, value_enum, default_value = "en")]
    pub lang: LangKind,
    /// What is done with a call that needs the user's confirmation.
    #[arg(long, value_enum, default_value = "ask")]
    pub confirm: ConfirmKind,
    /// Sessions at a time.
    #[arg(long, value_name = "N", default_value_t = SESSIONS_DEFAULT as u64, value_parser = clap::value_parser!(u64).range(1..=SESSIONS_MAX as u64))]
    pub sessions: u64,
    /// Seconds after which a session over HTTP ends that says nothing; more than a user may take to confirm a call.
    #[arg(long, value_name = "SECONDS", default_value_t = SESSION_IDLE.as_secs(), value_parser = clap::value_parser!(u64).range(CONFIRM_WAIT.as_secs() + 1..=86_400))]
    pub idle_s: u64,
    /// Lets other machines connect, where --listen names an address that they reach. Needs --token-file.
    #[arg(long, requires = "listen", requires = "token_file")]
    pub allow_remote: bool,
    /// A file with the bearer token that each request must carry.
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub token_file: Option<PathBuf>,
    /// A further name that requests may give as their host, such as `phone.example` or `phone.example:8811`.
    #[arg(long, value_name = "HOST[:PORT]", requires = "listen")]
    pub allow_host: Vec<String>,
    /// An origin whose pages may connect, such as `https://app.example`; without it none may.
    #[arg(long, value_name = "ORIGIN", requires = "listen")]
    pub allow_origin: Vec<String>,
}
