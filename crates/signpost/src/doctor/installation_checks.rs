//! The checks of an installation on its own machine. They are pure functions of its facts.

use signpost_openid::signing_keys::problem::KeyProblem;

use super::{CheckFinding, DatabaseFacts, Exposure, Installation, InstallationCheck, dependency_checks};
use crate::deployment::sealed::PlainTextSecrets;

/// Minimum age of the newest data for a warning, in days.
const OLD_DAYS: i64 = 90;

const CHECKS: [InstallationCheck; 13] = [
    |it| Some(check_database(it)),
    |it| Some(check_server(it)),
    check_public_address,
    check_encryption,
    check_signing_keys,
    check_data_folder,
    check_shared_host,
    check_domains,
    check_events,
    check_catalogue,
    check_feeds,
    |it| Some(check_place_names(it)),
    |it| Some(check_advisories(it)),
];

/// Returns the findings of all checks.
#[must_use]
pub fn check_installation(installation: &Installation) -> Vec<CheckFinding> {
    CHECKS.iter().chain(&dependency_checks::CHECKS).filter_map(|check| check(installation)).collect()
}

fn database(installation: &Installation) -> Option<&DatabaseFacts> {
    installation.database.as_ref().ok()
}

fn check_database(installation: &Installation) -> CheckFinding {
    const CHECK: &str = "database";
    match &installation.database {
        Ok(_) => CheckFinding::pass(CHECK, installation.settings.database.clone()),
        Err(reason) => CheckFinding::fail(
            CHECK,
            reason.clone(),
            "name the right one with --data-dir or --database-url; 'signpost serve' creates one",
        ),
    }
}

fn check_server(installation: &Installation) -> CheckFinding {
    const CHECK: &str = "server";
    let address = &installation.server.address;
    let own = env!("CARGO_PKG_VERSION");
    match &installation.server.version {
        Err(reason) => CheckFinding::fail(
            CHECK,
            format!("no server answers at {address}: {reason}"),
            "start it with 'signpost serve'; if it listens elsewhere, set SIGNPOST_LISTEN here too",
        ),
        Ok(version) if version != own => CheckFinding::warn(
            CHECK,
            format!("version {version} runs at {address}, and this program is {own}"),
            "restart the server with this program",
        ),
        Ok(version) => CheckFinding::pass(CHECK, format!("version {version} answers at {address}")),
    }
}

fn check_public_address(installation: &Installation) -> Option<CheckFinding> {
    const CHECK: &str = "public address";
    let settings = &installation.settings;
    let announced = installation.server.public_address.as_ref();
    if settings.exposure == Exposure::ClearText {
        return Some(CheckFinding::fail(
            CHECK,
            "the public URL is http: logins can be read and altered in transit",
            "put TLS in front of the server, and set an https --public-url",
        ));
    }
    if settings.exposure == Exposure::Unnamed
        && announced.is_none_or(|address| address.contains("://0.0.0.0") || address.contains("://[::]"))
    {
        return Some(CheckFinding::warn(
            CHECK,
            "the server listens on all addresses and has no public URL, so its links do not work",
            "set the URL of the server with --public-url or SIGNPOST_PUBLIC_URL",
        ));
    }
    match (&settings.public_url, announced) {
        (Some(wanted), Some(announced)) if wanted != announced => Some(CheckFinding::warn(
            CHECK,
            format!("the settings say {wanted}, and the server that ran last gave out {announced}"),
            "restart the server, or use the same settings here",
        )),
        (_, Some(announced)) => Some(CheckFinding::pass(CHECK, announced.clone())),
        (_, None) => None,
    }
}

/// Recommends a new key only if the database has recorded none: the doctor may run without the settings of the server.
fn check_encryption(installation: &Installation) -> Option<CheckFinding> {
    const CHECK: &str = "signing secrets";
    let settings = &installation.settings;
    let database = database(installation)?;
    if let Some(reason) = &database.unreadable_secrets {
        return Some(CheckFinding::fail(CHECK, reason.clone(), "set SIGNPOST_SEAL_KEY as the server has it"));
    }
    let PlainTextSecrets { domains, signing_keys } = database.plain_text;
    let is_any_plain = domains > 0 || signing_keys > 0;
    let finding = match (database.has_encrypted_secrets, settings.has_seal_key) {
        (true, _) | (_, true) if is_any_plain => CheckFinding::fail(
            CHECK,
            format!(
                "there is an encryption key, and stored in plain text are: domains {domains}, signing keys {signing_keys}"
            ),
            "run 'signpost domains seal' with the SIGNPOST_SEAL_KEY of the server",
        ),
        (true, true) => CheckFinding::pass(CHECK, "encrypted at rest"),
        (true, false) => {
            CheckFinding::pass(CHECK, "encrypted at rest; not decrypted here, without the key of the server")
        }
        (false, true) => CheckFinding::pass(CHECK, "none is stored yet; they will be encrypted"),
        (false, false) if settings.exposure != Exposure::OwnMachine => CheckFinding::warn(
            CHECK,
            "stored unencrypted on a public server",
            "set SIGNPOST_SEAL_KEY for the server, for example to the output of 'openssl rand -hex 32', restart it, then \
             run 'signpost domains seal' with it",
        ),
        (false, false) => CheckFinding::pass(CHECK, "stored unencrypted; only this machine reaches the server"),
    };
    Some(finding)
}

/// Checks the signing keys, needed by hosted domains only.
fn check_signing_keys(installation: &Installation) -> Option<CheckFinding> {
    const CHECK: &str = "signing keys";
    let database = database(installation)?;
    if database.domains.live_hosted == 0 {
        return None;
    }
    let trouble = database.key_problem?;
    let remedy = match trouble {
        KeyProblem::NoRsa => {
            "run 'openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out key.pem', then 'signpost signing-keys \
             rotate --pem key.pem'"
        }
        KeyProblem::Overdue(_) => {
            "look for 'could not rotate' in the server's log, then run 'signpost signing-keys rotate'"
        }
    };
    Some(CheckFinding::warn(CHECK, trouble.to_string(), remedy))
}

fn check_data_folder(installation: &Installation) -> Option<CheckFinding> {
    const CHECK: &str = "data folder";
    let mode = installation.settings.data_dir_mode?;
    Some(if mode.trailing_zeros() >= 6 {
        CheckFinding::pass(CHECK, "for its owner alone")
    } else {
        CheckFinding::warn(
            CHECK,
            format!("other users of this machine can open it (mode {mode:03o})"),
            "run 'chmod 700' on it: it has signing secrets",
        )
    })
}

fn check_shared_host(installation: &Installation) -> Option<CheckFinding> {
    let settings = &installation.settings;
    if !settings.runs_both_services || settings.exposure == Exposure::OwnMachine {
        return None;
    }
    let beside = match (database(installation)?.domains.live_hosted > 0, settings.has_public_console) {
        (true, true) => "live logins and the console share",
        (true, false) => "live logins share",
        (false, true) => "the console shares",
        (false, false) => return None,
    };
    let remedy = "run two servers at hosts of their own, with --services auth and --services atm";
    let found = format!("{beside} the host of the locator, which shows texts of strangers");
    Some(CheckFinding::warn("shared host", found, remedy))
}

fn check_domains(installation: &Installation) -> Option<CheckFinding> {
    const CHECK: &str = "domains";
    let domains = &database(installation)?.domains;
    Some(if domains.missing_proof.is_empty() {
        CheckFinding::pass(
            CHECK,
            format!("{} live, {} sandbox, {} verified", domains.live, domains.sandbox, domains.verified),
        )
    } else {
        CheckFinding::warn(
            CHECK,
            format!("the proof is missing: {}", listed(&domains.missing_proof)),
            "publish it again; 'signpost domains verify DOMAIN' shows what was looked up",
        )
    })
}

fn check_events(installation: &Installation) -> Option<CheckFinding> {
    const CHECK: &str = "events";
    let events = &database(installation)?.events;
    Some(if !events.disabled_endpoints.is_empty() {
        CheckFinding::warn(
            CHECK,
            format!("disabled after days of failures: {}", listed(&events.disabled_endpoints)),
            "mend the receiver; 'signpost deliveries endpoints' lists them, and one success enables it again",
        )
    } else if events.failed > 0 {
        CheckFinding::warn(
            CHECK,
            format!("{} events failed for good", events.failed),
            "see 'signpost deliveries list --state failed', then 'signpost deliveries retry --failed'",
        )
    } else {
        CheckFinding::pass(CHECK, format!("{} waiting, {} endpoints failing", events.waiting, events.failing_endpoints))
    })
}

fn check_catalogue(installation: &Installation) -> Option<CheckFinding> {
    const CHECK: &str = "ATMs";
    let catalogue = &database(installation)?.catalogue;
    let is_sample = catalogue.sample;
    // Without dates, the data is at least as old as its import.
    let newest = catalogue.data_as_of.or(catalogue.imported_at);
    let age = newest.map(|newest| installation.now.duration_since(newest).as_hours() / 24);
    Some(if is_sample && installation.settings.exposure != Exposure::OwnMachine {
        CheckFinding::warn(
            CHECK,
            "people are shown fictional sample machines",
            "import ATMs with 'signpost atms import', or run without the locator: --services auth",
        )
    } else if let Some(age) = age.filter(|age| !is_sample && *age >= OLD_DAYS) {
        CheckFinding::warn(
            CHECK,
            match catalogue.data_as_of {
                Some(_) => format!("the newest data of any source is {age} days old"),
                None => format!("no ATM has a date, and the last import was {age} days ago"),
            },
            "import a newer file with 'signpost atms import', or fetch one regularly: 'signpost atms feeds add'",
        )
    } else {
        CheckFinding::pass(
            CHECK,
            format!("{}, {}", catalogue.machines, if is_sample { "fictional samples" } else { "imported" }),
        )
    })
}

fn check_feeds(installation: &Installation) -> Option<CheckFinding> {
    let failing = &database(installation)?.failing_feeds;
    let first = failing.first()?;
    let names: Vec<_> = failing.iter().map(|feed| feed.name.clone()).collect();
    Some(CheckFinding::warn(
        "feeds",
        format!("failing: {}; {} failed {} times: {}", listed(&names), first.name, first.failures, first.error),
        "try it with 'signpost atms sync NAME'",
    ))
}

fn check_place_names(installation: &Installation) -> CheckFinding {
    const CHECK: &str = "place names";
    match &installation.places {
        Ok(places) => CheckFinding::pass(CHECK, format!("{} {} places", places.places, places.origin)),
        Err(reason) => CheckFinding::fail(CHECK, reason.clone(), "import them again with 'signpost gazetteer import'"),
    }
}

fn check_advisories(installation: &Installation) -> CheckFinding {
    const CHECK: &str = "advisories";
    match &installation.advisories {
        Err(reason) => CheckFinding::fail(CHECK, reason.clone(), "see 'signpost advisories check'"),
        Ok(advisories) if !advisories.overdue.is_empty() => CheckFinding::warn(
            CHECK,
            format!("their sources must be read again: {}", listed(&advisories.overdue)),
            "see 'signpost advisories check'",
        ),
        Ok(advisories) => CheckFinding::pass(CHECK, format!("{}, none overdue", advisories.rows)),
    }
}

/// Returns the first names, and the number of the others.
fn listed(names: &[String]) -> String {
    const MAX: usize = 5;
    let first = names[..names.len().min(MAX)].join(", ");
    if names.len() > MAX { format!("{first} and {} more", names.len() - MAX) } else { first }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::healthy_installation;
    use super::super::{FailingFeed, Grade};
    use super::*;
    use signpost_server::untrusted_proxy::UntrustedProxy;

    /// Returns the problems that are found after a change.
    fn after(change: impl FnOnce(&mut Installation)) -> Vec<CheckFinding> {
        let mut installation = healthy_installation();
        change(&mut installation);
        check_installation(&installation).into_iter().filter(|finding| finding.grade != Grade::Pass).collect()
    }

    fn database(installation: &mut Installation) -> &mut DatabaseFacts {
        installation.database.as_mut().expect("it is there")
    }

    #[test]
    fn healthy_installation_has_no_findings() {
        assert_eq!(after(|_| {}), []);
    }

    type Break = fn(&mut Installation);

    #[test]
    fn each_fault_has_one_finding_with_a_fix() {
        let faults: [(&str, Grade, Break); 24] = [
            ("database", Grade::Fail, |it| it.database = Err("no database in the folder /x".to_owned())),
            ("server", Grade::Fail, |it| it.server.version = Err("no answer".to_owned())),
            ("server", Grade::Warn, |it| it.server.version = Ok("0.0.1".to_owned())),
            ("public address", Grade::Fail, |it| it.settings.exposure = Exposure::ClearText),
            ("public address", Grade::Warn, |it| {
                it.settings.exposure = Exposure::Unnamed;
                it.server.public_address = Some("http://0.0.0.0:8080".to_owned());
            }),
            ("public address", Grade::Warn, |it| it.settings.public_url = Some("https://other.test".to_owned())),
            ("signing secrets", Grade::Fail, |it| database(it).unreadable_secrets = Some("another key".to_owned())),
            ("signing secrets", Grade::Fail, |it| database(it).plain_text.domains = 1),
            ("signing secrets", Grade::Fail, |it| {
                it.settings.has_seal_key = false;
                database(it).plain_text.signing_keys = 1;
            }),
            ("signing secrets", Grade::Warn, |it| {
                it.settings.has_seal_key = false;
                database(it).has_encrypted_secrets = false;
                database(it).plain_text.domains = 1;
            }),
            ("signing keys", Grade::Warn, |it| database(it).key_problem = Some(KeyProblem::NoRsa)),
            ("data folder", Grade::Warn, |it| it.settings.data_dir_mode = Some(0o755)),
            ("shared host", Grade::Warn, |it| it.settings.runs_both_services = true),
            ("shared host", Grade::Warn, |it| {
                database(it).domains.live_hosted = 0;
                (it.settings.runs_both_services, it.settings.has_public_console) = (true, true);
            }),
            ("domains", Grade::Warn, |it| database(it).domains.missing_proof = vec!["shop.test".to_owned()]),
            ("events", Grade::Warn, |it| database(it).events.disabled_endpoints = vec!["https://shop.test".to_owned()]),
            ("events", Grade::Warn, |it| database(it).events.failed = 2),
            ("ATMs", Grade::Warn, |it| database(it).catalogue.sample = true),
            ("ATMs", Grade::Warn, |it| database(it).catalogue.data_as_of = "2025-11-01T00:00:00Z".parse().ok()),
            ("ATMs", Grade::Warn, |it| database(it).catalogue.imported_at = "2025-11-01T00:00:00Z".parse().ok()),
            ("feeds", Grade::Warn, |it| {
                let failing = FailingFeed { name: "acme".to_owned(), failures: 3, error: "status 500".to_owned() };
                database(it).failing_feeds = vec![failing];
            }),
            ("proxy", Grade::Warn, |it| {
                let at = it.now - jiff::SignedDuration::from_hours(1);
                let proxy = UntrustedProxy { address: "10.0.0.5".to_owned(), at };
                database(it).untrusted_proxy = Some(proxy);
            }),
            ("place names", Grade::Fail, |it| it.places = Err("damaged".to_owned())),
            ("advisories", Grade::Fail, |it| it.advisories = Err("line 3: no source".to_owned())),
        ];
        for (check, grade, fault) in faults {
            let found = after(fault);
            let [finding] = &found[..] else { panic!("{check}: {found:?}") };
            assert_eq!((finding.check, finding.grade), (check, grade));
            assert!(finding.remedy.as_ref().is_some_and(|remedy| !remedy.is_empty()), "{finding:?}");
        }
        let overdue =
            after(|it| it.advisories.as_mut().expect("there").overdue = (0..7).map(|n| n.to_string()).collect());
        assert!(overdue[0].found.ends_with("0, 1, 2, 3, 4 and 2 more"), "{overdue:?}");
    }

    /// The documented command runs the doctor without the server's secrets, and so without the key.
    #[test]
    fn doctor_without_a_key_suggests_no_new_key() {
        let mut installation = healthy_installation();
        installation.settings.has_seal_key = false;
        for plain in [0, 1] {
            database(&mut installation).plain_text.domains = plain;
            let findings = check_installation(&installation);
            let finding = findings.iter().find(|finding| finding.check == "signing secrets").expect("a check");
            let remedy = finding.remedy.clone().unwrap_or_default();
            assert_eq!(finding.grade, if plain == 0 { Grade::Pass } else { Grade::Fail });
            assert!(finding.found.contains("encrypt") && !remedy.contains("openssl"), "{finding:?}");
        }
    }

    #[test]
    fn local_server_may_have_plain_secrets() {
        let found = after(|it| {
            it.settings.exposure = Exposure::OwnMachine;
            it.settings.has_seal_key = false;
            database(it).has_encrypted_secrets = false;
            database(it).plain_text = PlainTextSecrets { domains: 1, signing_keys: 2 };
            it.settings.runs_both_services = true;
            database(it).catalogue.sample = true;
        });
        assert_eq!(found, []);
    }
}
