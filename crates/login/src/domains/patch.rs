//! The change of a domain's properties.

use serde_json::{Map, Value, json};
use url::Url;

use super::{DisplayName, Domain, EventSelection, HandlerKind, LoginMethods, Registration};

/// The changed properties of a domain; `None` leaves a property unchanged.
#[derive(Debug, Default)]
pub struct DomainPatch {
    /// The webhook for wallets' answers.
    pub webhook_url: Option<Url>,
    /// The URL for events; `Some(None)` removes it.
    pub event_url: Option<Option<Url>>,
    /// The handler of wallets' answers.
    pub handler: Option<HandlerKind>,
    /// The login methods.
    pub methods: Option<LoginMethods>,
    /// The registration of new users.
    pub registration: Option<Registration>,
    /// The name for users; `Some(None)` removes it.
    pub display_name: Option<Option<DisplayName>>,
    /// The selected kinds of events; `Some(None)` restores the default.
    pub events: Option<Option<EventSelection>>,
}

impl DomainPatch {
    /// Returns true if a domain has all of these properties.
    #[must_use]
    pub fn is_applied_to(&self, domain: &Domain) -> bool {
        let Self { webhook_url, event_url, handler, methods, registration, display_name, events } = self;
        webhook_url.as_ref().is_none_or(|url| *url == domain.webhook_url)
            && event_url.as_ref().is_none_or(|url| *url == domain.event_url)
            && handler.is_none_or(|handler| handler == domain.handler)
            && (methods.is_none() || *methods == domain.methods)
            && registration.is_none_or(|registration| registration == domain.registration)
            && display_name.as_ref().is_none_or(|name| *name == domain.display_name)
            && events.as_ref().is_none_or(|events| *events == domain.events)
    }

    /// Returns true if the change sets nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.to_details().as_object().is_none_or(Map::is_empty)
    }

    /// Returns the properties that are set, by the names of the API, for the audit log and for requests.
    #[must_use]
    pub fn to_details(&self) -> Value {
        let Self { webhook_url, event_url, handler, methods, registration, display_name, events } = self;
        let set = [
            ("webhook_url", webhook_url.as_ref().map(|url| json!(url.as_str()))),
            ("event_url", event_url.as_ref().map(|url| json!(url.as_ref().map(Url::as_str)))),
            ("handler", handler.map(|handler| json!(handler))),
            ("methods", methods.as_ref().map(|methods| json!(methods))),
            ("registration", registration.map(|registration| json!(registration))),
            ("display_name", display_name.as_ref().map(|name| json!(name))),
            ("events", events.as_ref().map(|events| json!(events))),
        ];
        set.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect::<Map<_, _>>().into()
    }
}
