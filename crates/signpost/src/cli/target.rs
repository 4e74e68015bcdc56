//! Selects the target of commands that work on a database or through the API of a service, and prints it.

use std::io::IsTerminal;
use std::sync::Arc;

use anyhow::Result;
use signpost_platform::accounts::Environment;
use signpost_platform::outbound::EgressPolicy;

use super::api::{ApiFlags, ApiVariables, ServiceApi};
use super::backend::Backend;
use super::{Common, Session, Usage, print_text};
use crate::config::{Config, RawSettings};

impl Common {
    /// Reads the settings of a command, or connects to the service that `--api` or its variable selects. Prints the
    /// target first: that of the API on standard output, or on standard error if standard output is only for data;
    /// that of a database on a terminal only, because failures are a single line for programs.
    ///
    /// # Errors
    /// Returns [`Usage`] for contradictory flags, an error of the settings, or an error of the connection.
    pub(super) async fn session_for(&self, flags: &ApiFlags, prints_only_data: bool) -> Result<Session> {
        let names_database = self.data_dir.is_some() || self.database_url.is_some() || self.config.is_some();
        if flags.is_explicit() && names_database {
            let reason =
                "--api selects a service, but --data-dir, --database-url and --config select a database: use one";
            return Err(Usage(reason.to_owned()).into());
        }
        // The settings of this machine do not apply to the service.
        let raw = if flags.is_explicit() { RawSettings::default() } else { self.raw_settings()? };
        let Some(target) = flags.target(&ApiVariables::read(), names_database || raw.selects_database())? else {
            let session = Session { config: Config::new(&raw)?, json: self.json, api: None };
            if std::io::stderr().is_terminal() {
                eprintln!("target: the database {}", session.config.database_shown());
            }
            return Ok(session);
        };
        let api = ServiceApi::connect(target).await?;
        let line = format!("target: {api}");
        let line = signpost_text::clean_line(&line);
        if self.json || prints_only_data {
            eprintln!("{line}");
        } else {
            print_text(&line)?;
        }
        let config = Config::new(&RawSettings::default())?;
        Ok(Session { config, json: self.json, api: Some(Arc::new(api)) })
    }
}

impl Session {
    /// Returns the target: the database, or the API of a service.
    pub(super) fn backend(&self) -> Result<Backend> {
        match &self.api {
            Some(api) => Ok(Backend::Api(Arc::clone(api))),
            None => self.store().map(Backend::Database),
        }
    }

    /// Returns the allowed addresses of webhooks. The service checks those that are sent to its API.
    pub(super) fn webhook_egress(&self, environment: Environment) -> EgressPolicy {
        if self.api.is_some() {
            return EgressPolicy::Everything;
        }
        self.config.login.egress_policy(environment, self.config.is_loopback_only())
    }
}
