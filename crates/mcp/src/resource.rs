//! Resources and resource templates that clients can list, complete and read.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::completion::{Complete, Completion, StringMap, unknown};
use crate::content::{Contents, Icon};
use crate::fault::{RpcFault, quoted};
use crate::handler::Handler;
use crate::list::PagedList;
use crate::message::Params;
use crate::outcome::{CallOutcome, call_outcome};
use crate::response::Cacheable;
use crate::revision::Revision;

/// A resource that clients can read.
#[derive(Debug)]
pub struct Resource<S> {
    /// The URI, or a URI template with variables (`notes://{folder}/{note}`, RFC 6570 level 1). A variable matches one
    /// or more characters other than `/`, and its value is percent-decoded.
    pub uri: &'static str,
    /// The name for programs.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// A description of the content and its use.
    pub description: &'static str,
    /// The media type of the content.
    pub mime_type: &'static str,
    /// The icons.
    pub icons: Vec<Icon>,
    /// The `_meta` member for protocol extensions, in the list and in the content. Omitted if empty.
    pub meta: Map<String, Value>,
    /// The completion functions of the variables, by name.
    pub completions: Vec<(&'static str, Complete<S>)>,
    /// The handler that reads the resource, given its variables. [`CallError::Failed`](crate::CallError::Failed) means
    /// that the resource does not exist.
    pub read: Handler<S, StringMap, Contents>,
}

/// The resources of a server.
#[derive(Debug)]
pub(crate) struct Resources<S> {
    all: Vec<Resource<S>>,
    pub(crate) listed: PagedList,
    pub(crate) templates: PagedList,
}

impl<S> Resource<S> {
    fn is_template(&self) -> bool {
        self.uri.contains('{')
    }

    fn entry(&self) -> Value {
        let uri_member = if self.is_template() { "uriTemplate" } else { "uri" };
        let mut entry = json!({
            uri_member: self.uri, "name": self.name, "title": self.title,
            "description": self.description, "mimeType": self.mime_type,
        });
        if !self.icons.is_empty() {
            entry["icons"] = json!(self.icons);
        }
        if !self.meta.is_empty() {
            entry["_meta"] = json!(self.meta);
        }
        entry
    }

    /// Returns the values of the variables, if `uri` matches this template.
    fn variables(&self, uri: &str) -> Option<StringMap> {
        let mut template = self.uri;
        let mut rest = uri;
        let mut variables = StringMap::new();
        while let Some((literal, after)) = template.split_once('{')
            && let Some((name, after)) = after.split_once('}')
        {
            rest = rest.strip_prefix(literal)?;
            let segment = &rest[..rest.find('/').unwrap_or(rest.len())];
            let next = after.split('{').next().unwrap_or_default();
            let end = if next.is_empty() || next.starts_with('/') { segment.len() } else { segment.find(next)? };
            let value = percent_decode_str(&rest[..end]).decode_utf8().ok()?;
            if value.is_empty() {
                return None;
            }
            variables.insert(name.to_owned(), value.into_owned());
            template = after;
            rest = &rest[end..];
        }
        (template == rest).then_some(variables)
    }
}

impl<S> Default for Resources<S> {
    fn default() -> Self {
        Self { all: Vec::new(), listed: PagedList::new("resources"), templates: PagedList::new("resourceTemplates") }
    }
}

impl<S> Resources<S> {
    pub(crate) fn add(&mut self, resource: Resource<S>) {
        assert!(self.all.iter().all(|other| other.uri != resource.uri), "two resources are at {:?}", resource.uri);
        let list = if resource.is_template() { &mut self.templates } else { &mut self.listed };
        list.push(resource.entry());
        self.all.push(resource);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn has_completions(&self) -> bool {
        self.all.iter().any(|resource| !resource.completions.is_empty())
    }

    pub(crate) fn complete(
        &self,
        state: &S,
        uri: &str,
        (argument, typed): (&str, &str),
        known: &StringMap,
    ) -> Result<Completion, RpcFault> {
        let Some(resource) = self.all.iter().find(|resource| resource.uri == uri) else {
            return Err(unknown("the resource", uri));
        };
        match resource.completions.iter().find(|(name, _)| *name == argument) {
            Some((_, complete)) => Ok(complete(state, typed, known)),
            None if resource.uri.contains(&format!("{{{argument}}}")) => Ok(Completion::default()),
            None => Err(unknown("the variable", argument)),
        }
    }
}

impl<S: Sync> Resources<S> {
    pub(crate) async fn read(
        &self,
        state: &S,
        params: &Params<'_>,
        call: &Call<'_>,
    ) -> Result<CallOutcome<Value>, RpcFault> {
        let uri = params.uri(call.revision)?;
        let found = self.all.iter().find_map(|resource| Some((resource, resource.variables(&uri)?)));
        let Some((resource, variables)) = found else {
            let reason = "the lists of resources and templates have all";
            return Err(RpcFault::no_resource(call.revision, &uri, reason));
        };
        let read = resource.read.run(state, &variables, call).await;
        let outcome =
            call_outcome(read, resource.name, call, |reason| RpcFault::no_resource(call.revision, &uri, &reason))?;
        Ok(match outcome {
            CallOutcome::Done(contents) => {
                let mut item = contents.listed(&uri, resource.mime_type);
                if !resource.meta.is_empty() {
                    item["_meta"] = json!(resource.meta);
                }
                let mut result = json!({ "contents": [item] });
                if call.revision.is_stateless() {
                    Cacheable::mark(&mut result);
                }
                CallOutcome::Done(result)
            }
            CallOutcome::Input(asked) => CallOutcome::Input(asked),
        })
    }
}

impl RpcFault {
    fn no_resource(revision: Revision, uri: &str, reason: &str) -> Self {
        Self::resource(revision, uri, format!("there is no resource {}; {reason}", quoted(uri)))
    }
}
