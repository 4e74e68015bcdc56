//! Explains how to fix a mistake in each web framework.

use super::{BodyEncoding, BodyRewrite, HeaderMistake, Mistake, SecretMistake};

/// The web framework of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Framework {
    Express,
    Fastify,
    Next,
    FastApi,
    Flask,
    Django,
    Go,
    Axum,
    Rails,
    Php,
    AspNet,
    Spring,
}

/// How to read the raw body of a request in each framework.
const RAW_BODY: [(Framework, &str, &str); 12] = [
    (
        Framework::Express,
        "Express",
        "put app.use('/events', express.raw({ type: '*/*' })) above express.json(), and verify req.body, a Buffer",
    ),
    (
        Framework::Fastify,
        "Fastify",
        "fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => done(null, \
         body)), and verify request.body",
    ),
    (Framework::Next, "Next.js, Hono, Fetch API", "verify await request.text(), and JSON.parse it afterwards"),
    (Framework::FastApi, "FastAPI, Starlette", "verify await request.body(), and json.loads it afterwards"),
    (Framework::Flask, "Flask", "verify request.get_data(), before request.json or request.form"),
    (Framework::Django, "Django", "verify request.body, before request.POST"),
    (Framework::Go, "Go", "body, err := io.ReadAll(r.Body), verify body, and json.Unmarshal it afterwards"),
    (Framework::Axum, "axum", "take the body as axum::body::Bytes and not as Json"),
    (Framework::Rails, "Rails", "verify request.raw_post"),
    (Framework::Php, "PHP, Laravel", "verify file_get_contents('php://input'), in Laravel $request->getContent()"),
    (Framework::AspNet, "ASP.NET", "call Request.EnableBuffering() and verify the bytes of Request.Body"),
    (Framework::Spring, "Spring", "take the body as @RequestBody byte[]"),
];

impl Framework {
    /// Detects the framework by the response headers `Server` and `X-Powered-By`.
    #[must_use]
    pub fn detect(server: Option<&str>, powered_by: Option<&str>) -> Option<Self> {
        let signs = [
            ("express", Self::Express),
            ("next.js", Self::Next),
            ("uvicorn", Self::FastApi),
            ("hypercorn", Self::FastApi),
            ("werkzeug", Self::Flask),
            ("wsgiserver", Self::Django),
            ("php", Self::Php),
            ("phusion", Self::Rails),
            ("kestrel", Self::AspNet),
            ("asp.net", Self::AspNet),
        ];
        let texts = [powered_by, server].map(|text| text.unwrap_or_default().to_lowercase());
        signs.into_iter().find(|(sign, _)| texts.iter().any(|text| text.contains(sign))).map(|(_, found)| found)
    }
}

/// Returns instructions to fix a mistake: a sentence for the framework, or a sentence for each
/// likely framework.
#[must_use]
pub fn remedies(mistake: &Mistake, framework: Option<Framework>) -> Vec<String> {
    match mistake {
        Mistake::ParsedBody(_) | Mistake::NotBytes => {
            let rewrite = if let Mistake::ParsedBody(rewrite) = mistake { *rewrite } else { BodyRewrite::Empty };
            let frameworks = framework.as_ref().map_or(likely_frameworks(rewrite), std::slice::from_ref);
            let lines = RAW_BODY.iter().filter(|(of, ..)| frameworks.contains(of));
            lines.map(|(_, name, line)| format!("{name}: {line}")).collect()
        }
        Mistake::BodyEnd => vec!["Verify the bytes that came; an editor adds a line end to a file".to_owned()],
        Mistake::Secret(secret_mistake) => vec![secret_remedy(*secret_mistake).to_owned()],
        Mistake::OtherSecret(_) => {
            vec!["Set the secret that 'signpost domains secret DOMAIN' prints, and start the receiver again".to_owned()]
        }
        Mistake::EncodedBody(encoding) => vec![encoding_remedy(*encoding).to_owned()],
        Mistake::Header(header_mistake) => vec![header_remedy(*header_mistake).to_owned()],
    }
}

/// Returns the frameworks that serialize a parsed body in this way.
fn likely_frameworks(rewrite: BodyRewrite) -> &'static [Framework] {
    use Framework::{AspNet, Axum, Django, Express, FastApi, Fastify, Flask, Go, Next, Php, Rails, Spring};
    match rewrite {
        BodyRewrite::Compact => &[Express, Fastify, Next, Rails, Php, AspNet, Spring],
        BodyRewrite::ObjectName | BodyRewrite::IndentedByTwo => &[Express, Fastify, Next],
        BodyRewrite::Spaced | BodyRewrite::PythonText | BodyRewrite::SortedSpaced | BodyRewrite::IndentedByFour => {
            &[FastApi, Flask, Django]
        }
        BodyRewrite::HtmlEscaped => &[Go],
        BodyRewrite::Sorted => &[Go, Axum, Express, Flask, FastApi, Django],
        BodyRewrite::Empty => &[Express, Next, Flask, Django, Go, AspNet],
    }
}

fn secret_remedy(secret_mistake: SecretMistake) -> &'static str {
    match secret_mistake {
        SecretMistake::LineFeed | SecretMistake::LineEnd | SecretMistake::Space => {
            "Store it without the line end (printf %s, not echo), or cut it where it is read: .trim() in JavaScript and \
             Rust, .strip() in Python, strings.TrimSpace in Go"
        }
        SecretMistake::DoubleQuotes | SecretMistake::SingleQuotes => {
            "Remove the quotes where the secret is set: Docker's --env-file, for example, keeps them"
        }
        SecretMistake::LeadingSpace => {
            "Store it without the space, or cut it where it is read: .trim() in JavaScript and Rust, .strip() in Python, \
             strings.TrimSpace in Go"
        }
        SecretMistake::ByteOrderMark => "Save the file in UTF-8 without a byte order mark",
        SecretMistake::VariableName => "Set only the text behind =, from whsec_ on",
        SecretMistake::Bearer => "The secret is sent nowhere, so it has no scheme: set only the text from whsec_ on",
        SecretMistake::Version => "v1, belongs to webhook-signature: set only the text from whsec_ on",
        SecretMistake::UrlSafe => "Set the secret as the service shows it: its base64 has + and /",
        SecretMistake::PercentEncoded => "Set the secret as the service shows it, without the escapes of URLs",
        SecretMistake::NoPrefix => "X-Svc-Signature is keyed with the whole text, whsec_ included",
        SecretMistake::Decoded => {
            "X-Svc-Signature is keyed with the text as it is shown; only webhook-signature is keyed with the bytes behind \
             whsec_"
        }
        SecretMistake::WholeText => {
            "webhook-signature is keyed with the bytes that the base64 behind whsec_ stands for; only X-Svc-Signature is \
             keyed with the text"
        }
    }
}

fn encoding_remedy(encoding: BodyEncoding) -> &'static str {
    match encoding {
        BodyEncoding::Base64 => {
            "Decode the body before its signature is verified: API gateways set isBase64Encoded, and Node.js decodes with \
             Buffer.from(event.body, 'base64')"
        }
        BodyEncoding::JsonString => {
            "Verify the text that came, and parse it afterwards; JSON.stringify of a text adds quotes"
        }
        BodyEncoding::PythonBytes => "Pass the bytes to the HMAC, not str(body)",
        BodyEncoding::ByteOrderMark => "Verify the bytes that came; an editor adds a byte order mark to a file",
        BodyEncoding::CarriageReturns => "Verify the bytes that came; editors and Git on Windows change line breaks",
        BodyEncoding::Latin1 | BodyEncoding::Utf16 => {
            "Verify the bytes that came; if your framework gives a text, encode it as UTF-8"
        }
    }
}

fn header_remedy(header_mistake: HeaderMistake) -> &'static str {
    match header_mistake {
        HeaderMistake::Base64 => "Compare X-Svc-Signature with the HMAC in lower-case hex, not in base64",
        HeaderMistake::Prefixed => "Compare X-Svc-Signature with the hex alone: it has no prefix sha256=",
        HeaderMistake::UpperCase => "Compare X-Svc-Signature with lower-case hex",
        HeaderMistake::Quoted => "Compare the value of the header without quotes",
        HeaderMistake::NoVersion => {
            "Compare each entry of webhook-signature, which are separated by spaces, with v1, and the base64 of the HMAC"
        }
        HeaderMistake::SvixNames => "Read webhook-id, webhook-timestamp and webhook-signature",
        HeaderMistake::Milliseconds => "webhook-timestamp is in seconds, and is signed as it came",
    }
}
