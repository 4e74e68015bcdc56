//! Checks posted forms of account pages: the form must come from a page of this server that was
//! rendered for this browser, and the user must be signed in.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Result;
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::form::{PostedForm, PostedFormError};

use super::context::{AccountContext, SignedInAccount};
use super::outcomes;

impl AccountContext {
    /// Reads a posted form, and checks that this server rendered it for this browser and purpose.
    pub(super) async fn receive(&self, request: Request, purpose: &str) -> Result<PostedForm> {
        let form = self.receive_unchecked(request).await?;
        self.check(&form, purpose).map_err(|refusal| self.refuse(refusal))?;
        Ok(form)
    }

    /// Reads a posted form from a page of this server. Callers must [check](Self::check) its
    /// purpose.
    pub(super) async fn receive_unchecked(&self, request: Request) -> Result<PostedForm> {
        PostedForm::receive(&self.service.origin, request).await.map_err(|refusal| self.refuse(refusal).into())
    }

    /// Returns the account. The error is a page with a login form.
    pub(super) async fn require_account(&self) -> Result<SignedInAccount> {
        let Some(account) = self.find_account().await? else {
            let document = outcomes::render_not_signed_in(self);
            return Err(self.page(document).with_status(StatusCode::FORBIDDEN).into());
        };
        Ok(account)
    }

    /// Returns the account if its user logged in recently enough to change keys. The error is a page with a login form.
    pub(super) async fn require_recent_login(&self) -> Result<SignedInAccount> {
        let account = self.require_account().await?;
        if !account.sign_in.proof.is_fresh(self.now) {
            let document = outcomes::render_old_login(self, &account);
            return Err(self.page(document).with_status(StatusCode::FORBIDDEN).into());
        }
        Ok(account)
    }

    /// Returns the page for a refused form.
    pub(super) fn refuse(&self, refusal: PostedFormError) -> HtmlPage {
        HtmlPage::personal(outcomes::render_stale(self)).with_status(refusal.status())
    }
}
