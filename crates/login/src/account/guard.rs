//! What a form must be before anything is changed: of a page of ours, of this browser, where its person is signed in.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::form::{FormRefusal, PostedForm};

use super::outcomes;
use super::visit::{AccountVisit, OwnRealm};

impl AccountVisit {
    /// The form, where a page of ours for this browser and this purpose has it.
    pub(super) async fn receive(&self, id: &str, request: Request, purpose: &str) -> Result<PostedForm, Response> {
        let form = self.receive_unchecked(id, request).await?;
        self.check(id, &form, purpose).map_err(|refusal| self.refuse(id, refusal))?;
        Ok(form)
    }

    /// The form of a page of ours, whose purpose is still to be [checked](Self::check).
    pub(super) async fn receive_unchecked(&self, id: &str, request: Request) -> Result<PostedForm, Response> {
        let form = PostedForm::receive(&self.service.origin, request).await;
        form.map_err(|refusal| self.refuse(id, refusal))
    }

    /// The form, and the realm where the visitor is signed in that it is about. `has_proof`: only where they proved it a
    /// moment ago.
    pub(super) async fn receive_own(
        &self,
        id: &str,
        request: Request,
        (purpose, has_proof): (&str, bool),
    ) -> Result<(OwnRealm, PostedForm), Response> {
        let form = self.receive(id, request, purpose).await?;
        Ok((self.require_own(id, has_proof).await?, form))
    }

    /// The realm where the visitor is signed in, else the page that says how to.
    pub(super) async fn require_own(&self, id: &str, has_proof: bool) -> Result<OwnRealm, Response> {
        let own = self.find_own(id).await?;
        let own = own.ok_or_else(|| {
            self.page(outcomes::render_out(self, id)).with_status(StatusCode::FORBIDDEN).into_response()
        })?;
        if has_proof && !own.who.proof.is_fresh(self.now) {
            return Err(self
                .page(outcomes::render_old_proof(self, &own))
                .with_status(StatusCode::FORBIDDEN)
                .into_response());
        }
        Ok(own)
    }

    /// The page that says that a form was refused.
    pub(super) fn refuse(&self, id: &str, refusal: FormRefusal) -> Response {
        HtmlPage::personal(outcomes::render_stale(self, id)).with_status(refusal.status()).into_response()
    }
}
