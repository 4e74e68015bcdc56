//! The logged-in visitors of the shop, in memory.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use signpost_platform::pages::cookie::CookieSecret;

use super::api::ShopUser;

/// Maximum number of logged-in browsers. A new browser replaces any other.
const MAX_VISITORS: usize = 1000;

/// The visitors, by the hash of the browser's cookie.
#[derive(Debug, Default)]
pub(super) struct Visitors(Mutex<HashMap<String, Visitor>>);

/// A logged-in visitor.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    /// The user at the service.
    pub(super) user: ShopUser,
    /// Whether this login created the account.
    pub(super) is_new: bool,
    /// The login method.
    pub(super) method: String,
}

impl Visitors {
    /// Logs in the browser with this cookie.
    pub(super) fn log_in(&self, cookie: &CookieSecret, visitor: Visitor) {
        let mut all = self.lock();
        if all.len() >= MAX_VISITORS
            && let Some(one) = all.keys().next().cloned()
        {
            all.remove(&one);
        }
        all.insert(cookie.hash().as_str().to_owned(), visitor);
    }

    /// Returns the visitor with this cookie.
    pub(super) fn find(&self, cookie: &CookieSecret) -> Option<Visitor> {
        self.lock().get(cookie.hash().as_str()).cloned()
    }

    /// Logs out a browser, or all browsers of its user.
    pub(super) fn log_out(&self, cookie: &CookieSecret, everywhere: bool) {
        let mut all = self.lock();
        let Some(left) = all.remove(cookie.hash().as_str()) else { return };
        if everywhere {
            all.retain(|_, visitor| visitor.user.id != left.user.id);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Visitor>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie(number: u64) -> CookieSecret {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        CookieSecret::from_bytes(bytes)
    }

    fn visitor(user: &str) -> Visitor {
        let user = ShopUser { id: user.to_owned(), petname: String::new(), credentials: Vec::new() };
        Visitor { user, is_new: true, method: "scan".to_owned() }
    }

    #[test]
    fn logout_everywhere_affects_one_user() {
        let visitors = Visitors::default();
        for (number, user) in [(1, "usr_a"), (2, "usr_a"), (3, "usr_b"), (4, "usr_a")] {
            visitors.log_in(&cookie(number), visitor(user));
        }
        visitors.log_out(&cookie(4), false);
        assert!(visitors.find(&cookie(1)).is_some_and(|visitor| visitor.is_new && visitor.user.id == "usr_a"));
        assert!(visitors.find(&cookie(4)).is_none());
        visitors.log_out(&cookie(1), true);
        assert!(visitors.find(&cookie(1)).is_none() && visitors.find(&cookie(2)).is_none());
        assert!(visitors.find(&cookie(3)).is_some());
        visitors.log_out(&cookie(9), true);
    }

    #[test]
    fn visitors_are_bounded() {
        let visitors = Visitors::default();
        for number in 0..=MAX_VISITORS as u64 {
            visitors.log_in(&cookie(number), visitor("usr_a"));
        }
        assert_eq!(visitors.lock().len(), MAX_VISITORS);
        assert!(visitors.find(&cookie(MAX_VISITORS as u64)).is_some(), "the newest is there");
    }
}
