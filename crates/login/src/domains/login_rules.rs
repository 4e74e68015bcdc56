//! How people log in at a hosted domain: by which methods, and whether newcomers may register.

use serde::{Deserialize, Serialize};
use signpost_platform::accounts::Environment;

/// How somebody proves to have a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoginMethod {
    /// A wallet that scans the code, or follows its link.
    #[default]
    Scan,
    /// The wallet in a browser.
    Browser,
    /// A Lightning wallet (LUD-04).
    Lightning,
    /// A passkey.
    Passkey,
}

/// Methods that a domain offers: one at least, none twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct LoginMethods(Vec<LoginMethod>);

/// Whether somebody whom no integrator announced may become a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Registration {
    /// Anybody.
    #[default]
    Open,
    /// Only in sessions that the integrator opens with `mode: "register"`.
    Closed,
}

impl LoginMethod {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Scan, Self::Browser, Self::Lightning, Self::Passkey];
}

impl LoginMethods {
    /// Those of a domain whose integrator named none.
    #[must_use]
    pub fn usual(environment: Environment) -> Self {
        Self(match environment {
            Environment::Live => vec![LoginMethod::Scan, LoginMethod::Passkey],
            Environment::Sandbox => LoginMethod::ALL.to_vec(),
        })
    }

    /// Whether a method is among them.
    #[must_use]
    pub fn contains(&self, method: LoginMethod) -> bool {
        self.0.contains(&method)
    }
}
