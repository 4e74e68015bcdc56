//! The command `signpost users sign-ins`: lists and ends the sign-ins of a user.

use anyhow::{Context, Result, anyhow};
use clap::Args;
use serde_json::json;
use signpost_login::api::sign_ins::SignInView;
use signpost_login::flows::sign_ins::{end_all_sign_ins, end_sign_in, list_sign_ins};
use signpost_login::ids::SignInId;
use signpost_login::sign_ins::{SignIn, SignInsQuery};
use signpost_openid::flows::OpenidSignIns;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;

use super::{FoundUser, UserSelector};
use crate::cli::backend::{Backend, or_unknown};
use crate::cli::{Session, table};

/// Maximum number of sign-ins in a list, the newest.
const MAX_LISTED: u32 = 1000;

#[derive(Debug, Args)]
pub(in crate::cli) struct SignIns {
    #[command(flatten)]
    selector: UserSelector,
    /// End this sign-in, sgn_…
    #[arg(long, value_name = "ID", conflicts_with = "all")]
    end: Option<String>,
    /// End all sign-ins
    #[arg(long)]
    all: bool,
}

impl SignIns {
    pub(super) async fn run(self, session: &Session, backend: &Backend) -> Result<()> {
        let Self { selector, end, all } = self;
        let FoundUser { domain, user, .. } = selector.find(backend).await?;
        let owner = (&domain, &user.id);
        let now = Clock::System.now();
        if all {
            match backend {
                Backend::Database(store) => {
                    let ended = end_all_sign_ins(store, owner, &Actor::Operator, now).await;
                    ended.map_err(|error| error.on_conflict(anyhow!("{} was deleted just now", user.id)))?;
                }
                Backend::Api(api) => api.end_sign_ins(&domain, &user.id, None).await?,
            }
            return session.print(&json!({ "ended": "all" }), || format!("ended all sign-ins of {}", user.id));
        }
        if let Some(id) = end {
            let unknown = format!("{} has no such sign-in; 'users sign-ins' shows all", user.id);
            let id = SignInId::parse(&id).with_context(|| unknown.clone())?;
            match backend {
                Backend::Database(store) => {
                    let ended = end_sign_in(store, &OpenidSignIns, owner, &id, &Actor::Operator, now).await;
                    ended.map_err(|error| error.on_conflict(anyhow!("{unknown}")))?;
                }
                Backend::Api(api) => {
                    let ended = api.end_sign_ins(&domain, &user.id, Some(&id)).await;
                    ended.map_err(|failure| or_unknown(failure, &unknown))?;
                }
            }
            return session.print(&json!({ "ended": id }), || format!("ended {id}"));
        }
        let found = match backend {
            Backend::Database(store) => {
                let query = SignInsQuery { domain: &domain.id, user: &user.id, before: None, limit: MAX_LISTED, now };
                list_sign_ins(store, &OpenidSignIns, query).await?
            }
            Backend::Api(api) => api.list_sign_ins(&domain, &user.id, MAX_LISTED).await?,
        };
        let views: Vec<_> = found.iter().cloned().map(SignInView::from).collect();
        session.print(&json!({ "sign_ins": views }), || sign_in_table(&found))
    }
}

fn sign_in_table(found: &[SignIn]) -> String {
    let rows = found.iter().map(|sign_in| {
        let place = sign_in.place.client_id().unwrap_or_else(|| sign_in.place.kind());
        let browser = sign_in.browser.browser_family.clone().unwrap_or_default();
        let times = [sign_in.created_at, sign_in.last_used_at].map(|at| at.to_string());
        let [created, used] = times;
        [sign_in.id.to_string(), place.to_owned(), browser, created, used]
    });
    table(["ID", "PLACE", "BROWSER", "SIGNED IN", "LAST USED"], rows)
}
