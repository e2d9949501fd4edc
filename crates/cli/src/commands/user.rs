//! `waystation user`.

use std::io::{BufRead, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use security::{UsersError, change_users, load_users};

use super::Failure;

/// Change or list the users in a file of users
///
/// The router's section of the configuration names the file (usersFile). A running router takes changes up at once.
/// The file has no passwords, but what SCRAM and PLAIN need to check them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  waystation user add --file users joe
  waystation user add --file users --password-file - joe < password
  waystation user list --file users
  waystation user remove --file users joe")]
pub(super) struct UserArguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Add a user, or give one another password; it is asked for, unless it is given
    Add {
        #[command(flatten)]
        file: FileArgument,

        /// A file whose first line is the password; -: the standard input
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,

        /// The password; others can see it in the list of processes, so prefer --password-file
        #[arg(long, value_name = "PASSWORD", conflicts_with = "password_file")]
        password: Option<String>,

        /// The user's name
        name: String,
    },
    /// Remove a user
    Remove {
        #[command(flatten)]
        file: FileArgument,

        /// The user's name
        name: String,
    },
    /// List the users' names, and the mechanisms by which each can be authenticated
    List {
        #[command(flatten)]
        file: FileArgument,
    },
}

#[derive(Debug, Args)]
struct FileArgument {
    /// The file of users; `add` makes it if it is not there
    #[arg(short, long, value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn run(arguments: &UserArguments, out: &mut dyn Write, err: &mut dyn Write) -> Result<(), Failure> {
    match &arguments.action {
        Action::Add { file, password_file, password, name } => {
            let password = match (password, password_file) {
                (Some(password), _) => {
                    writeln!(
                        err,
                        "waystation: a password on the command line can be seen by others: see --password-file"
                    )?;
                    password.clone()
                }
                (None, Some(path)) => read_password(path)?,
                (None, None) => ask(name, err)?,
            };
            let new = change_users(&file.file, |users| users.set(name, &password)).map_err(told)?;
            let what = if new { "added" } else { "has another password now" };
            writeln!(out, "{name} {what}")?;
        }
        Action::Remove { file, name } => {
            change_users(&file.file, |users| users.remove(name)).map_err(told)?;
            writeln!(out, "{name} removed")?;
        }
        Action::List { file } => {
            let users = load_users(&file.file).map_err(told)?;
            for name in users.names() {
                writeln!(out, "{name}\t{}", users.mechanisms(name).unwrap_or_default().join(" "))?;
            }
        }
    }
    Ok(())
}

fn told(error: UsersError) -> Failure {
    Failure::Told(error.to_string())
}

/// The first line of a file, or of the standard input.
fn read_password(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).map(drop)
    } else {
        std::fs::read_to_string(path).map(|whole| text = whole)
    };
    read.map_err(|error| Failure::Told(format!("cannot read the password from {}: {error}", path.display())))?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// Asks for the password, twice, without showing it; where nobody can be asked, the standard input has it.
fn ask(name: &str, err: &mut dyn Write) -> Result<String, Failure> {
    if !std::io::stdin().is_terminal() {
        return read_password(Path::new("-"));
    }
    let first = prompt(&format!("Password for {name}: "), err)?;
    let second = prompt("Again: ", err)?;
    if first != second {
        return Err(Failure::Told("the two are not the same".to_owned()));
    }
    Ok(first)
}

fn prompt(question: &str, err: &mut dyn Write) -> Result<String, Failure> {
    use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
    write!(err, "{question}")?;
    err.flush()?;
    let failed = |error: nix::Error| Failure::Told(format!("cannot hide the password: {error}"));
    let stdin = std::io::stdin();
    let before = tcgetattr(&stdin).map_err(failed)?;
    let mut hidden = before.clone();
    hidden.local_flags.remove(LocalFlags::ECHO);
    hidden.local_flags.insert(LocalFlags::ECHONL);
    tcsetattr(&stdin, SetArg::TCSAFLUSH, &hidden).map_err(failed)?;
    let mut line = String::new();
    let read = stdin.lock().read_line(&mut line);
    // Whatever was read, the terminal is as it was.
    tcsetattr(&stdin, SetArg::TCSAFLUSH, &before).map_err(failed)?;
    read.map_err(|error| Failure::Told(format!("cannot read the password: {error}")))?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}
