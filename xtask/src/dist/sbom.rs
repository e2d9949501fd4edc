//! What the programs are made of: a software bill of materials in the form of CycloneDX 1.5, from the lock files.

use super::{Release, read};
use crate::shell;
use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const PROGRAMS: &str = "waystation";

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    /// Null for what the programs themselves need, else `dev` or `build`.
    kind: Option<String>,
}

/// The version of the programs.
pub(super) fn version() -> Result<String> {
    let metadata = metadata()?;
    let programs = metadata.packages.into_iter().find(|package| package.name == PROGRAMS && package.source.is_none());
    Ok(programs.with_context(|| format!("cargo knows no package {PROGRAMS}"))?.version)
}

pub(super) fn text(release: &Release) -> Result<String> {
    let metadata = metadata()?;
    let packages: BTreeMap<&str, &Package> =
        metadata.packages.iter().map(|package| (package.id.as_str(), package)).collect();
    let needs: BTreeMap<&str, Vec<&str>> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), needed(node))).collect();
    let top = metadata.packages.iter().find(|package| package.name == PROGRAMS && package.source.is_none());
    let top = top.with_context(|| format!("cargo knows no package {PROGRAMS}"))?;
    let inside = reached(&top.id, &needs);
    let reference = |id: &str| packages.get(id).map(|package| url(package)).unwrap_or_default();
    let mut components: Vec<Value> = inside
        .iter()
        .filter(|id| **id != top.id)
        .filter_map(|id| packages.get(id))
        .map(|package| {
            json!({"type": "library", "bom-ref": url(package), "name": package.name, "version": package.version,
                "purl": url(package), "licenses": licences(package.license.as_deref())})
        })
        .collect();
    components.extend(console()?);
    components.sort_by_key(|component| component["purl"].to_string());
    let mut dependencies: Vec<Value> = inside
        .iter()
        .map(|id| {
            let on: BTreeSet<String> = needs.get(id).into_iter().flatten().map(|id| reference(id)).collect();
            json!({"ref": reference(id), "dependsOn": on})
        })
        .collect();
    dependencies.sort_by_key(|dependency| dependency["ref"].to_string());
    let bom = json!({"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"timestamp": release.written("+%Y-%m-%dT%H:%M:%SZ")?, "component": {"type": "application",
            "bom-ref": url(top), "name": top.name, "version": top.version, "purl": url(top),
            "licenses": licences(top.license.as_deref())}},
        "components": components, "dependencies": dependencies});
    Ok(serde_json::to_string_pretty(&bom)? + "\n")
}

fn metadata() -> Result<Metadata> {
    let machine = shell::output(shell::command("rustc").args(["--print", "host-tuple"]))?;
    let mut cargo = shell::cargo();
    cargo.args(["metadata", "--format-version=1", "--locked", "--filter-platform", machine.trim()]);
    serde_json::from_str(&shell::output(&mut cargo)?).context("cargo metadata printed something unknown")
}

/// What ends up in the programs, or makes code that does.
fn needed(node: &Node) -> Vec<&str> {
    let of_programs = |dependency: &&Dependency| dependency.dep_kinds.iter().any(|kind| kind.kind.is_none());
    node.deps.iter().filter(of_programs).map(|dependency| dependency.pkg.as_str()).collect()
}

fn reached<'a>(from: &'a str, needs: &BTreeMap<&'a str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::from([from]);
    let mut next = vec![from];
    while let Some(id) = next.pop() {
        for needed in needs.get(id).into_iter().flatten() {
            if reached.insert(needed) {
                next.push(needed);
            }
        }
    }
    reached
}

fn url(package: &Package) -> String {
    // Of the repository's own crates no registry knows anything.
    let kind = if package.source.is_some() { "cargo" } else { "generic" };
    format!("pkg:{kind}/{}@{}", package.name, package.version)
}

/// Older crates write `/` where SPDX says `OR`.
fn licences(expression: Option<&str>) -> Value {
    match expression {
        Some(expression) => json!([{"expression": expression.replace(" / ", " OR ").replace('/', " OR ")}]),
        None => json!([]),
    }
}

#[derive(Deserialize)]
struct Lock {
    packages: BTreeMap<String, Locked>,
}

#[derive(Deserialize)]
struct Locked {
    version: Option<String>,
    license: Option<String>,
    #[serde(default)]
    dev: bool,
}

/// What the web console is made of.
fn console() -> Result<Vec<Value>> {
    let lock: Lock = serde_json::from_slice(&read(&shell::root().join("console/package-lock.json"))?)
        .context("console/package-lock.json is not as npm writes it")?;
    let inside = lock.packages.into_iter().filter(|(_, package)| !package.dev);
    Ok(inside
        .filter_map(|(path, package)| {
            let name = path.rsplit_once("node_modules/")?.1.to_owned();
            let url = format!("pkg:npm/{}@{}", name.replace('@', "%40"), package.version.clone()?);
            Some(json!({"type": "library", "bom-ref": url, "name": name, "version": package.version, "purl": url,
                "licenses": licences(package.license.as_deref())}))
        })
        .collect())
}
