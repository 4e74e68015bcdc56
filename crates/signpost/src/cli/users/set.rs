//! The command `signpost users set`: sets the name, the groups and the identifiers of a user.

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Map, Value};
use signpost_login::domains::Domain;
use signpost_login::flows::user_changes::{ChangeUserError, UserUpdate, change_user};
use signpost_login::users::{
    ChosenUsername, EmailAddress, ExternalId, ReservedNames, UserDisplayName, UserGroups, UserMetadata, UserPatch,
};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;

use super::{UserSelector, show};
use crate::cli::backend::Backend;
use crate::cli::{Session, Usage};

#[derive(Debug, Args)]
pub(in crate::cli) struct SetUser {
    #[command(flatten)]
    selector: UserSelector,
    #[command(flatten)]
    change: UserFlags,
    /// Allow a username that is reserved for systems and roles, such as root
    #[arg(long, requires = "username")]
    reserved_name: bool,
}

/// The flags for the new values.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each member of a user has a flag that removes it")]
struct UserFlags {
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
    /// Username of 2 to 32 characters, which no other user of the domain has or had
    #[arg(long, value_name = "NAME", conflicts_with = "no_username")]
    username: Option<String>,
    /// Restore the generated username
    #[arg(long)]
    no_username: bool,
    /// ID of the user in the database of the site, unique in the domain
    #[arg(long, value_name = "ID", conflicts_with = "no_external_id")]
    external_id: Option<String>,
    /// Remove the external ID
    #[arg(long)]
    no_external_id: bool,
    /// E-mail address, unique in the domain
    #[arg(long, value_name = "ADDRESS", conflicts_with = "no_email")]
    email: Option<String>,
    /// Remove the e-mail address
    #[arg(long)]
    no_email: bool,
    /// Data of the site, a JSON object of up to 4,096 bytes; it replaces the existing data
    #[arg(long, value_name = "JSON", conflicts_with = "no_metadata")]
    metadata: Option<String>,
    /// Remove the data of the site
    #[arg(long)]
    no_metadata: bool,
}

impl SetUser {
    pub(super) async fn run(self, session: &Session, backend: &Backend) -> Result<()> {
        let Self { selector, change, reserved_name } = self;
        let reserved = if reserved_name { ReservedNames::Allowed } else { ReservedNames::Refused };
        let found = selector.find(backend).await?;
        let patch = change.into_patch(&found.domain, reserved)?;
        let user = &found.user.id;
        match backend {
            Backend::Database(store) => {
                let (domain, by) = (&found.domain, &Actor::Operator);
                let update = UserUpdate { domain, user, patch: &patch, by, can_manage: true };
                match change_user(store, update, Clock::System.now()).await {
                    Ok(()) => {}
                    Err(ChangeUserError::NotFound) => bail!("{user} was removed just now"),
                    Err(error) => return Err(error.into()),
                }
            }
            Backend::Api(api) => api.patch_user(&found.domain, user, &patch).await?,
        }
        show(session, found.again(backend).await?)
    }
}

impl UserFlags {
    fn into_patch(self, domain: &Domain, reserved: ReservedNames) -> Result<UserPatch> {
        let name = self.name.map(|text| UserDisplayName::parse(&text)).transpose();
        let name = name.map_err(|reason| invalid_flag("--name", &reason))?;
        let groups = self.groups.map(|words| words.into_iter().map(|word| word.trim().to_owned()).collect::<Vec<_>>());
        let groups = groups.map(UserGroups::try_from).transpose();
        let groups = groups.map_err(|reason| invalid_flag("--groups", &reason))?;
        let username = self.username.map(|text| ChosenUsername::parse(&text, reserved)).transpose();
        let username = username.map_err(|reason| invalid_flag("--username", &reason))?;
        let external_id = self.external_id.map(|text| ExternalId::parse(&text)).transpose();
        let external_id = external_id.map_err(|reason| invalid_flag("--external-id", &reason))?;
        let email = self.email.map(|text| EmailAddress::parse(&text, &domain.name)).transpose();
        let email = email.map_err(|reason| invalid_flag("--email", reason))?;
        let metadata = self.metadata.map(|text| parse_metadata(&text)).transpose()?;
        let patch = UserPatch {
            name: name.map(Some).or(self.no_name.then_some(None)),
            groups: groups.map(Some).or(self.no_groups.then_some(None)),
            username: username.map(Some).or(self.no_username.then_some(None)),
            external_id: external_id.map(Some).or(self.no_external_id.then_some(None)),
            email: email.map(Some).or(self.no_email.then_some(None)),
            metadata: metadata.map(Some).or(self.no_metadata.then_some(None)),
        };
        if patch.is_empty() {
            return Err(Usage("give at least one setting to change, such as --name".to_owned()).into());
        }
        Ok(patch)
    }
}

fn parse_metadata(text: &str) -> Result<UserMetadata, Usage> {
    let object = serde_json::from_str::<Map<String, Value>>(text);
    let object = object.map_err(|error| invalid_flag("--metadata", &format!("must be a JSON object: {error}")))?;
    UserMetadata::try_from(object).map_err(|reason| invalid_flag("--metadata", &reason))
}

/// Returns the usage error for an invalid flag. The error of the API would mention null, but the
/// command line has no null.
fn invalid_flag(flag: &str, reason: &str) -> Usage {
    Usage(format!("{flag}: {}", reason.trim_end_matches(", or be null")))
}
