//! Configuration settings of the ATM locator, read from the configuration file.

use std::path::PathBuf;
use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use signpost_mcp::Origins;
use signpost_platform::limits::{self, Rate};
use signpost_platform::setting::{self, MAX_ITEMS, items};
use url::Url;

use super::places::geocoder::{GeocoderKind, GeocoderSettings};

/// The settings of the ATM locator. Each field corresponds to keys that are described in `config.default.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml is the reference")]
pub struct AtmSettings {
    #[serde(deserialize_with = "origins")]
    pub allowed_origins: Origins,
    #[serde(deserialize_with = "optional_file")]
    pub advisories: Option<PathBuf>,
    #[serde(deserialize_with = "optional_host_name")]
    pub card_domain: Option<String>,
    #[serde(deserialize_with = "external_geocoder")]
    pub external_geocoder: Option<GeocoderSettings>,
    #[serde(deserialize_with = "setting::duration::<_, 1_000, 1_800_000>")]
    pub feed_timeout: Duration,
}

/// The configuration keys of the external geocoder.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GeocoderKeys {
    geocoder: Option<GeocoderKind>,
    #[serde(deserialize_with = "setting::optional_server_url")]
    geocoder_url: Option<Url>,
    geocoder_key: Option<String>,
    #[serde(deserialize_with = "setting::duration::<_, 100, 30_000>")]
    geocoder_timeout: Duration,
    #[serde(deserialize_with = "limits::rate")]
    geocoder_rate_limit: Option<Rate>,
}

fn origins<'de, D: Deserializer<'de>>(from: D) -> Result<Origins, D::Error> {
    let text = String::deserialize(from)?;
    if items(&text).nth(MAX_ITEMS).is_some() {
        return Err(D::Error::custom(format_args!("there are more than {MAX_ITEMS} origins, the maximum")));
    }
    Origins::parse(items(&text)).map_err(D::Error::custom)
}

fn optional_file<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
    setting::optional(from, "the path of a file", |text| (!text.is_empty()).then(|| text.into()))
}

fn optional_host_name<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    setting::optional(from, "a host name, such as www-example-com.assistant.example", |text| {
        is_host_name(text).then(|| text.to_owned())
    })
}

fn is_host_name(text: &str) -> bool {
    text.len() <= 253
        && text.split('.').all(|label| {
            let is_spelled = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            (1..=63).contains(&label.len()) && is_spelled && !label.starts_with('-') && !label.ends_with('-')
        })
}

/// Deserializes the settings of the external geocoder, if one is configured. The default URL is the geocoder's public
/// server.
fn external_geocoder<'de, D: Deserializer<'de>>(from: D) -> Result<Option<GeocoderSettings>, D::Error> {
    const NO_PUBLIC_SERVER: &str = "geocoder_url is not set, and there is no public server of Pelias: set it to the \
                                    address of yours, such as https://pelias.example.com";
    let keys = GeocoderKeys::deserialize(from)?;
    let Some(kind) = keys.geocoder else { return Ok(None) };
    let url = match (keys.geocoder_url, kind.public_server()) {
        (Some(url), _) => url,
        (None, Some(public)) => Url::parse(public).expect("the URLs of public servers are valid"),
        (None, None) => return Err(D::Error::custom(NO_PUBLIC_SERVER)),
    };
    Ok(Some(GeocoderSettings {
        kind,
        url,
        key: keys.geocoder_key.map(Into::into),
        timeout: keys.geocoder_timeout,
        rate: keys.geocoder_rate_limit,
    }))
}
