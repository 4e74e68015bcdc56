//! Who asked for a code, as the integrator saw it: a wallet shows it to the person who is about to sign.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use signpost_platform::web::Fields;
use signpost_platform::web::problem::Problem;

/// Most characters of what a browser says of itself.
const MAX_USER_AGENT_LEN: usize = 256;

/// The browser that was shown a code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requester {
    /// Its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<IpAddr>,
    /// The country that address seems to be in, two capital letters (ISO 3166-1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// What it says of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
}

impl Requester {
    /// A browser, by what it says of itself to us.
    #[must_use]
    pub fn of_user_agent(text: Option<&str>) -> Self {
        let said = |text: &str| text.chars().filter(|c| !c.is_control()).take(MAX_USER_AGENT_LEN).collect();
        Self { user_agent: text.map(said), ..Self::default() }
    }

    /// Reads the object of a request.
    ///
    /// # Errors
    /// The member that is wrong and why.
    pub fn parse(object: &str) -> Result<Self, Problem> {
        let mut fields = Fields::parse(object.as_bytes())?;
        let mut text = |member| fields.optional_text(member).map_err(|error| error.within("requester"));
        let (ip, country, user_agent) = (text("ip")?, text("country")?, text("user_agent")?);
        fields.done().map_err(|error| error.within("requester"))?;
        let wrong = |member: &str, reason: &str| Problem::field(format!("requester.{member}"), reason);
        let ip = ip.map(|text| text.parse()).transpose().map_err(|_| wrong("ip", "must be an IP address"))?;
        let is_country = |text: &String| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_uppercase());
        if country.as_ref().is_some_and(|text| !is_country(text)) {
            return Err(wrong("country", "must be two capital letters such as US"));
        }
        let is_shown =
            |text: &String| text.chars().count() <= MAX_USER_AGENT_LEN && !text.chars().any(char::is_control);
        if user_agent.as_ref().is_some_and(|text| !is_shown(text)) {
            return Err(wrong("user_agent", "must have at most 256 characters, none of them a control character"));
        }
        Ok(Self { ip, country, user_agent })
    }
}
