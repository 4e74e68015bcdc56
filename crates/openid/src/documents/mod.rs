//! Serves the public documents of an issuer: the discovery document and the JWK Set.

mod discovery;

use std::sync::Arc;

use axum::Router;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use axum::response::Response;
use axum::routing::get;
use signpost_login::domains::Domain;
use signpost_login::ids::DomainId;
use signpost_platform::accounts::Environment;
use signpost_platform::limits::Limit;
use signpost_platform::web::cors::with_preflight;
use signpost_platform::web::peer::peer;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{ANY_ORIGIN, PathParams, PublicDocument};

use crate::flows::{find_published_domain, issuer};
use crate::service::{IssuerState, OpenidService};

/// The two file names of the discovery document (OpenID Connect Discovery 1.0, 4; RFC 8414, 3).
const NAMES: [&str; 2] = ["openid-configuration", "oauth-authorization-server"];

/// Returns the routes of the documents of an environment's issuers.
pub(crate) fn router(service: &OpenidService, environment: Environment) -> Router<IssuerState> {
    let domain = format!("{}/{{domain}}", environment.page_path());
    let mut router = Router::new().route(&format!("{domain}/jwks"), with_preflight(get(show_key_set)));
    for name in NAMES {
        // The well-known path follows the issuer (OpenID Connect), and is also inserted before the issuer's path (RFC
        // 8414). If a proxy serves the deployment below a path, that path is part of the issuer's path.
        let base = service.origin.link("");
        for path in [format!("{domain}/.well-known/{name}"), format!("/.well-known/{name}{base}{domain}")] {
            router = router.route(&path, with_preflight(get(show_discovery)));
        }
    }
    router
}

/// An error response that scripts of all origins may read.
type DocumentRefusal = ([(HeaderName, &'static str); 1], Problem);

fn refuse(problem: impl Into<Problem>) -> DocumentRefusal {
    (ANY_ORIGIN, problem.into())
}

async fn show_discovery(request: DocumentRequest, headers: HeaderMap) -> Result<Response, DocumentRefusal> {
    let DocumentRequest { service, domain } = request;
    let document = service.discovery_documents.parse(&domain.id, issuer(&service, &domain), |issuer| {
        Ok(PublicDocument::new("application/json", &discovery::describe(&issuer)))
    });
    Ok(document.map_err(refuse)?.reply(&headers))
}

async fn show_key_set(request: DocumentRequest, headers: HeaderMap) -> Result<Response, DocumentRefusal> {
    let DocumentRequest { service, domain } = request;
    let document = service.find_key_set(domain.account.environment).await;
    Ok(document.map_err(refuse)?.reply(&headers))
}

/// A request for a document of an existing issuer, counted for its client IP.
#[derive(Debug)]
struct DocumentRequest {
    service: OpenidService,
    domain: Arc<Domain>,
}

impl FromRequestParts<IssuerState> for DocumentRequest {
    type Rejection = DocumentRefusal;

    async fn from_request_parts(parts: &mut Parts, state: &IssuerState) -> Result<Self, DocumentRefusal> {
        let IssuerState { service, environment } = state;
        let caller = peer(service, &parts.extensions, &parts.headers);
        let counted = service.limits.check(Limit::Documents, &caller, service.clock.elapsed()).await;
        counted.map_err(|exceeded| refuse(Problem::RateLimited(exceeded)))?;
        let Ok(PathParams(id)) = PathParams::<String>::from_request_parts(parts, state).await;
        let Some(id) = DomainId::parse(&id) else { return Err(refuse(Problem::NotFound)) };
        let domain = find_published_domain(service, *environment, &id, service.store.file_state()).await;
        let Some(domain) = domain.map_err(refuse)? else { return Err(refuse(Problem::NotFound)) };
        Ok(Self { service: service.clone(), domain })
    }
}
