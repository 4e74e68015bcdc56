//! The command `signpost users set`: sets the name and the groups of a user.

use anyhow::{Result, anyhow};
use clap::Args;
use signpost_login::users::{UserDisplayName, UserGroups, UserPatch, sql};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;
use signpost_store::Store;

use super::{UserSelector, show};
use crate::cli::{Session, Usage};

#[derive(Debug, Args)]
#[group(id = "change", required = true, multiple = true, args = ["name", "no_name", "groups", "no_groups"])]
pub(in crate::cli) struct SetUser {
    #[command(flatten)]
    selector: UserSelector,
    /// Name, up to 60 characters
    #[arg(long, conflicts_with = "no_name")]
    name: Option<String>,
    /// Remove the name
    #[arg(long)]
    no_name: bool,
    /// Groups, separated by commas; they replace the existing groups
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "no_groups")]
    groups: Option<Vec<String>>,
    /// Remove all groups
    #[arg(long)]
    no_groups: bool,
}

impl SetUser {
    pub(super) async fn run(self, session: &Session, store: &Store) -> Result<()> {
        let Self { selector, name, no_name, groups, no_groups } = self;
        let name = name.map(|text| UserDisplayName::parse(&text)).transpose();
        let name = name.map_err(|reason| invalid_flag("--name", &reason))?;
        let groups = groups.map(|words| words.into_iter().map(|word| word.trim().to_owned()).collect::<Vec<_>>());
        let groups = groups.map(UserGroups::try_from).transpose();
        let groups = groups.map_err(|reason| invalid_flag("--groups", &reason))?;
        let change = UserPatch {
            name: name.map(Some).or(no_name.then_some(None)),
            groups: groups.map(Some).or(no_groups.then_some(None)),
        };
        let found = selector.find(store).await?;
        let user = &found.user.id;
        let patched = sql::patch(store, &found.domain.id, user, change, &Actor::Operator, Clock::System.now()).await;
        patched.map_err(|error| error.on_conflict(anyhow!("{user} was removed just now")))?;
        show(session, found.again(store).await?)
    }
}

/// Returns the usage error for an invalid flag. The error of the API would mention null, but the
/// command line has no null.
fn invalid_flag(flag: &str, reason: &str) -> Usage {
    Usage(format!("{flag}: {}", reason.trim_end_matches(", or be null")))
}
