//! The layers: which crate may know which. Arrows between crates point downwards only, and the sans-IO crates depend on
//! nothing that could reach a socket, a clock, a thread or randomness.

use crate::shell;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The crates from the bottom up. Each may depend on crates before it, never on one after it.
const LAYERS: &[&str] = &[
    "amqp",
    "amqp-endpoint",
    "selector",
    "queue-core",
    "router-core",
    "router-net",
    "logging",
    "cyrus",
    "queue-log",
    "management",
    "config",
    "security",
    "server",
    "waystation",
    "perf",
    "sim",
];

/// Same input, same output: these crates see neither sockets nor clocks nor threads nor randomness.
const SANS_IO: &[&str] = &["amqp", "amqp-endpoint", "selector", "queue-core", "router-core", "router-net"];

/// All that the sans-IO crates may build on, directly or not, beside each other. Each of these only moves data around
/// in memory, or runs in the compiler.
const HARMLESS: &[&str] = &[
    "proc-macro2",
    "quote",
    "slab",
    "slotmap",
    "smallvec",
    "syn",
    "thiserror",
    "thiserror-impl",
    "unicode-ident",
    "version_check",
];

/// Members of the workspace that are no part of the product.
const BESIDE: &[&str] = &["xtask"];

pub(crate) fn run() -> Result<()> {
    let metadata = shell::output(shell::cargo().args(["metadata", "--format-version", "1", "--locked"]))?;
    let metadata: Metadata = serde_json::from_str(&metadata).context("`cargo metadata` printed unexpected JSON")?;
    let workspace = Workspace::from(metadata);
    let mut found = workspace.violations();
    for (name, member) in workspace.members.iter().filter(|(name, _)| SANS_IO.contains(&name.as_str())) {
        found.extend(source_violations(name, &member.folder)?);
    }
    if !found.is_empty() {
        bail!("the layers are broken:\n  {}", found.join("\n  "));
    }
    println!("{} crates keep to their layers", workspace.members.len());
    Ok(())
}

/// The workspace as the rules see it.
struct Workspace {
    members: BTreeMap<String, Member>,
    /// Package name to the names of the packages built into it. Packages of one name count as one.
    built_in: BTreeMap<String, BTreeSet<String>>,
}

struct Member {
    folder: PathBuf,
    /// Other members it names, for whatever purpose (tests included).
    names: BTreeSet<String>,
}

impl Workspace {
    fn violations(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (name, member) in &self.members {
            if BESIDE.contains(&name.as_str()) {
                continue;
            }
            let Some(layer) = layer(name) else {
                found.push(format!("{name} has no layer: put it into LAYERS in xtask/src/arch.rs"));
                continue;
            };
            for above in member.names.iter().filter(|other| layer_of(other) >= layer) {
                found.push(format!("{name} depends on {above}, which is not below it"));
            }
            if SANS_IO.contains(&name.as_str()) {
                found.extend(self.impure(name));
            }
        }
        found
    }

    /// What a sans-IO crate depends on and must not.
    fn impure(&self, name: &str) -> Vec<String> {
        let allowed = |package: &str| HARMLESS.contains(&package) || SANS_IO.contains(&package);
        let mut seen = BTreeSet::from([name]);
        let mut open = vec![name];
        let mut found = Vec::new();
        while let Some(parent) = open.pop() {
            for child in self.built_in.get(parent).into_iter().flatten() {
                if !seen.insert(child) {
                    continue;
                }
                if allowed(child) {
                    open.push(child);
                } else {
                    found.push(format!(
                        "{name} is sans-IO but builds on {child} (through {parent}): leave it out, or show in HARMLESS \
                         in xtask/src/arch.rs that it touches no I/O, clock, thread or randomness"
                    ));
                }
            }
        }
        found
    }
}

/// What a sans-IO crate's own files must say.
fn source_violations(name: &str, folder: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let lints = folder.join("clippy.toml");
    let ours = std::fs::canonicalize(&lints).with_context(|| format!("{name} has no {}", lints.display()))?;
    if ours != std::fs::canonicalize(shell::root().join("clippy-sans-io.toml"))? {
        found.push(format!("{} must be a link to clippy-sans-io.toml", lints.display()));
    }
    let library = folder.join("src/lib.rs");
    let text = std::fs::read_to_string(&library).with_context(|| format!("cannot read {}", library.display()))?;
    if !text.contains("#![forbid(unsafe_code)]") {
        found.push(format!("{} must say #![forbid(unsafe_code)]", library.display()));
    }
    Ok(found)
}

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| *layer == name)
}

/// Members without a layer are above all.
fn layer_of(name: &str) -> usize {
    layer(name).unwrap_or(usize::MAX)
}

// === what `cargo metadata` tells, as far as it is needed here

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_members: BTreeSet<String>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Declared>,
}

#[derive(Deserialize)]
struct Declared {
    name: String,
    path: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    /// None: an ordinary dependency.
    kind: Option<String>,
}

impl From<Metadata> for Workspace {
    fn from(metadata: Metadata) -> Self {
        let names: BTreeMap<&str, &str> =
            metadata.packages.iter().map(|package| (package.id.as_str(), package.name.as_str())).collect();
        let name = |id: &str| names.get(id).copied().unwrap_or(id).to_owned();
        let mut built_in: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for node in &metadata.resolve.nodes {
            let real =
                node.deps.iter().filter(|edge| edge.dep_kinds.iter().any(|kind| kind.kind.as_deref() != Some("dev")));
            built_in.entry(name(&node.id)).or_default().extend(real.map(|edge| name(&edge.pkg)));
        }
        let members = metadata.packages.iter().filter(|package| metadata.workspace_members.contains(&package.id));
        let members = members.map(|package| {
            let folder = package.manifest_path.parent().unwrap_or(Path::new("")).to_owned();
            let inside = package.dependencies.iter().filter(|declared| declared.path.is_some());
            let names = inside.map(|declared| declared.name.clone()).filter(|other| *other != package.name).collect();
            (package.name.clone(), Member { folder, names })
        });
        Workspace { members: members.collect(), built_in }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(members: &[(&str, &[&str])], built_in: &[(&str, &[&str])]) -> Workspace {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        Workspace {
            members: members
                .iter()
                .map(|(name, names)| ((*name).to_owned(), Member { folder: PathBuf::new(), names: set(names) }))
                .collect(),
            built_in: built_in.iter().map(|(name, names)| ((*name).to_owned(), set(names))).collect(),
        }
    }

    #[test]
    fn a_crate_may_depend_on_those_below_it() {
        let workspace = workspace(&[("amqp", &[]), ("server", &["amqp"])], &[("server", &["amqp", "mio"])]);
        assert_eq!(workspace.violations(), [""; 0]);
    }

    #[test]
    fn a_crate_may_not_depend_on_one_above_it() {
        let workspace = workspace(&[("amqp", &[]), ("management", &["server"]), ("server", &[])], &[]);
        assert_eq!(workspace.violations(), ["management depends on server, which is not below it"]);
    }

    #[test]
    fn a_sans_io_crate_may_not_reach_io_even_through_another() {
        let workspace = workspace(&[("amqp", &[])], &[("amqp", &["slab"]), ("slab", &["mio"])]);
        let found = workspace.violations();
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("amqp is sans-IO but builds on mio (through slab)"), "{found:?}");
    }

    #[test]
    fn a_new_crate_must_be_given_a_layer() {
        let workspace = workspace(&[("gadget", &[])], &[]);
        assert!(workspace.violations()[0].starts_with("gadget has no layer"));
    }
}
