//! Does what a page says.

use super::page::{Act, Block, Page};
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Far more than anything takes; only what would hang for ever ends by it.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks at something.
const PAUSE: Duration = Duration::from_millis(50);
/// What a part of a configuration lacks to be one.
const ROUTER: &str = "router {\n    mode: interior\n    id: Book\n}\n";

/// Runs a page; how many blocks there were.
pub(super) fn play(page: &Page, programs: &Path) -> Result<usize> {
    if page.blocks.is_empty() {
        return Ok(0);
    }
    let folder = std::env::temp_dir().join(format!("waystation-book-{}-{}", std::process::id(), page.name));
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut stage = Stage { folder, programs, outputs: Vec::new(), running: Vec::new(), last: 0 };
    println!("docs/{}: {} blocks", page.name, page.blocks.len());
    for block in &page.blocks {
        let done = stage.act(block);
        done.with_context(|| format!("docs/{}:{}: {}", page.name, block.line, block.text.trim_end()))?;
    }
    Ok(page.blocks.len())
}

struct Stage<'p> {
    folder: PathBuf,
    programs: &'p Path,
    /// Files with what was shown so far.
    outputs: Vec<PathBuf>,
    running: Vec<Child>,
    /// Those of them that were started last begin here.
    last: usize,
}

impl Stage<'_> {
    fn act(&mut self, block: &Block) -> Result<()> {
        match &block.act {
            Act::Run { fails } => self.run(&block.text, *fails),
            Act::Background { port } => {
                self.last = self.running.len();
                for line in block.text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
                    let child = self.start(line)?;
                    self.running.push(child);
                }
                port.map_or(Ok(()), |port| self.wait_for_port(port))
            }
            Act::Stop => {
                self.running.drain(self.last..).for_each(|mut child| end(&mut child));
                Ok(())
            }
            Act::Shown => self.wait_for(&block.text),
            Act::File(name) => self.write(name, &block.text).map(drop),
            Act::Configuration(name) => {
                let whole = if block.text.contains("router {") { "" } else { ROUTER };
                let path = self.write("checked.conf", &format!("{whole}{}", block.text))?;
                self.run(&format!("waystation check {}", path.display()), false)?;
                name.as_ref().map_or(Ok(()), |name| self.write(name, &block.text).map(drop))
            }
        }
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    /// Starts commands, in a process group of their own.
    fn start(&mut self, text: &str) -> Result<Child> {
        let output = self.folder.join(format!("output-{}", self.outputs.len()));
        let file = File::create(&output).with_context(|| format!("cannot write {}", output.display()))?;
        self.outputs.push(output);
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("bash");
        shell.args(["-e", "-o", "pipefail", "-c", text]).current_dir(&self.folder).process_group(0);
        shell.env("PATH", format!("{}:{path}", self.programs.display()));
        // What the built-in configuration keeps on disk goes with the page.
        shell.env("XDG_STATE_HOME", &self.folder).env_remove("STATE_DIRECTORY");
        // Programs find their way by these; a page says all that they need.
        shell.env_remove("CARGO_TARGET_DIR").stdin(Stdio::null());
        shell.stdout(file.try_clone().context("no descriptor is left")?).stderr(file);
        shell.spawn().context("cannot start bash")
    }

    /// Runs commands to their end.
    fn run(&mut self, text: &str, fails: bool) -> Result<()> {
        let mut child = self.start(text)?;
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().context("cannot wait for bash")? {
                break status;
            }
            if begun.elapsed() > PATIENCE {
                end(&mut child);
                bail!("it does not end; it showed:\n{}", self.shown());
            }
            std::thread::sleep(PAUSE);
        };
        // What it left running in the background ends with the page.
        self.running.push(child);
        if status.success() == fails {
            bail!("{status}; it showed:\n{}", self.last_shown());
        }
        Ok(())
    }

    fn wait_for_port(&self, port: u16) -> Result<()> {
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if begun.elapsed() > PATIENCE {
                bail!("nobody listens on port {port}; what was shown:\n{}", self.shown());
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Waits until these lines have been shown by one of the commands, in this order.
    fn wait_for(&self, wanted: &str) -> Result<()> {
        let begun = Instant::now();
        while !self.outputs.iter().any(|output| has(&read(output), wanted)) {
            if begun.elapsed() > PATIENCE {
                bail!("this was not shown; what was:\n{}", self.shown());
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    fn shown(&self) -> String {
        self.outputs.iter().map(|output| read(output)).collect::<Vec<_>>().join("---\n")
    }

    fn last_shown(&self) -> String {
        self.outputs.last().map(|output| read(output)).unwrap_or_default()
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        self.running.iter_mut().for_each(end);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Ends a process and those that it has started.
fn end(child: &mut Child) {
    let group = format!("-{}", child.id());
    let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    let _ = child.wait();
}

fn read(path: &Path) -> String {
    std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// Whether a text has these lines in this order; `…` stands for anything.
fn has(text: &str, wanted: &str) -> bool {
    let mut lines = text.lines();
    wanted.lines().all(|wanted| lines.any(|line| is_like(line, wanted)))
}

fn is_like(line: &str, wanted: &str) -> bool {
    let squeezed = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = wanted.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = squeezed.as_str();
    let mut parts = wanted.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(after) = rest.strip_prefix(first) else { return false };
    rest = after;
    let mut open = false;
    for part in parts {
        open = part.is_empty();
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    open || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_looked_for_in_their_order() {
        assert!(has("a\nb  c\nd\n", "a\nb c\n"));
        assert!(!has("b\na\n", "a\nb\n"));
    }

    #[test]
    fn an_ellipsis_stands_for_anything() {
        assert!(is_like("port 5672 is open", "port … is …"));
        assert!(is_like("ab", "a…b"));
        assert!(!is_like("port 5672 is shut", "port … is open"));
        assert!(!is_like("it is open now", "it is open"));
    }
}
