use reqwest::Method;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use super::machines::{AreaStatus, AtmDetails, AtmList, CityAtms};
use super::searches::{AtmSearch, CitySearch, StatusSearch};
use super::transport::ApiCall;
use super::{Signpost, SignpostError};

/// Calls of the locator's tools; [`Signpost::atms`] has them. They go to `/mcp` at the origin of the base URL.
#[derive(Clone, Copy, Debug)]
pub struct Atms<'a>(pub(super) &'a Signpost);

/// A reply of JSON-RPC.
#[derive(Deserialize)]
struct ToolReply {
    result: Option<ToolOutcome>,
    error: Option<ToolFault>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolOutcome {
    #[serde(default)]
    content: Vec<ToolText>,
    #[serde(default)]
    is_error: bool,
    structured_content: Option<Value>,
}

#[derive(Deserialize)]
struct ToolText {
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
struct ToolFault {
    code: i64,
    message: String,
}

impl Atms<'_> {
    /// `find_nearest_bitcoin_atm`: the machines nearest to a place or coordinates.
    ///
    /// # Errors
    /// `mcp_error` for arguments that the locator does not take, `tool_error` for a place that it does not find.
    pub async fn nearest(&self, search: &AtmSearch) -> Result<AtmList, SignpostError> {
        self.use_tool("find_nearest_bitcoin_atm", search).await
    }

    /// `get_atm_details`: a whole record.
    ///
    /// # Errors
    /// `tool_error` where there is none.
    pub async fn get(&self, atm_id: u64) -> Result<AtmDetails, SignpostError> {
        self.use_tool("get_atm_details", &json!({ "atmId": atm_id })).await
    }

    /// `check_atm_status`: how many machines of an area have each status, and the nearest.
    ///
    /// # Errors
    /// As [`Atms::nearest`].
    pub async fn status(&self, search: &StatusSearch) -> Result<AreaStatus, SignpostError> {
        self.use_tool("check_atm_status", search).await
    }

    /// `list_atms_by_city`: the machines of a city, in pages.
    ///
    /// # Errors
    /// As [`Atms::nearest`].
    pub async fn list_by_city(&self, search: &CitySearch) -> Result<CityAtms, SignpostError> {
        self.use_tool("list_atms_by_city", search).await
    }

    /// The address to give to an assistant.
    #[must_use]
    pub fn mcp_url(&self) -> Url {
        let mut url = self.0.base.clone();
        url.set_path("/mcp");
        url
    }

    async fn use_tool<T: DeserializeOwned>(&self, name: &str, arguments: &impl Serialize) -> Result<T, SignpostError> {
        let params = json!({ "name": name, "arguments": arguments });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let reply = self.0.send(ApiCall::new(Method::POST, self.mcp_url()).open().json(&message)?).await?;
        let ToolReply { result, error } = reply.parse()?;
        if let Some(ToolFault { code, message }) = error {
            let mut error = reply.told("mcp_error", &message);
            error.details.insert("code".to_owned(), code.into());
            return Err(error);
        }
        let outcome = result.ok_or_else(|| reply.not_as_promised("it has neither a result nor an error"))?;
        if outcome.is_error {
            let texts: Vec<_> = outcome.content.into_iter().map(|content| content.text).collect();
            return Err(reply.told("tool_error", &texts.join("\n")));
        }
        let content = outcome.structured_content.unwrap_or_default();
        serde_json::from_value(content).map_err(|error| reply.not_as_promised(error))
    }
}
