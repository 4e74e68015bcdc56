//! Collects the texts of the settings from flags, environment variables and files.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use signpost_platform::bounded_file;

use super::DEFAULT;

/// Maximum size of a configuration file, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Prefix of the environment variables.
const PREFIX: &str = "SIGNPOST_";

/// The variables, without the prefix, that select the API of a service for commands such as `signpost domains`. They
/// are no settings: a server and its configuration ignore them.
const API_VARIABLES: [&str; 2] = ["API", "KEY"];

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The embedded file with the default settings.
    Default,
    /// The operator's file, and the number of the line if it is known.
    File(PathBuf, Option<usize>),
    /// An environment variable.
    Variable,
    /// A flag of the command line.
    Flag,
}

/// The texts of all settings with their origins. The items of lists are separated by commas.
#[derive(Clone, Debug)]
pub struct RawSettings(BTreeMap<String, (String, Origin)>);

/// A setting for display, without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct ShownSetting {
    pub key: String,
    pub value: String,
    pub origin: Origin,
}

impl Default for RawSettings {
    /// Reads the embedded file.
    fn default() -> Self {
        let mut raw = Self(BTreeMap::new());
        let table = DEFAULT.parse().expect("the embedded file is TOML");
        for (key, value) in texts(table).expect("the embedded file contains strings, numbers, booleans and lists") {
            raw.0.insert(key, (value, Origin::Default));
        }
        raw
    }
}

impl RawSettings {
    /// Adds the operator's file, overriding existing values. The default file may be missing.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not TOML, or contains a value that is neither a text, a number,
    /// a boolean nor a list.
    pub fn read_file(&mut self, named: Option<&Path>) -> Result<()> {
        let path = named.unwrap_or(Path::new("signpost.toml"));
        if named.is_none() && !path.exists() {
            return Ok(());
        }
        let shown = path.display();
        let text = bounded_file::read_text(path, MAX_FILE_BYTES)
            .with_context(|| format!("cannot read the configuration {shown}"))?;
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let line = 1 + text[..error.span().map_or(0, |span| span.start)].matches('\n').count();
            anyhow::anyhow!("{shown} is not TOML: line {line}: {}", error.message())
        })?;
        for (key, value) in texts(table).with_context(|| format!("{shown}"))? {
            self.set(&key, value, Origin::File(path.to_owned(), line_of(&key, &text)));
        }
        Ok(())
    }

    /// Adds the environment variables, overriding existing values: `SIGNPOST_` and the key in capitals. Unknown
    /// variables are added too, so that [`Config::new`](super::Config::new) rejects them: an ignored setting may be a
    /// security setting.
    ///
    /// # Errors
    /// Returns an error if a variable with the prefix is not UTF-8.
    pub fn read_variables(&mut self, variables: impl Iterator<Item = (OsString, OsString)>) -> Result<()> {
        for (name, value) in variables {
            let Some(name) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
            if API_VARIABLES.contains(&name) {
                continue;
            }
            let key = name.to_lowercase();
            if !self.0.contains_key(&key) && is_foreign(name, &value.to_string_lossy()) {
                continue;
            }
            let value = value.into_string().map_err(|_| anyhow::anyhow!("{PREFIX}{name} is not UTF-8"))?;
            self.set(&key, value, Origin::Variable);
        }
        Ok(())
    }

    /// Sets a value, overriding an existing value.
    pub fn set(&mut self, key: &str, value: impl Into<String>, origin: Origin) {
        self.0.insert(key.to_owned(), (value.into(), origin));
    }

    /// Returns the origin of a key's value.
    #[must_use]
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        self.0.get(key).map(|(_, origin)| origin)
    }

    /// Returns true if a file, a variable or a flag selects the database.
    #[must_use]
    pub fn selects_database(&self) -> bool {
        ["data_dir", "database_url"]
            .into_iter()
            .any(|key| self.origin(key).is_some_and(|from| *from != Origin::Default))
    }

    /// Returns the operator's file, if a value of it is in use.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.0.values().find_map(|(_, origin)| match origin {
            Origin::File(path, _) => Some(path.as_path()),
            _ => None,
        })
    }

    /// Returns the trimmed text and the origin of every key.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, (&str, &Origin))> {
        self.0.iter().map(|(key, (value, origin))| (key.as_str(), (value.trim(), origin)))
    }
}

/// Returns the line of a file that sets a key, counted from 1.
fn line_of(key: &str, text: &str) -> Option<usize> {
    let before = text.lines().position(|line| match line.split_once('=') {
        Some((name, _)) => name.trim().trim_matches(['"', '\'']) == key,
        None => false,
    });
    before.map(|before| before + 1)
}

/// Returns the error for an unknown key, with a suggestion.
pub(super) fn unknown(key: &str, origin: &Origin) -> String {
    let file = if let Origin::File(..) = origin { format!("{origin}: ") } else { String::new() };
    let suggestion = match nearest(key) {
        Some(known) => format!("did you mean {}?", format_key(&known, origin)),
        None => "'signpost config' lists all settings".to_owned(),
    };
    format!("{file}no setting is named {}; {suggestion}", format_key(key, origin))
}

/// Spells a key as in its origin.
fn format_key(key: &str, origin: &Origin) -> String {
    match origin {
        Origin::Variable => format!("{PREFIX}{}", key.to_uppercase()),
        _ => format!("'{key}'"),
    }
}

/// Returns the setting with the most similar name, if any is similar enough.
fn nearest(key: &str) -> Option<String> {
    /// Names of `listen` in other programs.
    const LISTEN: [&str; 5] = ["port", "host", "bind", "address", "addr"];
    /// Minimum similarity (0 to 1) of a suggestion.
    const MIN_SIMILARITY: f64 = 0.5;
    if LISTEN.contains(&key) {
        return Some("listen".to_owned());
    }
    let known = RawSettings::default().0.into_keys();
    let similarities = known.map(|known| (strsim::normalized_damerau_levenshtein(&known, key), known));
    let (similarity, best) = similarities.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (similarity >= MIN_SIMILARITY).then_some(best)
}

/// Returns true if a variable with this prefix belongs to another program: to tests, or to the service links of
/// Kubernetes and Docker for a service with a name that begins with `signpost`.
fn is_foreign(name: &str, value: &str) -> bool {
    const TESTS: [&str; 3] = ["TEST_", "BENCH_", "SOAK_"];
    let words: Vec<_> = name.split('_').collect();
    if TESTS.iter().any(|prefix| name.starts_with(prefix))
        || words.ends_with(&["SERVICE", "HOST"])
        || words.windows(2).any(|pair| pair == ["SERVICE", "PORT"])
    {
        return true;
    }
    let is_link = ["tcp://", "udp://", "sctp://"].iter().any(|scheme| value.starts_with(scheme));
    let is_part_of_link = matches!(words[..], [.., "TCP" | "UDP" | "SCTP", "PROTO" | "PORT" | "ADDR"]);
    words.contains(&"PORT") && (is_link || is_part_of_link)
}

/// Returns the keys of a file and the texts of their values.
fn texts(table: toml::Table) -> Result<Vec<(String, String)>> {
    let mut texts = Vec::new();
    for (key, value) in table {
        let text = match &value {
            toml::Value::Array(list) => list.iter().map(text).collect::<Option<Vec<_>>>().map(|all| all.join(",")),
            one => text(one),
        };
        let text = text.with_context(|| format!("{key} must be a string, a number, a boolean or a list of these"))?;
        texts.push((key, text));
    }
    Ok(texts)
}

fn text(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(int) => Some(int.to_string()),
        toml::Value::Boolean(truth) => Some(truth.to_string()),
        _ => None,
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path, Some(line)) => write!(f, "{}, line {line}", path.display()),
            Self::File(path, None) => write!(f, "{}", path.display()),
            Self::Variable => f.write_str("environment"),
            Self::Flag => f.write_str("command line"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::config::Config;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    }

    #[test]
    fn sources_override_in_order() {
        let mut raw = RawSettings::default();
        let toml = file("listen = \"127.0.0.1:1\"\nlog = \"warn\"\nservices = [\"atm\"]\nsession_ttl = \"60s\"");
        raw.read_file(Some(toml.path())).unwrap();
        let variables = [("SIGNPOST_LOG", "debug"), ("SIGNPOST_SERVICES", "auth"), ("OTHER", "x")];
        raw.read_variables(variables.map(|(name, value)| (name.into(), value.into())).into_iter()).unwrap();
        raw.set("services", "atm,auth", Origin::Flag);
        let all = raw.iter().collect::<BTreeMap<_, _>>();
        let all = ["listen", "log", "services", "session_ttl", "data_dir"].map(|key| all[key].0);
        assert_eq!(all, ["127.0.0.1:1", "debug", "atm,auth", "60s", "./signpost-data"]);
    }

    #[test]
    fn origin_of_a_file_value_has_its_line() {
        let toml = file("# listen = \"0.0.0.0:1\"\n\n  \"log\"=\"warn\"\nlisten = \"127.0.0.1:1\"\n");
        let mut raw = RawSettings::default();
        raw.read_file(Some(toml.path())).unwrap();
        for (key, line) in [("listen", Some(4)), ("log", Some(3))] {
            assert_eq!(raw.origin(key), Some(&Origin::File(toml.path().to_owned(), line)), "{key}");
        }
        assert!(raw.origin("listen").unwrap().to_string().ends_with(", line 4"));
    }

    fn variable(name: &str, value: &str) -> Result<(), String> {
        let mut raw = RawSettings::default();
        raw.read_variables([(name.into(), value.into())].into_iter()).map_err(|error| error.to_string())?;
        Config::new(&raw).map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn unknown_variable_error_has_a_suggestion() {
        for (name, meant) in [
            ("SIGNPOST_SEALKEY", "SIGNPOST_SEAL_KEY"),
            ("SIGNPOST_PUBLICURL", "SIGNPOST_PUBLIC_URL"),
            ("SIGNPOST_DATA_DIRECTORY", "SIGNPOST_DATA_DIR"),
            ("SIGNPOST_SERVICE", "SIGNPOST_SERVICES"),
            ("SIGNPOST_TRUSTED_PROXY", "SIGNPOST_TRUSTED_PROXIES"),
            ("SIGNPOST_PORT", "SIGNPOST_LISTEN"),
            ("SIGNPOST_HOST", "SIGNPOST_LISTEN"),
        ] {
            let error = variable(name, "9000").expect_err(name);
            assert_eq!(error, format!("no setting is named {name}; did you mean {meant}?"));
        }
        for (name, value) in [
            ("SIGNPOST_PORT", "127.0.0.1:9000"),
            ("SIGNPOST_PORT_80_TCP", "80"),
            ("SIGNPOST_SERVICE_HOSTS", "10.0.0.1"),
            ("SIGNPOST_", ""),
            ("SIGNPOST_TESTS", ""),
            ("SIGNPOST_LOGIN", ""),
        ] {
            let error = variable(name, value).expect_err(name);
            assert!(error.starts_with(&format!("no setting is named {name}; ")), "{error}");
        }
        // If no name is similar, a suggestion would mislead.
        let error = variable("SIGNPOST_TELEPORTATION", "on").unwrap_err();
        assert!(error.ends_with("; 'signpost config' lists all settings"), "{error}");
    }

    #[test]
    fn foreign_variables_are_ignored() {
        for (name, value) in [
            ("SIGNPOST_TEST_POSTGRES", "x"),
            ("SIGNPOST_BENCH_REDIS", "x"),
            ("SIGNPOST_SOAK_SECONDS", "1"),
            ("SIGNPOST_SERVICE_HOST", "10.96.0.7"),
            ("SIGNPOST_SERVICE_PORT", "80"),
            ("SIGNPOST_SERVICE_PORT_HTTP", "80"),
            ("SIGNPOST_PORT", "tcp://10.96.0.7:80"),
            ("SIGNPOST_PORT", "udp://10.96.0.7:80"),
            ("SIGNPOST_PORT_80_TCP", "tcp://10.96.0.7:80"),
            ("SIGNPOST_PORT_80_TCP_PROTO", "tcp"),
            ("SIGNPOST_PORT_80_TCP_PORT", "80"),
            ("SIGNPOST_PORT_80_TCP_ADDR", "10.96.0.7"),
            ("SIGNPOST_REDIS_SERVICE_HOST", "10.96.0.8"),
            ("SIGNPOST_REDIS_SERVICE_PORT_CACHE", "6379"),
            ("SIGNPOST_REDIS_PORT_6379_TCP_ADDR", "10.96.0.8"),
            ("HOME", "/"),
        ] {
            assert_eq!(variable(name, value), Ok(()), "{name}");
        }
    }

    #[test]
    fn invalid_file_is_a_single_error() {
        for (text, expected) in [
            ("listen = ", "is not TOML"),
            ("lisen = \"x\"", "no setting is named 'lisen'; did you mean 'listen'?"),
            ("listen = 1.5", "listen must be a string"),
        ] {
            let (toml, mut raw) = (file(text), RawSettings::default());
            let read = raw.read_file(Some(toml.path()));
            let error = read.and_then(|()| Ok(Config::new(&raw)?)).unwrap_err();
            assert!(format!("{error:#}").contains(expected), "{error:#}");
            assert!(format!("{error:#}").starts_with(&toml.path().display().to_string()), "{error:#}");
        }
        let error = RawSettings::default().read_file(Some(Path::new("/nowhere/signpost.toml"))).unwrap_err();
        assert!(error.to_string().contains("/nowhere/signpost.toml"), "{error}");
    }
}
