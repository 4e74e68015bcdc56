//! Derives the list of tasks for operators from the state of the deployment. Each task has a button
//! that leads to its page.

use jiff::Timestamp;
use maud::{Markup, html};
use signpost_atm::reports::Finding;
use signpost_platform::accounts::Account;
use signpost_platform::origin::PublicOrigin;
use signpost_platform::pages::icons::PageIcon;

use super::dates::{format_distance, format_time};
use super::deployment_facts::{DeploymentFacts, LocatorFacts};

/// Maximum number of failing endpoints in the list.
const MAX_LISTED: usize = 5;

/// The urgency of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Urgency {
    /// The task is about a failure.
    Danger,
    /// The task is about waiting users.
    Warn,
    /// The task is optional.
    Info,
}

/// A task for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) urgency: Urgency,
    pub(super) icon: PageIcon,
    pub(super) title: String,
    pub(super) text: String,
    /// The text of the button, and its path.
    pub(super) action: (&'static str, String),
}

/// Returns the tasks, the most urgent first.
pub(super) fn list_tasks(facts: &DeploymentFacts, now: Timestamp) -> Vec<Task> {
    let mut found: Vec<Task> = list_failing_endpoints(facts, now);
    if !facts.failed.is_zero() {
        found.push(Task {
            urgency: Urgency::Danger,
            icon: PageIcon::Stop,
            title: format!("{} events failed for good", facts.failed.text()),
            text: "Each had all its attempts, over about two days. Mend the site first, then send them again."
                .to_owned(),
            action: ("See them", "/console/deliveries?state=failed".to_owned()),
        });
    }
    found.extend(facts.missing_proof.iter().map(|domain| Task {
        urgency: Urgency::Warn,
        icon: PageIcon::Globe,
        title: format!("The proof of {} is missing", domain.name),
        text: format!(
            "Its TXT record or file was not found since {}. Later the domain counts as unverified.",
            domain.failing_since.map(format_time).unwrap_or_default()
        ),
        action: ("Open the site", format!("/console/sites/{}", domain.id)),
    }));
    found.extend(facts.locator.iter().flat_map(list_locator_tasks));
    found.sort_by_key(|item| item.urgency);
    found
}

fn list_failing_endpoints(facts: &DeploymentFacts, now: Timestamp) -> Vec<Task> {
    let failing = facts.failing.iter().take(MAX_LISTED);
    let items = failing.map(|failing| Task {
        urgency: if failing.disabled_at.is_some() { Urgency::Danger } else { Urgency::Warn },
        icon: PageIcon::Stop,
        title: format!("{} refuses events since {}", failing.endpoint, format_time(failing.failing_since)),
        text: match failing.next_probe_at {
            Some(probe) => {
                let next = format_distance(probe, now);
                format!("For days every attempt failed. One an hour is made now, the next {next}.")
            }
            None => "Its events are sent again and again, for about two days.".to_owned(),
        },
        action: ("See why", path_to_deliveries(&failing.owner(), &failing.endpoint)),
    });
    items.collect()
}

fn list_locator_tasks(locator: &LocatorFacts) -> Vec<Task> {
    let mut found = Vec::new();
    if locator.reports_waiting > 0 {
        let newest: Vec<&str> = locator.first_reports.iter().map(|report| describe_finding(report.seen)).collect();
        let title = match locator.reports_waiting {
            1 => "1 report waits for you".to_owned(),
            more => format!("{more} reports wait for you"),
        };
        let text = format!("The newest say: {}.", newest.join(", "));
        let action = ("Read reports", "/console/reports".to_owned());
        found.push(Task { urgency: Urgency::Warn, icon: PageIcon::Flag, title, text, action });
    }
    found.extend(locator.failing_feeds.iter().map(|feed| Task {
        urgency: Urgency::Warn,
        icon: PageIcon::Machine,
        title: format!("The feed {} fails", feed.name),
        text: format!(
            "{} times in a row: {}",
            feed.failures,
            feed.last_error.as_deref().unwrap_or("no reason is known")
        ),
        action: ("See feeds", "/console/machines".to_owned()),
    }));
    found.extend(locator.overdue.iter().map(|id| Task {
        urgency: Urgency::Warn,
        icon: PageIcon::Clock,
        title: format!("The advisory {id} must be checked again"),
        text: "Until somebody reads its source again, pages say that it may have changed.".to_owned(),
        action: ("See the checks", "/console/health".to_owned()),
    }));
    if locator.concerned > 0 {
        let title = match locator.concerned {
            1 => "1 machine may be wrong".to_owned(),
            more => format!("{more} machines may be wrong"),
        };
        found.push(Task {
            urgency: Urgency::Info,
            icon: PageIcon::Machine,
            title,
            text: "It is not where its address is, its hours cannot be read, or it is there twice.".to_owned(),
            action: ("See which", "/console/machines#doubts".to_owned()),
        });
    }
    if locator.is_sample {
        found.push(Task {
            urgency: Urgency::Info,
            icon: PageIcon::Info,
            title: "The machines are fictional".to_owned(),
            text: "Import a file of real ones; the fictional ones go with the first import.".to_owned(),
            action: ("Import machines", "/console/machines/import".to_owned()),
        });
    }
    found
}

/// Describes the finding of a report about an ATM.
pub(super) fn describe_finding(seen: Finding) -> &'static str {
    match seen {
        Finding::There => "there and works",
        Finding::Gone => "gone",
        Finding::Broken => "does not work",
        Finding::WrongPlace => "somewhere else",
        Finding::WrongHours => "other hours",
        Finding::Other => "something else",
    }
}

/// Returns the path of the pending deliveries for an endpoint of an account.
pub(super) fn path_to_deliveries(account: &Account, endpoint: &str) -> String {
    let environment = account.environment;
    let name = escape(&account.name);
    let endpoint = escape(endpoint);
    format!("/console/deliveries?state=pending&account={name}&environment={environment}&endpoint={endpoint}")
}

/// Escapes a value in a query.
pub(super) fn escape(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Draws the list of tasks.
pub(super) fn draw_tasks(origin: &PublicOrigin, items: &[Task]) -> Markup {
    let title = match items.len() {
        0 => "Nothing to do".to_owned(),
        1 => "1 thing needs a person".to_owned(),
        more => format!("{more} things need a person"),
    };
    html! {
        section.panel aria-labelledby="todo" {
            header { h2 #todo { (title) } }
            @if items.is_empty() {
                p.empty { "No endpoint fails, no report waits, nothing is overdue." }
            } @else {
                ul.todo {
                    @for Task { urgency, icon, title, text, action } in items {
                        li {
                            span class=(urgency.class()) { (icon.draw(20)) }
                            div { h3 { (signpost_text::clean_line(title)) } p.sm.soft { (signpost_text::clean_line(text)) } }
                            a.btn.small href=(origin.link(&action.1)) { (action.0) }
                        }
                    }
                }
            }
        }
    }
}

impl Urgency {
    fn class(self) -> &'static str {
        match self {
            Self::Danger => "danger",
            Self::Warn => "warn",
            Self::Info => "info",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::deployment_facts::BoundedCount;

    #[test]
    fn failures_precede_pending_tasks() {
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(list_tasks(&DeploymentFacts::default(), now), []);
        let locator = LocatorFacts { is_sample: true, reports_waiting: 2, concerned: 7, ..LocatorFacts::default() };
        let facts =
            DeploymentFacts { failed: BoundedCount(1001), locator: Some(locator), ..DeploymentFacts::default() };
        let found = list_tasks(&facts, now);
        let titles: Vec<_> = found.iter().map(|item| item.title.as_str()).collect();
        let expected = [
            "more than 1,000 events failed for good",
            "2 reports wait for you",
            "7 machines may be wrong",
            "The machines are fictional",
        ];
        assert_eq!(titles, expected);
    }

    #[test]
    fn empty_list_has_a_text() {
        let origin = PublicOrigin::new("http://localhost:8080");
        assert!(draw_tasks(&origin, &[]).into_string().contains("Nothing to do"));
    }
}
