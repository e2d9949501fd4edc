//! Daemon mode: the process that was called waits until the daemon serves, and passes on why if it does not.

use crate::{DaemonOptions, ExitStatus};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{self, ForkResult, User};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;

/// What the daemon writes to its status pipe when it serves; anything else there is the reason why it does not.
const SERVING: &str = "ok";

/// The daemon's end of the pipe to the process that was called.
pub(crate) struct StatusPipe(File);

impl StatusPipe {
    /// Lets the process that was called exit with success.
    pub(crate) fn serving(mut self) {
        // If the caller is gone, nobody waits for the news.
        let _ = self.0.write_all(SERVING.as_bytes());
    }

    /// Lets the process that was called print the reason and exit with failure.
    pub(crate) fn failed(mut self, reason: &str) {
        let _ = self.0.write_all(reason.as_bytes());
    }
}

/// Which of the processes this is.
pub(crate) enum Fork {
    /// The one that was called: the daemon's start is over.
    Caller(ExitStatus),
    /// The daemon.
    Daemon(StatusPipe),
}

/// Makes a daemon: a grandchild without terminal, in a session of its own, at the root directory.
///
/// Must be called while the process has a single thread.
///
/// # Errors
/// If there are no more processes or pipes to be had.
pub(crate) fn fork() -> io::Result<Fork> {
    let (reader, writer) = unistd::pipe()?;
    if !fork_once()? {
        drop(writer);
        return Ok(Fork::Caller(wait_for_daemon(reader)));
    }
    drop(reader);
    unistd::setsid()?;
    if !fork_once()? {
        // The child in between: with it gone, the daemon cannot acquire a terminal. Nothing may run at its exit.
        immediate_exit();
    }
    let pipe = StatusPipe(File::from(writer));
    match leave_terminal() {
        Ok(()) => Ok(Fork::Daemon(pipe)),
        Err(error) => {
            pipe.failed(&format!("System: cannot detach from the terminal: {error}\n"));
            immediate_exit();
        }
    }
}

/// True in the child.
#[allow(unsafe_code, reason = "fork is unsafe in a process with several threads; this one has one")]
fn fork_once() -> io::Result<bool> {
    // SAFETY: the caller of `run` promises a single thread, so no lock can be held by a thread that the child lacks.
    match unsafe { unistd::fork() }? {
        ForkResult::Child => Ok(true),
        ForkResult::Parent { .. } => Ok(false),
    }
}

#[allow(unsafe_code, reason = "_exit has no safe form in the standard library")]
fn immediate_exit() -> ! {
    // SAFETY: _exit ends the process without running anything.
    unsafe { libc::_exit(1) }
}

fn wait_for_daemon(reader: OwnedFd) -> ExitStatus {
    let mut news = Vec::new();
    // A pipe that breaks has told all it will.
    let _ = File::from(reader).read_to_end(&mut news);
    if news == SERVING.as_bytes() {
        return ExitStatus::Clean;
    }
    let reason = if news.is_empty() { b"the daemon ended before it served\n".as_slice() } else { &news };
    let _ = io::stderr().write_all(reason);
    ExitStatus::Failed
}

fn leave_terminal() -> io::Result<()> {
    let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    unistd::dup2_stdin(&null)?;
    unistd::dup2_stdout(&null)?;
    unistd::dup2_stderr(&null)?;
    // The old router clears the mask, which lets everybody write its logs.
    umask(Mode::S_IWGRP | Mode::S_IWOTH);
    unistd::chdir("/")?;
    Ok(())
}

/// Writes the pid file and becomes another user, as far as the options say.
///
/// # Errors
/// A sentence that says what cannot be done.
pub(crate) fn settle(options: &DaemonOptions) -> Result<(), String> {
    if let Some(path) = &options.pid_file {
        fs::write(path, format!("{}\n", std::process::id()))
            .map_err(|error| format!("System: cannot write the pid file '{}': {error}", path.display()))?;
    }
    if let Some(name) = &options.user {
        become_user(name)?;
    }
    Ok(())
}

/// Takes on a user's identity: supplementary groups, group, and user, in the order in which the rights to do so last.
fn become_user(name: &str) -> Result<(), String> {
    let user = User::from_name(name)
        .map_err(|error| format!("System: cannot look up user '{name}': {error}"))?
        .ok_or_else(|| format!("System: there is no user '{name}'"))?;
    let c_name = std::ffi::CString::new(name).map_err(|_| format!("System: there is no user '{name}'"))?;
    let switched = unistd::initgroups(&c_name, user.gid)
        .and_then(|()| unistd::setgid(user.gid))
        .and_then(|()| unistd::setuid(user.uid));
    switched.map_err(|error| format!("System: cannot become user '{name}': {error}"))
}
