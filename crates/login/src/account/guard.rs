//! Checks of posted forms: the form comes from a page of this server, for this browser, and the user is signed in.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Result;
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::form::{PostedForm, PostedFormError};

use super::context::{AccountContext, OwnAccount};
use super::outcomes;

impl AccountContext {
    /// Reads a form, and checks that a page of this server has it for this browser and purpose.
    pub(super) async fn receive(&self, request: Request, purpose: &str) -> Result<PostedForm> {
        let form = self.receive_unchecked(request).await?;
        self.check(&form, purpose).map_err(|refusal| self.refuse(refusal))?;
        Ok(form)
    }

    /// Reads a form of a page of this server. Callers must [check](Self::check) its purpose.
    pub(super) async fn receive_unchecked(&self, request: Request) -> Result<PostedForm> {
        PostedForm::receive(&self.service.origin, request).await.map_err(|refusal| self.refuse(refusal).into())
    }

    /// Returns the account. The error is a page with a login form.
    pub(super) async fn require_own(&self) -> Result<OwnAccount> {
        let Some(own) = self.find_own().await? else {
            let document = outcomes::render_not_signed_in(self);
            return Err(self.page(document).with_status(StatusCode::FORBIDDEN).into());
        };
        Ok(own)
    }

    /// Returns the account if its user logged in recently enough to change keys. The error is a page with a login form.
    pub(super) async fn require_recent_login(&self) -> Result<OwnAccount> {
        let own = self.require_own().await?;
        if !own.sign_in.proof.is_fresh(self.now) {
            let document = outcomes::render_old_login(self, &own);
            return Err(self.page(document).with_status(StatusCode::FORBIDDEN).into());
        }
        Ok(own)
    }

    /// Returns the page for a refused form.
    pub(super) fn refuse(&self, refusal: PostedFormError) -> HtmlPage {
        HtmlPage::personal(outcomes::render_stale(self)).with_status(refusal.status())
    }
}
