//! Writes a bundle: a single file with this program and a manifest, for installation with a click
//! in desktop clients (MCPB, manifest 0.3).

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use anyhow::{Context, Result};
use data_encoding::HEXLOWER;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use signpost_atm::mcp;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::FICTIONAL_WITHOUT_DATA;
use super::folders::OperatingSystem;
use super::members::ENTRY_NAME;

/// The version of the manifest.
const MANIFEST_VERSION: &str = "0.3";
const ICON: &[u8] = include_bytes!("../../assets/icon.png");

/// A bundle that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bundled {
    /// The path of the file, as given.
    pub file: String,
    /// The size of the file.
    pub bytes: u64,
    /// The SHA-256 of the file in hex, `fileSha256` in registries.
    pub sha256: String,
}

/// Returns the manifest: it describes the bundle and how to start the program.
///
/// The data is in a folder that the client asks for, because the next version replaces the whole bundle.
#[must_use]
pub fn manifest(system: OperatingSystem) -> Value {
    let server = mcp::server(false, None);
    let info = server.info();
    let tools: Vec<_> = server.tools().map(|tool| json!({ "name": tool.name, "description": tool.title })).collect();
    json!({
        "manifest_version": MANIFEST_VERSION,
        "name": ENTRY_NAME,
        "display_name": info.title,
        "version": info.version,
        "description": info.description,
        "author": { "name": "Signpost" },
        "icon": "icon.png",
        "server": {
            "type": "binary",
            "entry_point": program(system),
            "mcp_config": {
                "command": format!("${{__dirname}}/{}", program(system)),
                "args": ["mcp", "--data-dir", "${user_config.data_dir}", FICTIONAL_WITHOUT_DATA],
                "env": {},
            },
        },
        "tools": tools,
        "prompts_generated": true,
        "license": "MIT OR Apache-2.0",
        "compatibility": { "platforms": [platform(system)] },
        "user_config": {
            "data_dir": {
                "type": "directory",
                "title": "Data folder",
                "description": "The folder with the data, which 'signpost serve' or 'signpost atms import' created. \
                                Without data, the ATMs are fictional",
                "required": true,
                "default": "${HOME}/signpost-data",
            },
        },
    })
}

/// Writes a bundle of a program into a new file. After an error there is no file.
///
/// # Errors
/// Returns an error if the program cannot be read, or the file exists or cannot be written.
pub fn write_bundle(file: &Path, program: &Path, system: OperatingSystem) -> Result<Bundled> {
    let shown = file.display().to_string();
    let new = OpenOptions::new().read(true).write(true).create_new(true).open(file);
    let mut out = new.with_context(|| format!("cannot create {shown}"))?;
    let written = fill(&mut out, program, system).with_context(|| format!("cannot write {shown}"));
    if written.is_err() {
        // The first error is reported instead of an error of this removal.
        let _ = std::fs::remove_file(file);
    }
    let (bytes, sha256) = written?;
    Ok(Bundled { file: shown, bytes, sha256 })
}

fn fill(out: &mut File, from: &Path, system: OperatingSystem) -> Result<(u64, String)> {
    // The files have no modification time, so that equal programs have equal hashes.
    let plain = SimpleFileOptions::default().large_file(false);
    let mut zip = ZipWriter::new(&mut *out);
    zip.start_file("manifest.json", plain.unix_permissions(0o644))?;
    zip.write_all(serde_json::to_string_pretty(&manifest(system))?.as_bytes())?;
    zip.start_file("icon.png", plain.unix_permissions(0o644))?;
    zip.write_all(ICON)?;
    zip.start_file(program(system), plain.unix_permissions(0o755))?;
    io::copy(&mut File::open(from)?, &mut zip)?;
    zip.finish()?;
    out.sync_all()?;
    hash(out)
}

fn hash(file: &mut File) -> Result<(u64, String)> {
    file.rewind()?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok((bytes, HEXLOWER.encode(&hash.finalize()))),
            count => {
                hash.update(&buffer[..count]);
                bytes += count as u64;
            }
        }
    }
}

/// Returns the program's path in the bundle.
fn program(system: OperatingSystem) -> &'static str {
    if system == OperatingSystem::Windows { "server/signpost.exe" } else { "server/signpost" }
}

/// Returns the manifest's name of a system.
fn platform(system: OperatingSystem) -> &'static str {
    match system {
        OperatingSystem::Linux => "linux",
        OperatingSystem::MacOs => "darwin",
        OperatingSystem::Windows => "win32",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_starts_the_program_per_system() {
        for (system, platform, command) in [
            (OperatingSystem::Linux, "linux", "${__dirname}/server/signpost"),
            (OperatingSystem::MacOs, "darwin", "${__dirname}/server/signpost"),
            (OperatingSystem::Windows, "win32", "${__dirname}/server/signpost.exe"),
        ] {
            let manifest = manifest(system);
            assert_eq!(manifest["compatibility"]["platforms"], json!([platform]));
            assert_eq!(manifest["server"]["mcp_config"]["command"], command);
            assert!(command.ends_with(manifest["server"]["entry_point"].as_str().unwrap()));
            assert_eq!(manifest["tools"].as_array().unwrap().len(), 4);
        }
    }

    #[test]
    fn bundle_is_reproducible_and_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("program"), b"#!/bin/sh\n").unwrap();
        let write = |name: &str| write_bundle(&path(name), &path("program"), OperatingSystem::Linux);
        let (one, other) = (write("a.mcpb").unwrap(), write("b.mcpb").unwrap());
        assert_eq!((one.bytes, &one.sha256), (other.bytes, &other.sha256));
        assert_eq!(one.bytes, std::fs::metadata(path("a.mcpb")).unwrap().len());
        assert!(format!("{:#}", write("a.mcpb").unwrap_err()).contains("exists"));
        let missing = write_bundle(&path("c.mcpb"), &path("no program"), OperatingSystem::Linux);
        assert!(missing.is_err() && !path("c.mcpb").exists());
    }

    #[test]
    fn bundled_program_is_executable() {
        let folder = tempfile::tempdir().unwrap();
        let (file, program) = (folder.path().join("a.mcpb"), folder.path().join("program"));
        std::fs::write(&program, b"#!/bin/sh\n").unwrap();
        write_bundle(&file, &program, OperatingSystem::Linux).unwrap();
        let mut zip = zip::ZipArchive::new(File::open(file).unwrap()).unwrap();
        let mode = |zip: &mut zip::ZipArchive<File>, name: &str| zip.by_name(name).unwrap().unix_mode();
        assert_eq!(mode(&mut zip, "server/signpost").map(|mode| mode & 0o777), Some(0o755));
        assert_eq!(mode(&mut zip, "manifest.json").map(|mode| mode & 0o777), Some(0o644));
    }
}
