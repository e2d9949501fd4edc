//! Shell completions and man pages, made from the same descriptions as the help texts.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{Arguments, Failure};

/// Print a script that completes waystation's command lines in a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  waystation completions bash > /etc/bash_completion.d/waystation
  waystation completions zsh > /usr/share/zsh/site-functions/_waystation
  waystation completions fish > ~/.config/fish/completions/waystation.fish")]
pub(super) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Write man pages and completions, as packages ship them, to a folder
#[derive(Debug, Args)]
pub(super) struct GenerateArguments {
    /// The folder; it has to be there
    #[arg(long, value_name = "FOLDER")]
    output: PathBuf,
}

pub(super) fn completions(arguments: &CompletionsArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "waystation", &mut script);
    Ok(out.write_all(&script)?)
}

pub(super) fn generate(arguments: &GenerateArguments) -> Result<(), Failure> {
    let folder = &arguments.output;
    let told = |error: io::Error| Failure::Told(format!("cannot write to '{}': {error}", folder.display()));
    clap_mangen::generate_to(Arguments::command(), folder).map_err(told)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut Arguments::command(), "waystation", folder).map_err(told)?;
    }
    old_man_pages(folder).map_err(told)
}

/// Man pages of the programs with the old command lines, made of their help texts.
fn old_man_pages(folder: &Path) -> io::Result<()> {
    let programs: [(&str, &str, crate::old_tools::Program); 2] = [
        ("qdstat", "show what a router is doing", crate::qdstat::run),
        ("qdmanage", "show and change the entities of a router", crate::qdmanage::run),
    ];
    for (name, purpose, program) in programs {
        let mut help = Vec::new();
        program(&["--help".to_owned()], &mut help, &mut io::sink());
        std::fs::write(folder.join(format!("{name}.1")), man_page(name, 1, purpose, &String::from_utf8_lossy(&help)))?;
    }
    let mut help = Vec::new();
    crate::qdrouterd::run("qdrouterd", &["--help".to_owned()], &mut help, &mut io::sink());
    let page = man_page("qdrouterd", 8, "run a message router", &String::from_utf8_lossy(&help));
    std::fs::write(folder.join("qdrouterd.8"), page)
}

fn man_page(name: &str, section: u8, purpose: &str, help: &str) -> String {
    // A line that begins with a dot or an apostrophe would be a request to the formatter.
    let escape = |line: &str| {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        if line.starts_with(['.', '\'']) { format!("\\&{line}\n") } else { line + "\n" }
    };
    let text: String = help.lines().map(escape).collect();
    let title = name.to_uppercase();
    format!(
        ".TH {title} {section}\n.SH NAME\n{name} \\- {purpose}\n.SH DESCRIPTION\n.nf\n{text}.fi\n.SH SEE ALSO\nwaystation(1)\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_of_the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_completion_script_knows_the_commands() {
        let mut out = Vec::new();
        completions(&CompletionsArguments { shell: Shell::Bash }, &mut out).expect("memory takes everything");
        let script = String::from_utf8(out).expect("text");
        assert!(["send", "receive", "check", "bench"].iter().all(|command| script.contains(command)));
    }

    #[test]
    fn a_man_page_shows_dashes_and_dots_as_they_are() {
        let page = man_page("x", 1, "do", "-a\n.b\\c");
        assert!(page.contains("\n\\-a\n\\&.b\\ec\n.fi\n"), "{page}");
    }
}
