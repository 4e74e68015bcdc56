//! What a request says of a client, read field by field.

use signpost_platform::web::Fields;
use signpost_platform::web::problem::Problem;

use crate::clients::{AllowList, ClientAuthMethod, ClientName, ClientPatch, ClientSettings, EmailClaim, RedirectUris};
use crate::jose::SigningAlgorithm;

/// The settings of a new client.
///
/// # Errors
/// The first field that is wrong.
pub(super) fn read_settings(mut fields: Fields) -> Result<ClientSettings, Problem> {
    let is_public = fields.optional_bool("public")?.unwrap_or_default();
    let patch = take_patch(&mut fields)?;
    fields.done()?;
    let redirect_uris = patch.redirect_uris.clone().ok_or_else(|| Problem::field("redirect_uris", "is required"))?;
    let usual = ClientSettings { is_public, ..ClientSettings::new(redirect_uris) };
    patch.apply(&usual).map_err(|invalid| Problem::field(invalid.field, invalid.reason))
}

/// A change of a client.
///
/// # Errors
/// The first field that is wrong.
pub(super) fn read_patch(mut fields: Fields) -> Result<ClientPatch, Problem> {
    let patch = take_patch(&mut fields)?;
    fields.done()?;
    Ok(patch)
}

fn take_patch(fields: &mut Fields) -> Result<ClientPatch, Problem> {
    let name = fields.nullable_text("name")?.map(|text| text.map(|text| ClientName::parse(&text)).transpose());
    let allowed = fields.nullable_texts("allow")?.map(|texts| texts.map(AllowList::try_from).transpose());
    let auth_method = fields.nullable_text("token_endpoint_auth_method")?;
    let auth_method = auth_method.map(|text| text.as_deref().map(read_auth_method).transpose());
    Ok(ClientPatch {
        name: name.transpose().map_err(|reason| Problem::field("name", reason))?,
        redirect_uris: take_uris(fields, "redirect_uris")?,
        post_logout_uris: take_uris(fields, "post_logout_uris")?,
        algorithm: take_word(fields, "alg", SigningAlgorithm::parse, "must be 'RS256' or 'ES256'")?,
        email: take_word(fields, "email", EmailClaim::parse, "must be 'synthetic', 'none' or 'verified'")?,
        requires_pkce: fields.optional_bool("pkce")?,
        is_trusted: fields.optional_bool("trusted")?,
        allowed: allowed.transpose().map_err(|reason| Problem::field("allow", reason))?,
        auth_method: auth_method.transpose()?,
    })
}

fn read_auth_method(text: &str) -> Result<ClientAuthMethod, Problem> {
    ClientAuthMethod::parse(text).ok_or_else(|| {
        let allowed = "must be 'client_secret_basic', 'client_secret_post', 'any' or null";
        Problem::field("token_endpoint_auth_method", allowed)
    })
}

fn take_uris(fields: &mut Fields, field: &str) -> Result<Option<RedirectUris>, Problem> {
    let uris = fields.optional_texts(field)?.map(RedirectUris::try_from).transpose();
    uris.map_err(|reason| Problem::field(field, reason))
}

fn take_word<T>(
    fields: &mut Fields,
    field: &str,
    parse: fn(&str) -> Option<T>,
    wrong: &str,
) -> Result<Option<T>, Problem> {
    let word = fields.optional_text(field)?;
    word.map(|word| parse(&word).ok_or_else(|| Problem::field(field, wrong))).transpose()
}
