//! `serve`: phone worlds for other programs.

pub mod worlds;

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use loopwright_contract::name::Lang;
use loopwright_contract::task::Task;
use loopwright_mcp::limits::TOKEN_BYTES_MAX;
use loopwright_mcp::{Confirm, HttpRules, PATH, Server, Settings, Token, stdio_pipes};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use self::worlds::PhoneWorlds;
use crate::cli::Shared;
use crate::cli_serve::{ConfirmKind, LangKind, McpArgs, ServeCommand};
use crate::commands::plugin;
use crate::exit::Exit;
use crate::output;
use crate::wire::{self, Engine, Worlds};

/// Threads that may block beside those of sessions: worlds that are opened.
const OPENING_THREADS: usize = 4;

/// Runs it.
///
/// # Errors
/// Bad arguments, an address that cannot be had, a client that speaks no MCP, or something that is not installed.
pub fn serve(shared: &Shared, command: &ServeCommand) -> anyhow::Result<Exit> {
    match command {
        ServeCommand::Mcp(args) => mcp(shared, args),
    }
}

fn mcp(shared: &Shared, args: &McpArgs) -> anyhow::Result<Exit> {
    // What is refused is refused before anything is compiled.
    let token = args.token_file.as_deref().map(token).transpose()?;
    if let Some(address) = args.listen.filter(|address| !address.ip().is_loopback() && !args.allow_remote) {
        anyhow::bail!(
            "`{address}` can be reached from other machines\nhint: listen at 127.0.0.1, or say --allow-remote and name a --token-file"
        );
    }
    let (task, worlds) = task(args)?;
    let host = wire::host(shared, Engine::default(), worlds)?;
    let worlds = PhoneWorlds::prepare(Arc::new(host), task)?;
    let server = Server::new(Arc::new(worlds), settings(args));
    let sessions = usize::try_from(args.sessions).unwrap_or(usize::MAX);
    // One thread speaks; worlds run on threads that may block.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(sessions.saturating_add(OPENING_THREADS))
        .build()
        .context("the runtime cannot be started")?;
    let served = runtime.block_on(async {
        let stop = stop()?;
        match args.listen {
            None => {
                let (read, write) = stdio_pipes();
                Ok(server.serve_pipe(read, write, stop).await?)
            }
            Some(address) => http(shared, args, &server, address, token, stop).await,
        }
    });
    // A read of a terminal cannot be called off; nothing is left that is worth waiting for.
    runtime.shutdown_background();
    served.map(|()| Exit::Good)
}

async fn http(
    shared: &Shared,
    args: &McpArgs,
    server: &Server,
    address: SocketAddr,
    token: Option<Token>,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let listener = TcpListener::bind(address).await.with_context(|| format!("`{address}` cannot be had"))?;
    let address = listener.local_addr().context("the address of the listener is not known")?;
    let rules = rules(args, address, token)?;
    let url = format!("http://{address}{PATH}");
    if shared.json {
        output::json(&json!({"listening": url}));
    } else {
        output::line(format_args!("listening at {url}"));
    }
    server.serve_http(listener, rules, stop).await;
    Ok(())
}

fn rules(args: &McpArgs, address: SocketAddr, token: Option<Token>) -> anyhow::Result<HttpRules> {
    let mut rules = HttpRules::loopback(address);
    for host in &args.allow_host {
        rules = rules.allow_host(host)?;
    }
    for origin in &args.allow_origin {
        rules = rules.allow_origin(origin)?;
    }
    if let Some(token) = token {
        rules = rules.with_token(token);
    }
    Ok(rules.for_address(address)?)
}

fn token(file: &Path) -> anyhow::Result<Token> {
    let length = fs::metadata(file).with_context(|| format!("token file `{}` cannot be read", file.display()))?.len();
    if usize::try_from(length).map_or(true, |length| length > TOKEN_BYTES_MAX + 2) {
        anyhow::bail!("token file `{}` has {length} bytes: expected one line with a token", file.display());
    }
    let text = fs::read_to_string(file).with_context(|| format!("token file `{}` cannot be read", file.display()))?;
    Token::new(&text).with_context(|| format!("token file `{}` holds no token", file.display()))
}

fn settings(args: &McpArgs) -> Settings {
    Settings {
        lang: match args.lang {
            LangKind::En => Lang::english(),
            LangKind::Zh => Lang::chinese(),
        },
        confirm: match args.confirm {
            ConfirmKind::Ask => Confirm::Ask,
            ConfirmKind::Deny => Confirm::Deny,
        },
        sessions: usize::try_from(args.sessions).unwrap_or(usize::MAX),
        session_idle: Duration::from_secs(args.idle_s),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// What each world begins as, and the worlds that it refers to.
fn task(args: &McpArgs) -> anyhow::Result<(Task, Worlds)> {
    let Some(id) = &args.task else {
        let mut task = plugin::task_by_hand()?;
        task.start.seed = args.seed;
        return Ok((task, Worlds::default()));
    };
    let pack = wire::pack(&args.pack, args.pack_seed)?;
    let Some(task) = pack.tasks().iter().find(|task| task.id.as_str() == id) else {
        let one = pack.tasks().first().map_or_else(String::new, |task| format!(", such as `{}`", task.id));
        anyhow::bail!("task `{id}` is not in the pack\nhint: it has {} tasks{one}", pack.tasks().len());
    };
    Ok((task.clone(), Worlds::of(pack.worlds())))
}

/// Ends when the process is told to stop.
fn stop() -> anyhow::Result<impl Future<Output = ()>> {
    let mut interrupted = signal(SignalKind::interrupt()).context("signals cannot be waited for")?;
    let mut terminated = signal(SignalKind::terminate()).context("signals cannot be waited for")?;
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
        }
    })
}
