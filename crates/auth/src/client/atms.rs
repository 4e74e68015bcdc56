//! Calls of the ATM locator, which is an MCP server.

use reqwest::Method;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use super::atm_details::{AtmDetails, SeveralAtms};
use super::atm_types::{AreaStatus, AtmList, CityAtms};
use super::reports::{ImportOutcome, MachineReport, NewReport, Submission};
use super::searches::{AtmSearch, CitySearch, StatusSearch};
use super::transport::ApiCall;
use super::{ErrorCode, Signpost, SignpostError};

/// The calls of the ATM locator's tools, sent to `/mcp` at the origin of the base URL, and the calls
/// of the API about ATMs; see [`Signpost::atms`].
#[derive(Clone, Copy, Debug)]
pub struct Atms<'a>(pub(super) &'a Signpost);

/// A JSON-RPC response.
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
    /// Returns the ATMs nearest to a place or to coordinates.
    ///
    /// Calls the tool `find_nearest_bitcoin_atm`.
    ///
    /// # Errors
    /// Returns `mcp_error` for invalid arguments, or `tool_error` for an unknown place.
    pub async fn nearest(&self, search: &AtmSearch) -> Result<AtmList, SignpostError> {
        self.use_tool("find_nearest_bitcoin_atm", search).await
    }

    /// Returns all details of an ATM.
    ///
    /// Calls the tool `get_atm_details`.
    ///
    /// # Errors
    /// Returns `tool_error` for an unknown ID.
    pub async fn get(&self, atm_id: u64) -> Result<AtmDetails, SignpostError> {
        self.use_tool("get_atm_details", &json!({ "atmId": atm_id })).await
    }

    /// `get_atm_details`: returns all details of 1 to 20 machines.
    ///
    /// # Errors
    /// `mcp_error` for an invalid number of IDs, `tool_error` if all IDs are unknown.
    pub async fn get_many(&self, atm_ids: &[u64]) -> Result<SeveralAtms, SignpostError> {
        self.use_tool("get_atm_details", &json!({ "atmIds": atm_ids })).await
    }

    /// Returns the number of ATMs by status in an area, and the nearest ATMs.
    ///
    /// Calls the tool `check_atm_status`.
    ///
    /// # Errors
    /// Returns the errors of [`Atms::nearest`].
    pub async fn status(&self, search: &StatusSearch) -> Result<AreaStatus, SignpostError> {
        self.use_tool("check_atm_status", search).await
    }

    /// Returns a page of the ATMs of a city.
    ///
    /// Calls the tool `list_atms_by_city`.
    ///
    /// # Errors
    /// Returns the errors of [`Atms::nearest`].
    pub async fn list_by_city(&self, search: &CitySearch) -> Result<CityAtms, SignpostError> {
        self.use_tool("list_atms_by_city", search).await
    }

    /// Reports the state of an ATM without the API key, as a visitor.
    ///
    /// Sends `POST /atms/{id}/reports`.
    ///
    /// # Errors
    /// Returns `atm_not_found` for an unknown ID.
    pub async fn report(&self, atm_id: u64, report: &NewReport) -> Result<MachineReport, SignpostError> {
        self.0.fetch(self.report_call(atm_id, report)?.without_credential()).await
    }

    /// Reports the state of an ATM of the account's operator, with the API key.
    ///
    /// Sends `POST /atms/{id}/reports`.
    ///
    /// # Errors
    /// Returns `atm_not_found` for an unknown ID, or `atm_not_yours` for the ATM of another
    /// operator.
    pub async fn report_as_operator(&self, atm_id: u64, report: &NewReport) -> Result<MachineReport, SignpostError> {
        self.0.fetch(self.report_call(atm_id, report)?).await
    }

    /// Submits the ATMs of an operator. In the sandbox, nothing is stored.
    ///
    /// Sends `POST /atms/submissions`.
    ///
    /// # Errors
    /// Returns `insufficient_scope` if the API key does not belong to an operator of ATMs.
    pub async fn submit(&self, submission: &Submission) -> Result<ImportOutcome, SignpostError> {
        let call = self.0.call(Method::POST, &["atms", "submissions"])?.json(submission)?;
        self.0.fetch(call.not_idempotent()).await
    }

    fn report_call(self, atm_id: u64, report: &NewReport) -> Result<ApiCall, SignpostError> {
        let call = self.0.call(Method::POST, &["atms", &atm_id.to_string(), "reports"])?;
        Ok(call.json(report)?.not_idempotent())
    }

    /// Returns the URL of the MCP endpoint, to configure it in AI assistants.
    #[must_use]
    pub fn mcp_url(&self) -> Url {
        if let Some(url) = &self.0.mcp_url {
            return url.clone();
        }
        let mut url = self.0.base.clone();
        url.set_path("/mcp");
        url
    }

    async fn use_tool<T: DeserializeOwned>(&self, name: &str, arguments: &impl Serialize) -> Result<T, SignpostError> {
        let params = json!({ "name": name, "arguments": arguments });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let call = ApiCall::new(Method::POST, self.mcp_url()).for_locator(self.0.mcp_token.clone());
        let reply = self.0.send(call.json(&message)?).await?;
        let ToolReply { result, error } = reply.parse()?;
        if let Some(ToolFault { code, message }) = error {
            let mut error = reply.error(ErrorCode::McpError, &message);
            error.details.insert("code".to_owned(), code.into());
            return Err(error);
        }
        let Some(outcome) = result else {
            return Err(reply.unexpected("it has neither a result nor an error"));
        };
        if outcome.is_error {
            let texts: Vec<_> = outcome.content.into_iter().map(|content| content.text).collect();
            return Err(reply.error(ErrorCode::ToolError, &texts.join("\n")));
        }
        let content = outcome.structured_content.unwrap_or_default();
        serde_json::from_value(content).map_err(|error| reply.unexpected(error))
    }
}
