//! `waystation check`.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use config::Config;

use super::Failure;

/// Say what is wrong with configuration files, without running anything
///
/// All mistakes of a file are told in one go, each with its place, what was expected there and what to write instead.
/// The exit status is 0 if a router can run with every one of the files, else 1.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  waystation check /etc/qpid-dispatch/qdrouterd.conf
  waystation check --diff /etc/qpid-dispatch/qdrouterd.conf new.conf")]
pub(super) struct CheckArguments {
    /// Configuration files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Say what would change if the one file took the place of this one: `+` for what is new, `-` for what goes, `~` for
    /// what changes, as a running router would do it when it reads its file again
    #[arg(long, value_name = "OLD")]
    diff: Option<PathBuf>,

    /// Say nothing about files that are right
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(arguments: &CheckArguments, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(old) = &arguments.diff {
        return diff(old, &arguments.files, out);
    }
    let mut wrong = 0;
    for path in &arguments.files {
        match Config::load(path) {
            Ok(config) => {
                for warning in &config.warnings {
                    writeln!(out, "{warning}")?;
                }
                if !arguments.quiet {
                    writeln!(out, "{}: nothing is wrong", path.display())?;
                }
            }
            Err(errors) => {
                write!(out, "{errors}")?;
                for warning in &errors.warnings {
                    writeln!(out, "{warning}")?;
                }
                wrong += 1;
            }
        }
    }
    match (wrong, arguments.files.len()) {
        (0, _) => Ok(()),
        (_, 1) => Err(Failure::Told("a router cannot run with this configuration".to_owned())),
        (wrong, all) => Err(Failure::Told(format!("a router cannot run with {wrong} of these {all} configurations"))),
    }
}

/// Says what would change.
fn diff(old: &Path, new: &[PathBuf], out: &mut dyn Write) -> Result<(), Failure> {
    let [new] = new else {
        return Err(Failure::Told("--diff compares one file with another: name one file beside it".to_owned()));
    };
    let mut load = |path: &Path| {
        Config::load(path).or_else(|errors| {
            write!(out, "{errors}")?;
            Err(Failure::Told(format!("a router cannot run with {}", path.display())))
        })
    };
    let (old, new) = (load(old)?, load(new)?);
    let changes = old.changes(&new);
    if changes.is_empty() {
        writeln!(out, "nothing would change")?;
    }
    for change in changes {
        writeln!(out, "{change}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn with(name: &str, text: &str) -> Self {
            let path = std::env::temp_dir().join(format!("waystation-check-{}-{name}.conf", std::process::id()));
            std::fs::write(&path, text).expect("the temporary folder takes files");
            Self(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn check(file: &Scratch) -> (Result<(), Failure>, String) {
        let mut out = Vec::new();
        let result = run(&CheckArguments { files: vec![file.0.clone()], diff: None, quiet: false }, &mut out);
        (result, String::from_utf8(out).expect("text"))
    }

    #[test]
    fn a_good_file_is_called_good() {
        let file = Scratch::with("good", "router {\n mode: standalone\n}\nlistener {\n port: 5672\n}\n");
        let (result, text) = check(&file);
        assert!(result.is_ok());
        assert!(text.ends_with(": nothing is wrong\n"), "{text}");
    }

    #[test]
    fn every_mistake_is_told_with_its_place() {
        let file = Scratch::with("bad", "router {\n nosuch: 1\n}\nlistener {\n role: queer\n}\n");
        let (result, text) = check(&file);
        assert!(result.is_err());
        let place = |line: u32| format!("{}:{line}:", file.0.display());
        assert!(text.contains(&place(2)) && text.contains(&place(5)), "{text}");
    }

    #[test]
    fn what_would_change_is_told() {
        let old = Scratch::with("old", "router {\n id: a\n}\nlistener {\n name: l\n port: 1\n}\n");
        let new = Scratch::with("new", "router {\n id: a\n}\nlistener {\n name: l\n port: 2\n}\n");
        let mut out = Vec::new();
        let arguments = CheckArguments { files: vec![new.0.clone()], diff: Some(old.0.clone()), quiet: false };
        assert!(run(&arguments, &mut out).is_ok());
        assert_eq!(String::from_utf8(out).expect("text"), "~ listener l\n    port: \"1\" -> \"2\"\n");
    }
}
