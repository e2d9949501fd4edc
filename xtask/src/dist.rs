//! Man pages and shell completions, as packages ship them.

use crate::{interop, shell};
use anyhow::{Context, Result};

pub(crate) fn run() -> Result<()> {
    let program = interop::build()?.join("waystation");
    let folder = shell::target_folder().join("dist");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    shell::run(shell::command(program).args(["generate", "--output"]).arg(&folder))
}
