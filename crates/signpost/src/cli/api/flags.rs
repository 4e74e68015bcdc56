//! The flags and variables that select the API of a service, and its key.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use secrecy::{ExposeSecret, SecretString};
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::keys::KeyHash;
use signpost_platform::bounded_file;
use signpost_platform::outbound::EgressPolicy;
use url::Url;

use crate::cli::Usage;

/// Maximum size of a file with a key, in bytes.
const MAX_KEY_FILE_BYTES: u64 = 4096;
/// Name of the variable with the address of the service.
const API_VARIABLE: &str = "SIGNPOST_API";
/// Name of the variable with the API key.
const KEY_VARIABLE: &str = "SIGNPOST_KEY";

/// The flags of commands that work on a database, or through the API of a service.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct ApiFlags {
    /// Use the HTTP API of the server at this address instead of a database; https, except on this
    /// machine [default: `SIGNPOST_API`, unless a database is selected]
    #[arg(long, global = true, value_name = "URL", help_heading = "API options")]
    api: Option<String>,
    /// File with the API key for --api [default: the key in `SIGNPOST_KEY`]
    #[arg(long, global = true, value_name = "FILE", help_heading = "API options")]
    key_file: Option<PathBuf>,
    /// API key for --api; other users of this machine can read it in the process list
    #[arg(long = "key", global = true, value_name = "KEY", value_parser = parse_secret(), conflicts_with = "key_file",
          help_heading = "API options")]
    api_key: Option<SecretString>,
}

/// The environment variables that select the API of a service. A server ignores them.
#[derive(Default)]
pub(in crate::cli) struct ApiVariables {
    api: Option<OsString>,
    key: Option<OsString>,
}

/// The address of a service and the key for its API.
#[derive(Debug)]
pub(in crate::cli) struct ApiTarget {
    /// The base URL of the environment, such as `https://login.example/v1`.
    pub(super) base: Url,
    pub(super) key: SecretString,
    pub(super) environment: Environment,
    pub(super) egress: EgressPolicy,
}

impl ApiVariables {
    /// Reads the variables of the process. Empty variables count as absent.
    pub(in crate::cli) fn read() -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        Self { api: variable(API_VARIABLE), key: variable(KEY_VARIABLE) }
    }
}

impl ApiFlags {
    /// Returns true if `--api` is given.
    pub(in crate::cli) fn is_explicit(&self) -> bool {
        self.api.is_some()
    }

    /// Returns the target, or `None` if the command works on a database: without `--api`, and without the variable or
    /// with settings that select a database.
    ///
    /// # Errors
    /// Returns [`Usage`] if the address or the key is missing or malformed, or a key is given without an address.
    pub(in crate::cli) fn target(&self, variables: &ApiVariables, selects_database: bool) -> Result<Option<ApiTarget>> {
        let address = match (&self.api, &variables.api) {
            (Some(address), _) => address.clone(),
            (None, Some(address)) if !selects_database => text(API_VARIABLE, address)?,
            (None, _) => {
                if self.key_file.is_some() || self.api_key.is_some() {
                    return Err(
                        Usage("--key and --key-file are for --api: add the address of the server".to_owned()).into()
                    );
                }
                return Ok(None);
            }
        };
        let key = self.key(variables)?;
        // The checksum of a key is verified, so that a truncated key fails here.
        let Some((environment, _)) = KeyHash::parse(key.expose_secret()) else {
            let reason = "the API key is incomplete or not a key of Signpost: it begins with svc_live_ or svc_test_";
            return Err(Usage(reason.to_owned()).into());
        };
        let (base, egress) =
            parse_address(&address, environment).map_err(|reason| Usage(format!("--api: {reason}")))?;
        Ok(Some(ApiTarget { base, key, environment, egress }))
    }

    fn key(&self, variables: &ApiVariables) -> Result<SecretString> {
        if let Some(key) = &self.api_key {
            eprintln!(
                "warning: other users of this machine can read --key in the process list; use {KEY_VARIABLE} or --key-file"
            );
            return Ok(key.clone());
        }
        if let Some(file) = &self.key_file {
            let shown = file.display();
            let key = bounded_file::read_text(file, MAX_KEY_FILE_BYTES)
                .map_err(|error| Usage(format!("--key-file: cannot read {shown}: {error}")))?;
            return Ok(key.trim().into());
        }
        let Some(key) = &variables.key else {
            let reason = format!("--api needs an API key: set {KEY_VARIABLE}, or name a file with --key-file");
            return Err(Usage(reason).into());
        };
        Ok(text(KEY_VARIABLE, key)?.trim().into())
    }
}

/// Returns the parser of a key in an argument. Its type does not print the key.
fn parse_secret() -> impl TypedValueParser<Value = SecretString> {
    NonEmptyStringValueParser::new().map(|text| text.trim().into())
}

fn text(name: &str, value: &OsStr) -> Result<String> {
    let text = value.to_str().ok_or_else(|| Usage(format!("{name} is not UTF-8")))?;
    Ok(text.to_owned())
}

/// Returns the base URL of an environment at the address of a server, and the addresses that it may have. The path of
/// the environment may be included.
fn parse_address(text: &str, environment: Environment) -> Result<(Url, EgressPolicy), String> {
    let mut url = Url::parse(text.trim()).map_err(|_| "must be a URL such as https://login.example".to_owned())?;
    if url.query().is_some() {
        return Err("must not have a query (?…)".to_owned());
    }
    EgressPolicy::Everything.check(&url)?;
    let egress = match url.scheme() {
        // The user of the command chose the address, which may be in a private network.
        "https" => EgressPolicy::Everything,
        _ => EgressPolicy::Loopback,
    };
    egress.check(&url).map_err(|_| "must be https; plain http is allowed for this machine only".to_owned())?;
    let path = url.path().trim_end_matches('/').to_owned();
    let other = Environment::ALL.into_iter().find(|other| *other != environment && path == other.path());
    if let Some(other) = other {
        return Err(format!("is the address of the {other}, but the key belongs to the {environment}"));
    }
    if !path.is_empty() && path != environment.path() {
        return Err(format!("must be the address of the server, without the path {path}"));
    }
    url.set_path(environment.path());
    Ok((url, egress))
}

#[cfg(test)]
mod tests {
    use signpost_platform::accounts::keys::NewKey;

    use super::*;

    const LIVE: Environment = Environment::Live;
    const SANDBOX: Environment = Environment::Sandbox;

    #[test]
    fn address_is_https_or_on_this_machine() {
        for (text, environment, expected) in [
            ("https://login.example", LIVE, Some("https://login.example/v1")),
            ("https://login.example/", SANDBOX, Some("https://login.example/sandbox/v1")),
            ("https://login.example/sandbox/v1/", SANDBOX, Some("https://login.example/sandbox/v1")),
            ("https://10.0.0.1:8443", LIVE, Some("https://10.0.0.1:8443/v1")),
            ("http://localhost:8080", SANDBOX, Some("http://localhost:8080/sandbox/v1")),
            ("http://127.0.0.1:8080/v1", LIVE, Some("http://127.0.0.1:8080/v1")),
            ("http://[::1]:8080", LIVE, Some("http://[::1]:8080/v1")),
            ("http://login.example", LIVE, None),
            ("http://10.0.0.1", LIVE, None),
            ("http://localhost.example", LIVE, None),
            ("https://login.example/v1", SANDBOX, None),
            ("https://login.example/sandbox/v1", LIVE, None),
            ("https://login.example/signpost", LIVE, None),
            ("https://me:x@login.example", LIVE, None),
            ("https://login.example?x", LIVE, None),
            ("https://login.example#x", LIVE, None),
            ("ftp://login.example", LIVE, None),
            ("login.example", LIVE, None),
        ] {
            let found = parse_address(text, environment).ok().map(|(url, _)| url.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn variable_counts_only_without_a_database() {
        let key = NewKey::new(SANDBOX, [1; 10], [2; 32]).key;
        let variables = |api: &str| ApiVariables { api: Some(api.into()), key: Some(key.expose_secret().into()) };
        let flags = |api: Option<&str>| ApiFlags { api: api.map(str::to_owned), key_file: None, api_key: None };
        let host = |flags: &ApiFlags, variables: &ApiVariables, selects_database| {
            let target = flags.target(variables, selects_database).unwrap();
            target.map(|target| target.base.host_str().unwrap().to_owned())
        };
        let named = variables("https://variable.example");
        assert_eq!(host(&flags(None), &named, false).as_deref(), Some("variable.example"));
        assert_eq!(host(&flags(None), &named, true), None);
        assert_eq!(host(&flags(Some("https://flag.example")), &named, true).as_deref(), Some("flag.example"));
        let without_key = ApiVariables { key: None, ..variables("https://variable.example") };
        let error = flags(None).target(&without_key, false).unwrap_err();
        assert!(error.is::<Usage>() && error.to_string().contains("SIGNPOST_KEY"), "{error}");
        let only_key = ApiFlags { api_key: Some("svc_test_x".into()), ..flags(None) };
        assert!(only_key.target(&ApiVariables::default(), false).unwrap_err().is::<Usage>());
        let cut = ApiVariables { key: Some("svc_test_secret".into()), ..variables("https://variable.example") };
        let error = flags(None).target(&cut, false).unwrap_err().to_string();
        assert!(error.contains("svc_live_") && !error.contains("secret"), "{error}");
    }
}
