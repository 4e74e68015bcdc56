//! Tests the limits of settings: accepted and rejected values.

use super::*;

fn read(key: &str, value: &str) -> Result<Config, String> {
    let mut raw = RawSettings::default();
    raw.set(key, value, Origin::Flag);
    Config::new(&raw).map_err(|error| error.to_string())
}

#[test]
fn out_of_range_values_are_rejected() {
    let many = vec!["192.0.2.1"; 1001].join(",");
    for (key, value) in [
        ("wait_for_database", "2h"),
        ("shutdown_delay", "61s"),
        ("session_ttl", "0"),
        ("session_ttl", "3601s"),
        ("webhook_retry_schedule", ""),
        ("webhook_retry_schedule", ",,"),
        ("webhook_retry_schedule", "400h,400h"),
        ("webhook_retry_schedule", &vec!["1s"; 31].join(",")),
        ("webhook_retry_schedule", "18446744073709551615s,18446744073709551615s"),
        ("dns_server", "192.0.2.53:0"),
        ("public_url", "https://signpost.example.com:0"),
        ("geocoder_timeout", "0"),
        ("geocoder_rate_limit", "0/s"),
        ("rate_limit_token", "1000001/h"),
        ("rate_limit_sse", "1/d"),
        ("rate_limit_mcp_wait", "2001ms"),
        ("trusted_proxies", &many),
    ] {
        let error = read(key, value).expect_err(key);
        assert!(error.starts_with(&format!("{key} (command line): '{value}' is not allowed")), "{error}");
        assert!(error.contains("; allowed is ") && !error.contains('\n'), "{error}");
    }
    let origins = vec!["https://a.example"; 1001].join(",");
    let error = read("allowed_origins", &origins).expect_err("too many");
    assert_eq!(error, "allowed_origins (command line): there are more than 1000 origins, the maximum");
}

/// Tests all settings with zero, negative, huge and nearly empty values.
#[test]
fn only_texts_accept_any_number() {
    const VALUES: [&str; 8] = ["0", "-1", "-1s", "0/s", "99999999999999999999", "99999999999999999999s", "1e9", ",,"];
    // Settings that accept any text, and lists that may be empty.
    const ACCEPTED: [(&str, &[&str]); 8] = [
        ("advisories", &VALUES),
        ("data_dir", &VALUES),
        ("geocoder_key", &VALUES),
        ("allowed_origins", &[",,"]),
        ("trusted_proxies", &[",,"]),
        ("shutdown_delay", &["0"]),
        ("rate_limit_mcp_wait", &["0"]),
        ("wait_for_database", &["0"]),
    ];
    let defaults = Config::new(&RawSettings::default()).unwrap();
    for key in defaults.shown.iter().map(|setting| setting.key.as_str()) {
        for value in VALUES {
            let is_accepted = ACCEPTED.iter().any(|(name, values)| *name == key && values.contains(&value));
            // A number without dots is a label of a host name.
            let is_accepted =
                is_accepted || key == "card_domain" && value.bytes().all(|byte| byte.is_ascii_alphanumeric());
            let is_accepted = is_accepted || key == "webhook_retry_schedule" && value == "0";
            match read(key, value) {
                Ok(_) => assert!(is_accepted, "{key} takes '{value}'"),
                Err(error) => {
                    assert!(!is_accepted && error.starts_with(key) && !error.contains('\n'), "{key} {value}: {error}");
                }
            }
        }
    }
}

#[test]
fn required_settings_reject_empty_values() {
    const UNSET: [&str; 15] = [
        "advisories",
        "allowed_origins",
        "card_domain",
        "database_url",
        "dns_server",
        "geocoder",
        "geocoder_key",
        "geocoder_url",
        "metrics_listen",
        "otlp_endpoint",
        "public_url",
        "redis_url",
        "seal_key",
        "seal_key_old",
        "trusted_proxies",
    ];
    let defaults = Config::new(&RawSettings::default()).unwrap();
    for key in defaults.shown.iter().map(|setting| setting.key.as_str()) {
        match read(key, "") {
            Ok(_) => assert!(UNSET.contains(&key), "{key} may be empty"),
            Err(error) => assert!(!UNSET.contains(&key) && error.starts_with(key), "{key}: {error}"),
        }
    }
}

#[test]
fn alternative_spellings_are_accepted() {
    for (key, value) in [
        ("session_ttl", "3600000ms"),
        ("shutdown_delay", "0s"),
        ("webhook_retry_schedule", "720h, 0ms"),
        ("forwarded_header", "X-Forwarded-For"),
        ("trusted_proxies", "10.0.0.1, fd00::/8"),
        ("require_verified_domains", "true"),
        ("services", "auth, atm,"),
        ("rate_limit_mcp", "10 / s"),
        ("rate_limit_mcp_wait", "1500ms"),
        ("card_domain", "a1.assistant.example"),
        ("geocoder_url", "https://user:secret@pelias.internal/"),
    ] {
        read(key, value).unwrap();
    }
}
