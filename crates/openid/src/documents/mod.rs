//! What an issuer publishes of itself: where its addresses are, and the keys that verify its tokens.

mod discovery;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get};
use signpost_login::ids::DomainId;
use signpost_platform::accounts::Environment;
use signpost_platform::limits::{Caller, Limit};
use signpost_platform::web::cors::with_preflight;
use signpost_platform::web::peer::client_address;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{ANY_ORIGIN, PathId, PublicDocument};

use crate::flows::{find_published_realm, issuer};
use crate::service::OpenidService;

/// The two names of the document (OpenID Connect Discovery 1.0, 4; RFC 8414, 3). Both have the same content.
const NAMES: [&str; 2] = ["openid-configuration", "oauth-authorization-server"];

/// The addresses of what the issuers of an environment publish.
pub(crate) fn router(service: &OpenidService, environment: Environment) -> Router<OpenidService> {
    let realm = format!("{}/{{domain}}", environment.page_path());
    let mut router = Router::new().route(&format!("{realm}/jwks"), serve(environment, Published::Keys));
    for name in NAMES {
        // Behind the issuer, as OpenID Connect has it, and inserted before its path, as RFC 8414 has it. A proxy may serve
        // the deployment below a path of its own, which is then a part of the issuer's.
        let base = service.origin.link("");
        for path in [format!("{realm}/.well-known/{name}"), format!("/.well-known/{name}{base}{realm}")] {
            router = router.route(&path, serve(environment, Published::Discovery));
        }
    }
    router
}

#[derive(Clone, Copy, Debug)]
enum Published {
    Discovery,
    Keys,
}

fn serve(environment: Environment, what: Published) -> MethodRouter<OpenidService> {
    with_preflight(get(async move |State(service): State<OpenidService>, PathId(id): PathId, request: Request| {
        let (caller, asked) = (client_address(&service, &request), request.headers().clone());
        let document = what.find(&service, environment, &id, &caller).await;
        match document {
            Ok(document) => document.reply(&asked),
            Err(problem) => (ANY_ORIGIN, problem).into_response(),
        }
    }))
}

impl Published {
    async fn find(
        self,
        service: &OpenidService,
        environment: Environment,
        id: &str,
        caller: &Caller,
    ) -> Result<Arc<PublicDocument>, Problem> {
        let elapsed = service.clock.elapsed();
        service.limits.check(Limit::Documents, caller, elapsed).await.map_err(Problem::RateLimited)?;
        let id = DomainId::parse(id).ok_or(Problem::NotFound)?;
        let state = service.store.file_state();
        let realm = find_published_realm(service, environment, &id, state).await?.ok_or(Problem::NotFound)?;
        Ok(match self {
            Self::Discovery => service.discoveries.understand(&realm.id, issuer(service, &realm), |issuer| {
                Ok(PublicDocument::new("application/json", &discovery::describe(&issuer)))
            })?,
            Self::Keys => service.find_key_set(environment).await?,
        })
    }
}
