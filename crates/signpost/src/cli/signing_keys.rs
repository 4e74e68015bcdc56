//! The command `signpost signing-keys`: lists and rotates the keys that sign ID tokens.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use secrecy::{SecretSlice, SecretString};
use serde_json::json;
use signpost_openid::jose::{SigningAlgorithm, read_pem};
use signpost_openid::signing_keys::creation::{Activation, NewSigningKey, create_key};
use signpost_openid::signing_keys::listed::{ListedSigningKey, describe};
use signpost_openid::signing_keys::{KeyState, sql};
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;

use crate::cli::{Session, table};
use crate::deployment::sealed;

/// Maximum size of a key file, in bytes.
const MAX_PEM_BYTES: u64 = 64 << 10;

#[derive(Debug, Subcommand)]
pub(super) enum SigningKeysCommand {
    /// List the keys that sign ID tokens, without private keys
    ///
    /// A key is `next` (published, not signing yet), `signing`, `retiring` (published for 48 hours
    /// after its last token) or `retired` (only accepted in `id_token_hint`, for 90 days). With
    /// --json: `{signing_keys: [{kid, environment, algorithm, state, created_at, active_from,
    /// published_until}]}`.
    List {
        #[command(flatten)]
        environment_args: EnvironmentArgs,
    },
    /// Add the next key that signs ID tokens
    ///
    /// The server rotates its keys automatically every 90 days. A new key is published immediately
    /// and signs after 24 hours, when relying parties have fetched it; the first key signs
    /// immediately. Running servers load it within 5 seconds. Without --sandbox it is a live key.
    /// Run the command with the server's `SIGNPOST_SEAL_KEY`.
    ///
    /// If a private key was disclosed, use --compromised for each affected environment and
    /// algorithm: the old keys are deleted, and their tokens become invalid.
    ///
    /// A processor without the features ADX, AES, AVX, AVX2, BMI1 and PCLMULQDQ (on 64-bit ARM:
    /// NEON, AES, PMULL and SHA-2) cannot generate RSA keys: pass a key with --pem.
    ///
    /// With --json: the key, like in 'signing-keys list'.
    Rotate(Rotate),
}

#[derive(Debug, Args)]
pub(super) struct Rotate {
    /// Sign with the key after 10 seconds; relying parties reject tokens until they have fetched it
    #[arg(long, conflicts_with = "compromised")]
    now: bool,
    /// Sign with the key immediately, and delete all older keys
    #[arg(long)]
    compromised: bool,
    /// Use this private key: a PEM file with PKCS #8, RSA of 2048 to 4096 bits, or P-256 with --alg ES256
    #[arg(long, value_name = "FILE")]
    pem: Option<PathBuf>,
    /// Algorithm
    #[arg(long, value_enum, ignore_case = true, default_value_t = Alg::Rs256)]
    alg: Alg,
    #[command(flatten)]
    environment_args: EnvironmentArgs,
}

/// The flags that select environments.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct EnvironmentArgs {
    /// Keys of the sandbox
    #[arg(long, conflicts_with = "live")]
    sandbox: bool,
    /// Live keys
    #[arg(long)]
    live: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Alg {
    #[value(name = "RS256")]
    Rs256,
    #[value(name = "ES256")]
    Es256,
}

impl SigningKeysCommand {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        match self {
            Self::List { environment_args } => list(session, environment_args).await,
            Self::Rotate(rotate) => rotate.run(session).await,
        }
    }
}

impl EnvironmentArgs {
    /// Returns the selected environment, or both.
    fn environments(self) -> &'static [Environment] {
        match (self.sandbox, self.live) {
            (true, _) => &[Environment::Sandbox],
            (_, true) => &[Environment::Live],
            _ => &Environment::ALL,
        }
    }
}

async fn list(session: &Session, environment_args: EnvironmentArgs) -> Result<()> {
    let mut keys = sql::list_all(&session.store()?).await?;
    keys.retain(|key| environment_args.environments().contains(&key.environment));
    let keys = describe(&keys, Clock::System.now());
    session.print(&json!({ "signing_keys": keys }), || {
        let rows = keys.iter().map(|key| {
            let ListedSigningKey { kid, environment, algorithm, state, active_from, published_until, .. } = key;
            [
                kid.clone(),
                environment.as_str().to_owned(),
                algorithm.as_str().to_owned(),
                state.as_str().to_owned(),
                active_from.to_string(),
                published_until.map(|until| until.to_string()).unwrap_or_default(),
            ]
        });
        table(["ID", "ENVIRONMENT", "ALGORITHM", "STATE", "SIGNS FROM", "PUBLISHED UNTIL"], rows)
    })
}

impl Rotate {
    async fn run(self, session: &Session) -> Result<()> {
        let environment = if self.environment_args.sandbox { Environment::Sandbox } else { Environment::Live };
        let activation = match (self.now, self.compromised) {
            (_, true) => Activation::Compromised,
            (true, _) => Activation::Soon,
            _ => Activation::Announced,
        };
        let pkcs8 = self.pem.as_deref().map(read_key_file).transpose()?;
        let store = session.store()?;
        let seal = session.config.login.seal();
        let now = Clock::System.now();
        if activation == Activation::Compromised {
            sealed::admit_replacement(&store, &session.config, now).await?;
        } else {
            sealed::admit_command(&store, &session.config, now).await?;
        }
        let new_key = NewSigningKey { environment, algorithm: self.alg.into(), activation, pkcs8 };
        let existing = sql::list_all(&store).await?;
        let created = create_key(&store, &seal, new_key, &existing, &Actor::Operator, now).await;
        let created = match &self.pem {
            Some(file) => created.with_context(|| file.display().to_string()),
            None => created,
        };
        let Some(created) = created? else {
            bail!("another key was made at the same moment; 'signpost signing-keys list' shows it");
        };
        let all = describe(&sql::list_all(&store).await?, now);
        let key = all.into_iter().find(|key| key.kid == created.kid).context("the new key was deleted")?;
        session.print(&key, || {
            let ListedSigningKey { kid, algorithm, active_from, state, .. } = &key;
            let old = if activation == Activation::Compromised { "; the keys before it were deleted" } else { "" };
            let when = match state {
                KeyState::Signing => "signs now".to_owned(),
                _ => format!("is published, and signs from {active_from}"),
            };
            format!("{kid} ({algorithm}, {environment}) {when}{old}")
        })
    }
}

/// Reads a private key from a PEM file.
fn read_key_file(file: &Path) -> Result<SecretSlice<u8>> {
    read_pem_file(file).with_context(|| file.display().to_string())
}

fn read_pem_file(file: &Path) -> Result<SecretSlice<u8>> {
    let mut text = String::new();
    File::open(file)?.take(MAX_PEM_BYTES).read_to_string(&mut text)?;
    let text = SecretString::from(text);
    Ok(read_pem(secrecy::ExposeSecret::expose_secret(&text))?)
}

impl From<Alg> for SigningAlgorithm {
    fn from(alg: Alg) -> Self {
        match alg {
            Alg::Rs256 => Self::Rs256,
            Alg::Es256 => Self::Es256,
        }
    }
}
