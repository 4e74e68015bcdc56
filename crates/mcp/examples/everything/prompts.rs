//! The prompts for the conformance suite: with and without arguments, with a resource, with a picture, and with an
//! input request.

use signpost_mcp::{
    Call, CallError, Content, Contents, Handler, InputRequired, Prompt, PromptArgument, PromptMessage, Role, StringMap,
};

use crate::Everything;
use crate::input::form;
use crate::tools::PICTURE;

pub(crate) fn all() -> Vec<Prompt<Everything>> {
    vec![
        prompt(
            "test_simple_prompt",
            &[],
            Handler::Sync(|_, _, _| Ok(vec![PromptMessage::user("This is a simple prompt for testing.")])),
        ),
        prompt(
            "test_prompt_with_arguments",
            &["arg1", "arg2"],
            Handler::Sync(|_, arguments, _| {
                let text = format!("Prompt with arguments: arg1='{}', arg2='{}'", arguments["arg1"], arguments["arg2"]);
                Ok(vec![PromptMessage::user(text)])
            }),
        ),
        prompt(
            "test_prompt_with_embedded_resource",
            &["resourceUri"],
            Handler::Sync(|_, arguments, _| {
                let contents = Contents::Text("Embedded resource content for testing.".into());
                let uri = arguments["resourceUri"].clone();
                let content = Content::Resource { uri, mime_type: "text/plain".into(), contents };
                let asked = PromptMessage::user("Please process the embedded resource above.");
                Ok(vec![PromptMessage { role: Role::User, content }, asked])
            }),
        ),
        prompt(
            "test_prompt_with_image",
            &[],
            Handler::Sync(|_, _, _| {
                let content = Content::Image { data: PICTURE.to_vec(), mime_type: "image/png".into() };
                Ok(vec![
                    PromptMessage { role: Role::User, content },
                    PromptMessage::user("Please analyze the image above."),
                ])
            }),
        ),
        prompt("test_input_required_result_prompt", &[], Handler::Sync(|_, _, call| in_context(call))),
    ]
}

fn in_context(call: &Call<'_>) -> Result<Vec<PromptMessage>, CallError> {
    let form = form("What context should the prompt use?", "context", "string");
    let missing =
        || CallError::InputRequired(InputRequired::new().request("user_context", "elicitation/create", &form));
    let answer = call.input("user_context").ok_or_else(missing)?;
    Ok(vec![PromptMessage::user(format!("In the context of {}", answer["content"]["context"]))])
}

fn prompt(
    name: &'static str,
    arguments: &[&'static str],
    get: Handler<Everything, StringMap, Vec<PromptMessage>>,
) -> Prompt<Everything> {
    let argument = |name: &&'static str| PromptArgument {
        name,
        title: name,
        description: "For testing",
        required: true,
        complete: Some(|_, typed, _| {
            let all = ["paris", "park", "party"];
            all.into_iter().filter(|one| one.starts_with(typed)).collect()
        }),
    };
    let arguments = arguments.iter().map(argument).collect();
    Prompt { name, title: name, description: "For testing", arguments, icons: Vec::new(), get }
}
