//! The resources for the conformance suite: a text, binary data, and a template.

use serde_json::{Map, json};
use signpost_mcp::{Contents, Handler, Resource, StringMap};

use crate::Everything;
use crate::tools::PICTURE;

pub(crate) fn all() -> Vec<Resource<Everything>> {
    let text = Handler::Sync(|_: &_, _: &_, _: &_| {
        Ok(Contents::Text("This is the content of the static text resource.".into()))
    });
    let watched = Handler::Sync(|_: &_, _: &_, _: &_| Ok(Contents::Text("Nothing here changes.".into())));
    let data = Handler::Sync(|_: &_, variables: &StringMap, _: &_| {
        let id = &variables["id"];
        let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
        Ok(Contents::Text(data.to_string()))
    });
    let mut template = resource("test://template/{id}/data", "template", "application/json", data);
    template.completions.push(("id", |_, typed, _| {
        ["alpha", "beta", "gamma"].into_iter().filter(|id| id.starts_with(typed)).collect()
    }));
    let bytes = Handler::Sync(|_: &_, _: &_, _: &_| Ok(Contents::Blob(PICTURE.to_vec())));
    vec![
        resource("test://static-text", "static-text", "text/plain", text),
        resource("test://static-binary", "static-binary", "image/png", bytes),
        resource("test://watched-resource", "watched-resource", "text/plain", watched),
        template,
    ]
}

fn resource(
    uri: &'static str,
    name: &'static str,
    mime_type: &'static str,
    read: Handler<Everything, StringMap, Contents>,
) -> Resource<Everything> {
    let (title, description) = (name, "For testing");
    Resource {
        uri,
        name,
        title,
        description,
        mime_type,
        icons: Vec::new(),
        meta: Map::new(),
        completions: Vec::new(),
        read,
    }
}
