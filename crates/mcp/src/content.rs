//! The content of tool results, prompts and resources, and icons.

use data_encoding::BASE64;
use serde::Serialize;
use serde_json::{Value, json};

use crate::call::CallError;
use crate::structured::Structured;

/// The icon of a server, a tool, a resource or a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Icon {
    /// An `https:` or `data:` URI.
    pub src: String,
    /// The format, such as `image/svg+xml`.
    pub mime_type: String,
    /// The sizes, such as `48x48`, or `any`.
    pub sizes: Vec<String>,
}

/// The output of a tool.
#[derive(Clone, Debug)]
pub enum Output {
    /// A value, sent as `structuredContent` and as text.
    Structured(Structured),
    /// Content for people and models.
    Content(Vec<Content>),
}

/// A part of the content of a tool result or prompt message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A text.
    Text(String),
    /// A picture.
    Image {
        /// Its bytes.
        data: Vec<u8>,
        /// Their format, such as `image/png`.
        mime_type: String,
    },
    /// A sound.
    Audio {
        /// Its bytes.
        data: Vec<u8>,
        /// Their format, such as `audio/wav`.
        mime_type: String,
    },
    /// The content of a resource.
    Resource {
        /// The URI of the resource.
        uri: String,
        /// Its format.
        mime_type: String,
        /// Its content.
        contents: Contents,
    },
    /// A link to a resource.
    Link {
        /// The URI of the resource.
        uri: String,
        /// The name of the resource.
        name: String,
        /// Its format.
        mime_type: String,
    },
}

/// The content of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// A text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

impl Output {
    /// Creates a structured output from a value that serializes as a JSON object.
    ///
    /// # Errors
    /// Returns the errors of [`Structured::render`].
    pub fn structured(value: &(impl Serialize + ?Sized)) -> Result<Self, CallError> {
        Structured::render(value).map(Self::Structured)
    }

    /// Creates an output that consists of this text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Content(vec![Content::Text(text.into())])
    }
}

impl Contents {
    /// Returns the content as an entry of the `contents` of a `resources/read` result.
    pub(crate) fn listed(&self, uri: &str, mime_type: &str) -> Value {
        match self {
            Self::Text(text) => json!({ "uri": uri, "mimeType": mime_type, "text": text }),
            Self::Blob(bytes) => json!({ "uri": uri, "mimeType": mime_type, "blob": BASE64.encode(bytes) }),
        }
    }
}

impl Serialize for Content {
    fn serialize<T: serde::Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let value = match self {
            Self::Text(text) => json!({ "type": "text", "text": text }),
            Self::Image { data, mime_type } => {
                json!({ "type": "image", "data": BASE64.encode(data), "mimeType": mime_type })
            }
            Self::Audio { data, mime_type } => {
                json!({ "type": "audio", "data": BASE64.encode(data), "mimeType": mime_type })
            }
            Self::Resource { uri, mime_type, contents } => {
                json!({ "type": "resource", "resource": contents.listed(uri, mime_type) })
            }
            Self::Link { uri, name, mime_type } => {
                json!({ "type": "resource_link", "uri": uri, "name": name, "mimeType": mime_type })
            }
        };
        value.serialize(serializer)
    }
}
