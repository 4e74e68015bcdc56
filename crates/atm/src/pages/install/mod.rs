//! `/mcp` in a browser: how to add the locator to an assistant. First the address, then each client.

mod english;
mod links;
mod markdown;
mod page;
mod panels;
mod spanish;

use signpost_platform::pages::Language;

use crate::service::AtmService;

pub use page::INSTALL_ASSETS;
pub(crate) use page::{COPY_SCRIPT, page, router};

/// The texts of the page.
struct InstallWords {
    tab: &'static str,
    about_data: &'static str,
    title: &'static str,
    lead: &'static str,
    copy: &'static str,
    copied: &'static str,
    /// How places are used, without an external geocoder.
    privacy: &'static str,
    /// How places are used, with an external geocoder.
    privacy_with_geocoder: &'static str,
    no_address: &'static str,
    no_address_text: &'static str,
    example: &'static str,
    question: &'static str,
    answer: &'static str,
    first: (&'static str, &'static str),
    second: (&'static str, &'static str),
    warning: &'static str,
    add_to: &'static str,
    client: &'static str,
    terminal: &'static str,
    other: &'static str,
    claude_steps: &'static str,
    chatgpt_steps: &'static str,
    /// For clients that call from the internet, if the address is not reachable from there.
    not_from_internet: &'static str,
    one_button: &'static str,
    /// Before the name of a program.
    add_to_program: &'static str,
    terminal_clients: &'static str,
    other_clients: &'static str,
    tools: &'static str,
    find_nearest: &'static str,
    get_details: &'static str,
    check_status: &'static str,
    list_by_city: &'static str,
}

fn install_words(language: Language) -> &'static InstallWords {
    match language {
        Language::English => &english::INSTALL,
        Language::Spanish => &spanish::INSTALL,
    }
}

impl InstallWords {
    /// Returns the name and the purpose of each tool.
    fn tools_by_name(&self) -> [(&'static str, &'static str); 4] {
        [
            ("find_nearest_bitcoin_atm", self.find_nearest),
            ("get_atm_details", self.get_details),
            ("check_atm_status", self.check_status),
            ("list_atms_by_city", self.list_by_city),
        ]
    }
}

/// The address of the server, from the configuration: the host that a request names is not trusted.
struct ServerAddress<'a> {
    service: &'a AtmService,
    /// `None` if the public URL is not configured, and the server is not only for this machine: behind a proxy, the listen
    /// address is not the address of its clients.
    address: Option<String>,
}

impl<'a> ServerAddress<'a> {
    /// Returns the address from the configuration.
    fn of(service: &'a AtmService) -> Self {
        let is_known = service.public_url.is_some() || service.is_loopback_only;
        Self { service, address: is_known.then(|| format!("{}/mcp", service.public_address)) }
    }

    /// Returns `true` if clients can call it from the internet.
    fn is_on_internet(&self) -> bool {
        self.service.public_url.is_some() && self.service.origin.is_https()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_lists_the_existing_tools() {
        let server = crate::mcp::server(false, None);
        let named: Vec<_> = server.tools().map(|tool| tool.name.to_string()).collect();
        for language in Language::ALL {
            assert_eq!(install_words(language).tools_by_name().map(|(name, _)| name.to_owned()).to_vec(), named);
        }
    }
}
