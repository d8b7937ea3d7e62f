//! The command line of `registry`: what was said, and nothing of what it means.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use loopwright_registry::name::{Package, Release};

/// The examples at the end of `registry --help`, what a trust policy looks like, and the exit codes.
pub(crate) const AFTER: &str = "\
Examples:
  loopwright registry keygen acme.key
  loopwright registry push notes.wasm acme:notes@1.0.0 --key acme.key --at 127.0.0.1:5000
  loopwright registry pull acme:notes@1.0.0 --trust trust.toml --at 127.0.0.1:5000 --into plugins
  loopwright registry list acme:notes --trust trust.toml --at 127.0.0.1:5000
  loopwright registry yank acme:notes@1.0.0 --key acme.key --at 127.0.0.1:5000 --reason \"leaks phone numbers\"
  loopwright registry push notes.wasm acme:notes@1.0.0 --key acme.key --at oci:/srv/mirror

A trust policy gives namespaces their keys; a namespace that is not in it has none:
  version = 1
  [[namespace]]
  name = \"acme\"
  [[namespace.key]]
  id = \"ed25519:…\"                  # as `registry keygen` prints it
  from = \"2026-01-01T00:00:00Z\"     # optional
  until = \"2027-01-01T00:00:00Z\"    # optional

Credentials are a name and a password (or an access token in its place), in a file of the form that `docker login` writes:
  {\"auths\": {\"registry.example\": {\"auth\": \"base64 of NAME:PASSWORD\"}}}
They go to a server that asks for them and is the one of the entry, over https or within this machine, and to nobody else. Credential helpers
(`credsStore`, `credHelpers`) are programs and are not started; identity tokens are not supported.

Exit codes:
  0  done
  1  refused: a digest, a length, a signature, a yank, a moved tag, or a change that the version does not say
  2  bad arguments, a key, policy, lock file or index that is not what it should be, or credentials that are missing or not accepted
  3  the registry cannot be reached, or what was asked for is not there";

/// `registry`.
#[derive(Debug, Subcommand)]
#[command(after_help = AFTER)]
pub enum RegistryCommand {
    /// Makes a key that signs, in a new file, and prints its public half.
    Keygen {
        /// The new file.
        file: PathBuf,
    },
    /// Publishes a component and signs it; refused when it breaks an earlier release of its range.
    Push(SignArgs),
    /// Signs a published release once more, such as with the next key of a rotation.
    Sign(SignArgs),
    /// Fetches a release, verifies all of it, and installs it.
    Pull(PullArgs),
    /// Lists the versions of a package, who signed them and which are yanked; without a package, what is installed.
    List {
        /// `namespace:name`.
        package: Option<Package>,
        /// The trust policy that signatures are judged by; without one, none counts.
        #[arg(long, env = "LOOPWRIGHT_TRUST", value_name = "FILE")]
        trust: Option<PathBuf>,
        /// Where.
        #[command(flatten)]
        place: PlaceArgs,
        /// On this machine.
        #[command(flatten)]
        local: LocalArgs,
    },
    /// Withdraws a release: new installs are refused.
    Yank(YankArgs),
    /// Removes from the store what neither the lock file nor the index of plugins names.
    Gc {
        /// On this machine.
        #[command(flatten)]
        local: LocalArgs,
        /// Only says what would go.
        #[arg(long)]
        dry_run: bool,
    },
}

/// Which registry.
#[derive(Debug, Clone, Args)]
pub struct PlaceArgs {
    /// `[https://]HOST[:PORT][/PREFIX]`, or `oci:FOLDER` for a folder of OCI image layouts.
    #[arg(long, env = "LOOPWRIGHT_REGISTRY", value_name = "ADDRESS")]
    pub at: Option<String>,
    /// Speaks plain HTTP also to servers that are not on this machine.
    #[arg(long)]
    pub plain_http: bool,
    /// Who this machine is to registries, as `docker login` writes it [default: config.json in DOCKER_CONFIG, or in ~/.docker, where it exists].
    #[arg(long, env = "LOOPWRIGHT_CREDENTIALS", value_name = "FILE")]
    pub credentials: Option<PathBuf>,
    /// The registry's token server, when it is another one: credentials for the registry go there too.
    #[arg(long, value_name = "[https://]HOST[:PORT]")]
    pub token_server: Option<String>,
}

/// Where things are on this machine.
#[derive(Debug, Clone, Args)]
pub struct LocalArgs {
    /// The folder of plugins, with its index [default: that of --plugins].
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
    /// The lock file [default: loopwright.lock in the folder of plugins].
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,
    /// The store of blobs.
    #[arg(long, env = "LOOPWRIGHT_STORE", default_value = "target/store", value_name = "DIR")]
    pub store: PathBuf,
}

/// `registry push` and `registry sign`.
#[derive(Debug, Args)]
pub struct SignArgs {
    /// The component's file.
    pub file: PathBuf,
    /// `namespace:name@version`.
    pub release: Release,
    /// The secret key's file.
    #[arg(long, env = "LOOPWRIGHT_KEY", value_name = "FILE")]
    pub key: PathBuf,
    /// Where.
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// `registry yank`.
#[derive(Debug, Args)]
pub struct YankArgs {
    /// `namespace:name@version`.
    pub release: Release,
    /// Why, in one line.
    #[arg(long)]
    pub reason: String,
    /// The secret key's file.
    #[arg(long, env = "LOOPWRIGHT_KEY", value_name = "FILE")]
    pub key: PathBuf,
    /// Where.
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// `registry pull`.
#[derive(Debug, Args)]
pub struct PullArgs {
    /// `namespace:name@version`.
    pub release: Release,
    /// The trust policy.
    #[arg(long, env = "LOOPWRIGHT_TRUST", default_value = "trust.toml", value_name = "FILE")]
    pub trust: PathBuf,
    /// Takes a locked release from the store, verifies it again, and asks no registry.
    #[arg(long)]
    pub offline: bool,
    /// Grants what the release asks for; without it, a new release goes on with what its package was granted before.
    #[arg(long)]
    pub grant: bool,
    /// Takes the place of a plugin of the same name from elsewhere.
    #[arg(long)]
    pub replace: bool,
    /// Where.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// On this machine.
    #[command(flatten)]
    pub local: LocalArgs,
}
