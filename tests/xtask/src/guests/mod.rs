//! `cargo xtask guests`: every plugin and test guest as a component, with an index of them.
//!
//! A component is a pure function of the sources and the toolchain: machine paths are mapped away, flags of the
//! person's own environment are left out, and nothing is written that was not built.

mod build;
mod discover;
mod encode;
mod index;
mod scripts;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::file;
use crate::setup::{self, Toolchain, Way};
use crate::tree::Tree;
use build::Built;
use discover::Guest;
use index::{Entry, Record};

/// Which guests, and how to report them.
#[derive(Args, Clone, Default)]
pub(crate) struct Options {
    /// Builds these alone (folder names); the others stay as they are.
    names: Vec<String>,
    /// Prints the index as JSON on standard output when done.
    #[arg(long)]
    json: bool,
    /// Takes this way to the guest toolchain and no other.
    #[arg(long, value_name = "WAY")]
    toolchain: Option<Way>,
}

/// Runs `cargo xtask guests`.
pub(crate) fn command(options: &Options) -> Result<()> {
    let tree = Tree::find()?;
    let toolchain = setup::guest_toolchain(&tree, options.toolchain)?;
    let mut result = make(&tree, &toolchain, &options.names);
    if options.names.is_empty() {
        match setup::guest_scripts_are_ready(&tree) {
            true => result = result.and_then(|()| make_scripts(&tree)),
            false => eprintln!(
                "guests: those in Python and JavaScript are left out; `cargo xtask test` sets up their toolchains"
            ),
        }
    }
    if options.json {
        println!("{}", index::read_text(&tree.plugins())?.trim());
    }
    result
}

/// Builds the named guests, or all of them, and brings `target/plugins` up to date.
pub(crate) fn make(tree: &Tree, toolchain: &Toolchain, names: &[String]) -> Result<()> {
    let all = discover::guests(&tree.metadata)?;
    let wanted = select(&all, names)?;
    eprintln!("guests: compiling {} for {} (release, minutes when cold)", wanted.len(), setup::TARGET);
    let built = build::compile(tree, toolchain, &wanted)?;
    let folder = tree.plugins();
    let _lock = index::lock(&folder)?;
    let mut records = index::read_records(&folder);
    let mut failures = BTreeMap::new();
    for guest in &wanted {
        let name = &guest.name;
        match finish(&folder, guest, built.get(&guest.package), records.get(name)) {
            Ok(record) => {
                records.insert(name.clone(), record);
            }
            Err(error) => {
                records.remove(name);
                failures.insert(name.clone(), format!("{error:#}"));
            }
        }
    }
    let is_script = |name: &str| scripts::GUESTS.iter().any(|script| script.name == name);
    records.retain(|name, _| is_script(name) || all.iter().any(|guest| guest.name == *name));
    index::write(&folder, &records)?;
    report(&failures, wanted.len())
}

/// Builds the guests that are scripts. Their toolchains have to be set up.
pub(crate) fn make_scripts(tree: &Tree) -> Result<()> {
    let folder = tree.plugins();
    let _lock = index::lock(&folder)?;
    let mut records = index::read_records(&folder);
    let mut failures = BTreeMap::new();
    for script in scripts::GUESTS {
        let name = script.name.to_owned();
        match scripts::make(tree, &setup::guest_tools(tree), script, records.get(&name)) {
            Ok((record, built)) => {
                print_line(&record.entry, if built { "built" } else { "unchanged" });
                records.insert(name, record);
            }
            Err(error) => {
                records.remove(&name);
                failures.insert(name, format!("{error:#}"));
            }
        }
    }
    index::write(&folder, &records)?;
    report(&failures, scripts::GUESTS.len())
}

fn select<'a>(all: &'a [Guest], names: &[String]) -> Result<Vec<&'a Guest>> {
    if names.is_empty() {
        return Ok(all.iter().collect());
    }
    names
        .iter()
        .map(|name| {
            all.iter().find(|guest| guest.name == *name).with_context(|| {
                let known: Vec<_> = all.iter().map(|guest| guest.name.as_str()).collect();
                format!("no guest is called `{name}`; there are: {}", known.join(", "))
            })
        })
        .collect()
}

/// Turns one core module into a component, unless the component at hand came from the same module.
fn finish(folder: &Path, guest: &Guest, built: Option<&Built>, known: Option<&Record>) -> Result<Record> {
    let module = match built {
        Some(Built::Module(path)) => fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?,
        Some(Built::Failed(message)) => bail!("does not compile\n{}", message.trim_end()),
        None => bail!("not compiled, because something that it depends on failed"),
    };
    let request = loopwright_kit::read_request(&guest.folder)?;
    let key = encode::key(&module, request.as_deref());
    if let Some(known) = known.filter(|known| known.still(&key, folder, guest)) {
        print_line(&known.entry, "unchanged");
        return Ok(known.clone());
    }
    let component = encode::component(&module, request.as_deref())?;
    let entry = Entry::new(guest, &component);
    file::write(&folder.join(&entry.file), &component)?;
    print_line(&entry, "built");
    Ok(Record { key, entry })
}

fn print_line(entry: &Entry, what: &str) {
    let digest = entry.sha256.get(..12).unwrap_or(&entry.sha256);
    eprintln!("guests: {:<26} {:<12} {:>9}  {digest}  {what}", entry.name, entry.kind, file::size(entry.size));
}

fn report(failures: &BTreeMap<String, String>, count: usize) -> Result<()> {
    if failures.is_empty() {
        eprintln!("guests: {count} components ready");
        return Ok(());
    }
    for (name, message) in failures {
        eprintln!("\nguests: {name}: {message}");
    }
    let names: Vec<_> = failures.keys().map(String::as_str).collect();
    bail!("{} of {count} guests are missing: {}", failures.len(), names.join(", "))
}
