use crate::call::{Call, CallError};
use crate::content::Output;
use crate::context::Context;
use crate::fault::{RpcFault, quoted};
use crate::json::StrictObject;
use crate::list::PagedList;
use crate::message::Params;
use crate::mirrored_argument::MirroredArgument;
use crate::outcome::{CallOutcome, call_outcome};
use crate::response::ToolResult;
use crate::revision::Revision;
use crate::tool::{Arguments, NormalizeArguments, Tool};

/// The tools of a server, in the order of the list.
#[derive(Debug)]
pub(crate) struct Tools<S> {
    all: Vec<(Tool<S>, Vec<MirroredArgument>)>,
    pub(crate) listed: PagedList,
    /// The conversion of arguments that are read leniently.
    pub(crate) normalize: Option<NormalizeArguments>,
}

impl<S> Default for Tools<S> {
    fn default() -> Self {
        Self { all: Vec::new(), listed: PagedList::new("tools"), normalize: None }
    }
}

impl<S> Tools<S> {
    pub(crate) fn add(&mut self, tool: Tool<S>) {
        let name = tool.name;
        assert!(is_tool_name(name), "{name:?} is not a valid tool name");
        assert!(self.find(name).is_none(), "two tools are called {name:?}");
        self.listed.push(tool.listed());
        let mirrored = MirroredArgument::from_schema(&tool.input_schema);
        self.all.push((tool, mirrored));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Tool<S>> {
        self.all.iter().map(|(tool, _)| tool)
    }

    fn find(&self, name: &str) -> Option<&(Tool<S>, Vec<MirroredArgument>)> {
        self.all.iter().find(|(tool, _)| tool.name == name)
    }

    fn named(&self, params: &Params<'_>, revision: Revision) -> Result<&(Tool<S>, Vec<MirroredArgument>), RpcFault> {
        let name = params.name("a tool", revision).map_err(|fault| fault.with_advice(&self.advice()))?;
        self.find(&name).ok_or_else(|| {
            RpcFault::params(format!("params.name: there is no tool {}; {}", quoted(&name), self.advice()))
        })
    }

    fn advice(&self) -> String {
        let names: Vec<_> = self.iter().map(|tool| tool.name).collect();
        match self.all.first() {
            Some((tool, _)) => format!("the tools are {}; {}", names.join(", "), tool.example()),
            None => "this server has none".to_owned(),
        }
    }
}

impl<S: Sync> Tools<S> {
    pub(crate) async fn call(
        &self,
        state: &S,
        context: &Context<'_>,
        params: &Params<'_>,
        call: &Call<'_>,
    ) -> Result<CallOutcome<ToolResult>, RpcFault> {
        let (tool, mirrored) = self.named(params, call.revision)?;
        let result = match arguments(tool, params, call.revision) {
            Ok(arguments) => {
                if context.headers_required && call.revision.is_stateless() {
                    mirrored.iter().try_for_each(|mirrored| mirrored.check(&arguments, context.headers))?;
                }
                self.run(tool, state, arguments, call).await
            }
            Err(ArgumentsError::Value(detail)) => Err(CallError::InvalidArgument(detail)),
            Err(ArgumentsError::Request(fault)) => return Err(fault),
        };
        match result {
            Err(CallError::InvalidArgument(detail)) if call.revision >= Revision::V2025_11_25 => {
                Ok(CallOutcome::Done(ToolResult::Failure(RpcFault::params(detail).message())))
            }
            Err(CallError::Failed(text)) => Ok(CallOutcome::Done(ToolResult::Failure(text))),
            Ok(output) => Ok(CallOutcome::Done(ToolResult::Output(output))),
            Err(error) => call_outcome(Err(error), tool.name, call, RpcFault::params),
        }
    }

    /// Runs the handler, with converted arguments if they are read leniently.
    async fn run(&self, tool: &Tool<S>, state: &S, arguments: Arguments, call: &Call<'_>) -> Result<Output, CallError> {
        let Some(normalize) = self.normalize.filter(|_| call.params.reading.is_lenient()) else {
            return tool.call.run(state, &arguments, call).await;
        };
        let normalized = normalize(&tool.input_schema, arguments).map_err(CallError::InvalidArgument)?;
        let call = Call { notices: &normalized.notices, ..*call };
        tool.call.run(state, &normalized.arguments, &call).await
    }
}

/// An error of the arguments of a call.
#[derive(Debug)]
enum ArgumentsError {
    /// The request has the wrong shape.
    Request(RpcFault),
    /// A value is JSON that cannot be represented: a bad argument.
    Value(String),
}

/// Checks a tool name: 1 to 128 characters of `A-Z a-z 0-9 _ - .`.
fn is_tool_name(name: &str) -> bool {
    (1..=128).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}

/// Returns the arguments of a call.
fn arguments<S>(tool: &Tool<S>, params: &Params<'_>, revision: Revision) -> Result<Arguments, ArgumentsError> {
    let Some(sent) = params.arguments else { return Ok(Arguments::new()) };
    let json = params.reading.object_json(sent).map_err(|got| {
        let detail = format!("params.arguments must be an object, got {got}; {}", tool.example());
        ArgumentsError::Request(RpcFault::malformed(revision, detail))
    })?;
    match serde_json::from_str::<StrictObject>(&json) {
        Ok(StrictObject { repeated: Some(name), .. }) => {
            let name = quoted(&name);
            let detail = format!("params.arguments has {name} twice; send it once, {}", tool.example());
            Err(ArgumentsError::Request(RpcFault::request(detail)))
        }
        Ok(object) => Ok(object.members),
        // serde_json has no kind for this error; a test checks the text.
        Err(e) if e.to_string().starts_with("recursion limit") => {
            let detail = "params.arguments is nested more than 127 levels deep; flatten it";
            Err(ArgumentsError::Request(RpcFault::request(detail)))
        }
        Err(e) => Err(ArgumentsError::Value(format!("params.arguments: {e}; {}", tool.example()))),
    }
}
