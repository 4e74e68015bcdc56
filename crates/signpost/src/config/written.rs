//! What stands in the flags, the environment and the files, before anybody asks what it means.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::DEFAULT;

/// How our variables begin.
const PREFIX: &str = "SIGNPOST_";

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The embedded file.
    Default,
    /// A file of the operator's.
    File(PathBuf),
    /// A variable of the environment.
    Variable,
    /// A flag of the command line.
    Flag,
}

/// A value that a key does not allow: one line that says what to change.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} ({origin}): '{value}' is not allowed; allowed is {allowed}")]
pub struct BadSetting {
    pub(super) key: String,
    pub(super) origin: String,
    pub(super) value: String,
    pub(super) allowed: String,
}

/// Every key with its text and where that stood. Lists are texts with commas.
#[derive(Clone, Debug)]
pub struct Written(BTreeMap<String, (String, Origin)>);

impl Default for Written {
    /// The embedded file alone.
    fn default() -> Self {
        let mut written = Self(BTreeMap::new());
        let table = DEFAULT.parse().expect("the embedded file is TOML");
        for (key, value) in texts(table).expect("the embedded file holds texts, numbers, truths and lists of texts") {
            written.0.insert(key, (value, Origin::Default));
        }
        written
    }
}

impl Written {
    /// Puts the operator's file over what is there. A file that was not asked for by name may be missing.
    ///
    /// # Errors
    /// Where it cannot be read, is not TOML, or holds a key that we do not know.
    pub fn read_file(&mut self, named: Option<&Path>) -> Result<()> {
        let path = named.unwrap_or(Path::new("signpost.toml"));
        if named.is_none() && !path.exists() {
            return Ok(());
        }
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the configuration {shown}"))?;
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let line = 1 + text[..error.span().map_or(0, |span| span.start)].matches('\n').count();
            anyhow::anyhow!("{shown} is not TOML: line {line}: {}", error.message())
        })?;
        for (key, value) in texts(table).with_context(|| format!("{shown}"))? {
            if !self.0.contains_key(&key) {
                bail!("{shown}: no setting is named '{key}'; 'signpost config' prints all that are");
            }
            self.set(&key, value, Origin::File(path.to_owned()));
        }
        Ok(())
    }

    /// Puts the variables over what is there: `SIGNPOST_` and the key in capitals.
    ///
    /// # Errors
    /// Where one is of no key that we know, and not of somebody whom we know either, or is not UTF-8: a setting that was
    /// meant and is not heeded may be the one that protects something.
    pub fn read_variables(&mut self, variables: impl Iterator<Item = (OsString, OsString)>) -> Result<()> {
        for (name, value) in variables {
            let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
            let key = rest.to_lowercase();
            let value = value.into_string();
            if self.0.contains_key(&key) {
                let value = value.map_err(|_| anyhow::anyhow!("{PREFIX}{rest} is not UTF-8"))?;
                self.set(&key, value, Origin::Variable);
            } else if !is_of_others(rest, value.as_deref().unwrap_or_default()) {
                let nearest = self.nearest(&key).to_uppercase();
                bail!(
                    "no setting is named {PREFIX}{rest}: the nearest is {PREFIX}{nearest}, 'signpost config' prints all \
                     that are"
                );
            }
        }
        Ok(())
    }

    /// The key that is spelled most like this.
    fn nearest(&self, key: &str) -> &str {
        let alike = |known: &str| strsim::normalized_damerau_levenshtein(known, key);
        let nearest = self.0.keys().max_by(|one, other| alike(one).total_cmp(&alike(other)));
        nearest.expect("config.default.toml has keys")
    }

    /// Puts one value over what is there.
    pub fn set(&mut self, key: &str, value: impl Into<String>, origin: Origin) {
        self.0.insert(key.to_owned(), (value.into(), origin));
    }

    /// A key's text, without the space around it, and where it stood.
    pub(super) fn get(&self, key: &str) -> (&str, &Origin) {
        let (value, origin) = self.0.get(key).expect("every key stands in config.default.toml");
        (value.trim(), origin)
    }
}

/// Variables that begin as ours do and are not: those of tests, and the links to services that Kubernetes and Docker
/// set, here those of a service whose own name begins with `signpost`.
fn is_of_others(name: &str, value: &str) -> bool {
    const TESTS: [&str; 3] = ["TEST_", "BENCH_", "SOAK_"];
    let words: Vec<_> = name.split('_').collect();
    let is_link = || ["tcp://", "udp://", "sctp://"].iter().any(|scheme| value.starts_with(scheme));
    let is_part_of_link = || matches!(words[..], [.., "TCP" | "UDP" | "SCTP", "PROTO" | "PORT" | "ADDR"]);
    TESTS.iter().any(|prefix| name.starts_with(prefix))
        || words.ends_with(&["SERVICE", "HOST"])
        || words.windows(2).any(|pair| pair == ["SERVICE", "PORT"])
        || words.contains(&"PORT") && (is_link() || is_part_of_link())
}

/// The keys of a file and the texts of their values.
fn texts(table: toml::Table) -> Result<Vec<(String, String)>> {
    let text = |value: &toml::Value| match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(int) => Some(int.to_string()),
        toml::Value::Boolean(truth) => Some(truth.to_string()),
        _ => None,
    };
    let read = |key: String, value: toml::Value| {
        let all = match &value {
            toml::Value::Array(list) => list.iter().map(text).collect::<Option<Vec<_>>>().map(|all| all.join(",")),
            one => text(one),
        };
        let all = all.with_context(|| format!("{key} must be a text, a number, true, false or a list of texts"))?;
        Ok((key, all))
    };
    table.into_iter().map(|(key, value)| read(key, value)).collect()
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Variable => f.write_str("environment"),
            Self::Flag => f.write_str("command line"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    }

    #[test]
    fn flags_win_over_variables_over_the_file_over_the_defaults() {
        let mut written = Written::default();
        let toml = file("listen = \"127.0.0.1:1\"\nlog = \"warn\"\nservices = [\"atm\"]\nsession_ttl = \"60s\"");
        written.read_file(Some(toml.path())).unwrap();
        let variables = [("SIGNPOST_LOG", "debug"), ("SIGNPOST_SERVICES", "auth"), ("OTHER", "x")];
        written.read_variables(variables.map(|(name, value)| (name.into(), value.into())).into_iter()).unwrap();
        written.set("services", "atm,auth", Origin::Flag);
        let all = ["listen", "log", "services", "session_ttl", "data_dir"].map(|key| written.get(key).0);
        assert_eq!(all, ["127.0.0.1:1", "debug", "atm,auth", "60s", "./signpost-data"]);
    }

    fn variable(name: &str, value: &str) -> Result<(), String> {
        let read = Written::default().read_variables([(name.into(), value.into())].into_iter());
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn a_variable_that_nobody_knows_is_refused_with_the_nearest_name() {
        for (name, nearest) in [
            ("SIGNPOST_SEALKEY", "SIGNPOST_SEAL_KEY"),
            ("SIGNPOST_PUBLICURL", "SIGNPOST_PUBLIC_URL"),
            ("SIGNPOST_DATA_DIRECTORY", "SIGNPOST_DATA_DIR"),
            ("SIGNPOST_SERVICE", "SIGNPOST_SERVICES"),
            ("SIGNPOST_TRUSTED_PROXY", "SIGNPOST_TRUSTED_PROXIES"),
        ] {
            let error = variable(name, "x").expect_err(name);
            assert!(error.contains(&format!("{name}:")) && error.contains(&format!("{nearest},")), "{error}");
        }
        for (name, value) in [
            ("SIGNPOST_PORT", "9000"),
            ("SIGNPOST_PORT", "127.0.0.1:9000"),
            ("SIGNPOST_PORT_80_TCP", "80"),
            ("SIGNPOST_SERVICE_HOSTS", "10.0.0.1"),
            ("SIGNPOST_", ""),
            ("SIGNPOST_TESTS", ""),
        ] {
            variable(name, value).expect_err(name);
        }
    }

    #[test]
    fn variables_of_tests_and_of_kubernetes_are_left_alone() {
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
    fn a_broken_file_is_one_clear_error() {
        for (text, said) in [
            ("listen = ", "is not TOML"),
            ("lisen = \"x\"", "no setting is named 'lisen'"),
            ("listen = 1.5", "listen must be a text"),
        ] {
            let toml = file(text);
            let error = Written::default().read_file(Some(toml.path())).unwrap_err();
            assert!(format!("{error:#}").contains(said), "{error:#}");
        }
        let error = Written::default().read_file(Some(Path::new("/nowhere/signpost.toml"))).unwrap_err();
        assert!(error.to_string().contains("/nowhere/signpost.toml"), "{error}");
    }
}
