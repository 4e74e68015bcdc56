//! Information about the browser that requested a code, as the integrator reports it. Wallets show
//! it to the user before signing.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use signpost_platform::web::problem::Problem;

/// Maximum characters of a user agent.
const MAX_USER_AGENT_LEN: usize = 256;

/// The browser that requested a code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requester {
    /// The client IP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<IpAddr>,
    /// The country of the client IP, two capital letters (ISO 3166-1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// The `User-Agent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
}

/// A [`Requester`] in a request, unchecked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of Requester")]
pub struct RequesterBody {
    pub ip: Option<String>,
    pub country: Option<String>,
    pub user_agent: Option<String>,
}

impl Requester {
    /// Creates the requester with this `User-Agent`, shortened and without control characters.
    #[must_use]
    pub fn from_user_agent(text: Option<&str>) -> Self {
        let user_agent = text.map(|text| text.chars().filter(|c| !c.is_control()).take(MAX_USER_AGENT_LEN).collect());
        Self { user_agent, ..Self::default() }
    }
}

impl TryFrom<RequesterBody> for Requester {
    type Error = Problem;

    fn try_from(RequesterBody { ip, country, user_agent }: RequesterBody) -> Result<Self, Problem> {
        let ip = match ip {
            Some(text) => Some(text.parse().map_err(|_| Problem::field("requester.ip", "must be an IP address"))?),
            None => None,
        };
        if let Some(text) = &country
            && !(text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_uppercase()))
        {
            return Err(Problem::field("requester.country", "must be two capital letters such as US"));
        }
        if let Some(text) = &user_agent
            && (text.chars().count() > MAX_USER_AGENT_LEN || text.chars().any(char::is_control))
        {
            let reason = "must have at most 256 characters, none of them a control character";
            return Err(Problem::field("requester.user_agent", reason));
        }
        Ok(Self { ip, country, user_agent })
    }
}
