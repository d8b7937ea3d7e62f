//! A plugin by way of the registry: from the command that publishes it to the host that runs it.

use std::path::Path;

use clap::Parser as _;
use loopwright::cli::{Cli, Command};
use loopwright::commands;
use loopwright::exit::Exit;

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A folder with everything that a publisher and a customer have.
struct Desk(tempfile::TempDir);

impl Desk {
    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// Runs `registry`, as the command line would.
    fn run(&self, line: &str) -> anyhow::Result<Exit> {
        let words = format!("loopwright --plugins {} registry {line}", self.path("plugins"));
        let cli = Cli::try_parse_from(words.split(' ').map(|word| word.replace('~', &self.path(""))))?;
        let Command::Registry(command) = &cli.command else { panic!("`registry` is what was said") };
        commands::registry::registry(&cli.shared, command)
    }

    fn trust(&self) {
        let key =
            loopwright_registry::key::SecretKey::load(Path::new(&self.path("acme.key"))).expect("the new key").id();
        let policy = format!("version = 1\n[[namespace]]\nname = \"acme\"\n[[namespace.key]]\nid = \"{key}\"\n");
        std::fs::write(self.path("trust.toml"), policy).expect("a policy is written");
    }
}

#[test]
fn a_pulled_plugin_is_installed_and_gets_nothing_but_its_own() {
    let desk = Desk(tempfile::tempdir().expect("a folder"));
    let sms = root().join("target/plugins/sms.wasm");
    let run = |line: &str| desk.run(line).expect(line);
    assert_eq!(run("keygen ~acme.key"), Exit::Good);
    desk.trust();
    let at = "--at oci:~mirror";
    let pull = format!("pull acme:sms@0.1.0 --trust ~trust.toml --store ~store {at}");
    assert!(desk.run(&pull).is_err(), "nothing is published yet");
    assert_eq!(run(&format!("push {} acme:sms@0.1.0 --key ~acme.key {at}", sms.display())), Exit::Good);
    assert_eq!(run(&pull), Exit::Good);
    assert_eq!(run(&format!("{pull} --offline")), Exit::Good);

    // The command runs it: what is not first-party is compiled by a process of its own.
    let described = |plugins: &Path| {
        let mut command = std::process::Command::new(crate::binary());
        command.args(["--json", "--plugins"]).arg(plugins).arg("--cache").arg(root().join("target/cache"));
        let output = command.args(["plugin", "describe", "sms"]).output().expect("the command runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON")
    };
    let (pulled, built) = (described(Path::new(&desk.path("plugins"))), described(&root().join("target/plugins")));
    let reads = |plugin: &serde_json::Value| plugin["plugin"]["grant"]["read"].as_array().map_or(0, Vec::len);
    assert_eq!(pulled["plugin"]["digest"], built["plugin"]["digest"]);
    assert!(0 < reads(&pulled) && reads(&pulled) < reads(&built), "{pulled} {built}");

    assert_eq!(run("list --lock ~plugins/loopwright.lock"), Exit::Good);
    assert_eq!(run(&format!("list acme:sms --trust ~trust.toml {at}")), Exit::Good);
    assert_eq!(run("gc --store ~store"), Exit::Good);
    assert_eq!(run(&format!("{pull} --offline")), Exit::Good, "what is locked was kept");
    assert_eq!(run(&format!("yank acme:sms@0.1.0 --key ~acme.key --reason wrong {at}")), Exit::Good);
    assert_eq!(run(&pull), Exit::Good, "what is installed stays installable");
    assert_eq!(run(&format!("{pull} --into ~elsewhere")), Exit::Differs, "and nowhere else");
}

/// A server that wants a name and a password, from the file that is named.
#[test]
fn credentials_come_from_the_named_file_and_go_to_the_named_server() {
    use loopwright_registry::attack::{Answer, Request, Server};
    let desk = Desk(tempfile::tempdir().expect("a folder"));
    // `alice:open sesame`
    let private = |request: &Request| match request.authorization.as_deref() {
        Some("Basic YWxpY2U6b3BlbiBzZXNhbWU=") => Answer::of(404, ""),
        _ => Answer::of(401, "").with("WWW-Authenticate", "Basic realm=\"r\""),
    };
    let server = Server::start(std::sync::Arc::new(private)).expect("a server");
    let write = |name: &str, host: &str| {
        let text = format!("{{\"auths\":{{\"{host}\":{{\"auth\":\"YWxpY2U6b3BlbiBzZXNhbWU=\"}}}}}}");
        std::fs::write(desk.path(name), text).expect("a file is written");
    };
    write("mine.json", &server.address());
    write("others.json", "127.0.0.1:1");
    let list = |file: &str| {
        let line = format!("list acme:notes --at {} --credentials ~{file}", server.address());
        desk.run(&line).expect_err("there is nothing").to_string()
    };
    assert!(list("mine.json").contains("no version of `acme:notes`"), "{}", list("mine.json"));
    assert!(list("others.json").contains("wants credentials"), "{}", list("others.json"));
    assert!(list("gone.json").contains("there is no such file"), "{}", list("gone.json"));
}
