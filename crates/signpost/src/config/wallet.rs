//! Checks that the browser wallet has a safe origin.

use signpost_platform::origin::PublicOrigin;

use super::{Config, InvalidSetting};

/// Rejects a wallet at the origin of the login pages.
pub(super) fn check(config: &Config) -> Result<(), InvalidSetting> {
    let login = PublicOrigin::new(&config.public_address(config.listen));
    if config.login.wallet.own_origin().is_none_or(|wallet| wallet.as_str() != login.as_str()) {
        return Ok(());
    }
    let reason = "the browser wallet needs a host of its own; name another one, 'on' or 'off'";
    Err(InvalidSetting(format!("wallet: {} is the login host; {reason}", login.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Origin, RawSettings};

    fn own_origin(public_url: &str, wallet: &str) -> Result<Option<String>, String> {
        let mut raw = RawSettings::default();
        raw.set("public_url", public_url, Origin::Flag);
        raw.set("wallet", wallet, Origin::Flag);
        let config = Config::new(&raw).map_err(|error| error.to_string())?;
        Ok(config.login.wallet.own_origin().map(|origin| origin.as_str().to_owned()))
    }

    #[test]
    fn wallet_must_not_share_the_login_origin() {
        for (public_url, wallet, login) in [
            ("https://A.example/", "https://a.example", "https://a.example"),
            ("https://a.example", "https://a.example/", "https://a.example"),
            ("", "http://localhost:8080", "http://localhost:8080"),
        ] {
            let error = own_origin(public_url, wallet).unwrap_err();
            assert!(error.starts_with(&format!("wallet: {login} is the login host; ")), "{error}");
        }
        for (public_url, wallet) in [
            ("https://a.example", "https://wallet.a.example"),
            ("https://a.example", "https://a.example:8443"),
            ("", "http://wallet.localhost:8080"),
        ] {
            assert_eq!(own_origin(public_url, wallet), Ok(Some(wallet.to_owned())));
        }
        assert_eq!((own_origin("", "on"), own_origin("", "off")), (Ok(None), Ok(None)));
    }

    #[test]
    fn invalid_wallet_origin_is_rejected() {
        for wallet in [
            "yes",
            "",
            "http://wallet.example",
            "https://wallet.example/wallet",
            "https://me@wallet.example",
            "https://wallet.example?x",
            "https://Wallet.example",
            "wallet.example",
        ] {
            let error = own_origin("", wallet).unwrap_err();
            assert!(error.contains("allowed is on, off or the https origin"), "{error}");
        }
    }
}
