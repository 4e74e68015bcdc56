//! The command `signpost mcp bundle`: writes a bundle for desktop clients.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::this_program;
use crate::cli::advisories::AdvisoriesFlag;
use crate::cli::{Common, Usage, print};
use crate::install::OperatingSystem;
use crate::install::bundle::write_bundle;

#[derive(Debug, Args)]
pub(super) struct Bundle {
    /// New file, with the extension .mcpb
    file: PathBuf,
}

impl Bundle {
    pub(super) fn run(self, common: &Common, flag: &AdvisoriesFlag) -> Result<()> {
        if self.file.extension().is_none_or(|extension| extension != "mcpb") {
            let shown = self.file.display();
            return Err(Usage(format!("clients open bundles by their name: let {shown} end in .mcpb")).into());
        }
        if flag.file().is_some() {
            return Err(Usage("a bundle has the built-in advisories: leave --advisories out".to_owned()).into());
        }
        let bundled = write_bundle(&self.file, &this_program()?, OperatingSystem::current())?;
        print(common.json, &bundled, || {
            format!("wrote {} bytes to {}\nSHA-256 {}", bundled.bytes, bundled.file, bundled.sha256)
        })
    }
}
