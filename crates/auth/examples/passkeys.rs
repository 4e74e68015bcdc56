//! Verifies responses of authenticators, for comparison with another implementation. Each line of
//! standard input is a JSON object `{"origin", "challenge", "response"}`, with `"public_key"` for a
//! login; challenge and key are in hex. Prints a line for each: `{"refusal"}`, which is null for an
//! accepted login, or `{"public_key"}` of an accepted registration.
//!
//! The tests compare its output with another implementation.

use std::io::{self, BufRead, Write};

use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use signpost_auth::{PasskeyAssertion, PasskeyKey, PasskeyRefusal, PasskeyRegistration, RelyingParty};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line?)?;
        let verdict = verify_case(&case)?;
        writeln!(out, "{}", verdict.unwrap_or_else(|refusal| json!({"refusal": refusal.as_str()})))?;
    }
    Ok(())
}

/// Verifies a response. Returns the JSON to print, or the reason for a rejection.
fn verify_case(case: &Value) -> Result<Result<Value, PasskeyRefusal>, Box<dyn std::error::Error>> {
    let text = |name: &str| case[name].as_str().ok_or(format!("{name} is missing"));
    let rp = RelyingParty::of(text("origin")?).ok_or("no origin that has passkeys")?;
    let challenge = HEXLOWER.decode(text("challenge")?.as_bytes())?;
    let challenge = challenge.as_slice().try_into()?;
    let response = case["response"].to_string();
    if case["public_key"].is_null() {
        let new = PasskeyRegistration::parse(&response).and_then(|parsed| parsed.verify(&rp, challenge));
        return Ok(new.map(|new| json!({"refusal": null, "public_key": new.key.canonical()})));
    }
    let key = PasskeyKey::parse_hex(text("public_key")?)?;
    let asserted = PasskeyAssertion::parse(&response).and_then(|parsed| parsed.verify(&rp, challenge, &key));
    Ok(asserted.map(|_| json!({"refusal": null})))
}
