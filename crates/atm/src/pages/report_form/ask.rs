//! The question "Is this right?" on the page of an ATM. It starts a report. It is a `GET` form without a CSRF token, so
//! the page of the ATM is identical for all users.

use maud::{Markup, html};
use signpost_locator::AtmId;
use signpost_platform::origin::PublicOrigin;
use signpost_platform::pages::Language;

use super::words::report_words;
use crate::pages::words::capitalized;
use crate::reports::Finding;

/// Renders the question as a form that leads to the report form. The caller renders the heading above it.
pub(crate) fn ask(atm: AtmId, language: Language, origin: &PublicOrigin) -> Markup {
    let words = report_words(language);
    html! {
        form.stack method="get" action=(origin.link(&format!("/atm/{atm}/report"))) {
            input type="hidden" name="lang" value=(language.tag());
            fieldset {
                legend.soft { (words.promise) }
                div.grid2 {
                    @for seen in Finding::ALL {
                        label.choice { input type="radio" name="seen" value=(seen.as_str()) required; (capitalized((words.claim)(seen))) }
                    }
                }
            }
            p { button.btn { (words.go_on) } }
        }
    }
}
