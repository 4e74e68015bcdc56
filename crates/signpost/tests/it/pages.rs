//! The locator's pages over HTTP: URLs, metadata for search engines, and untrusted text (docs/locator.md, Pages).

use std::collections::BTreeSet;

use jiff::civil::date;
use reqwest::Method;
use serde_json::Value;
use signpost_atm::catalogue::{Snapshot, Source, StoredCatalogue};
use signpost_locator::{ArcStr, Atm, AtmId, Hours, Point, Record, ReportedState, Tri};

use crate::assistant::{server_in, server_with};
use crate::harness::{Reply, Service};
use crate::program::document;

const PUBLIC: &str = "https://atm.example";
const HTML: (&str, &str) = ("accept", "text/html,*/*;q=0.8");

/// ATMs of a source: ID, name, city, state, latitude, longitude.
const MACHINES: [(u64, &str, &str, &str, f64, f64); 8] = [
    (1, "Corner Market", "Austin", "TX", 30.268, -97.743),
    (2, "Lakeside Laundry", "AUSTIN", "TX", 30.280, -97.750),
    (3, "<script>alert(1)</script>", "Austin", "TX", 30.300, -97.730),
    (4, "Gone Grocery", "Austin", "TX", 30.310, -97.720),
    (5, "Arch Fuel", "St. Louis", "MO", 38.627, -90.199),
    (6, "Gate Fuel", "Saint Louis", "MO", 38.637, -90.209),
    (7, "Lonely Shop", "Marfa", "TX", 30.309, -104.020),
    (8, "Border Shop", "<i>Town</i>", "NM", 33.0, -106.0),
];

/// The attribution of the source, which is untrusted too.
const ATTRIBUTION: &str = "Machines of <script>alert(2)</script>";

fn record((id, name, city, state, lat, lon): (u64, &str, &str, &str, f64, f64)) -> Record {
    let mut record = Record::at(Point::new(lat, lon).unwrap());
    record.name = Some(name.into());
    (record.address.city, record.address.region) = (Some(city.into()), Some(ArcStr::from(state)));
    record.address.street = Some(format!("{id} Sample St").into());
    record.time_zone = Some("America/Chicago".into());
    (record.reported, record.hours) = (ReportedState::InService, Hours::parse("Mo-Su 08:00-22:00"));
    record.reported_at = Some("2026-11-01T12:00:00Z".parse().unwrap());
    record.buy = Tri::Yes;
    if id == 3 {
        record.website = Some("javascript:alert(1)".into());
        record.phone = Some("5\"><i id=x>".into());
        record.operator = Some("<img src=x onerror=alert(1)>".into());
    }
    if id == 4 {
        record.reported = ReportedState::PermanentlyClosed;
    }
    record
}

fn snapshot(version: i64) -> Snapshot {
    let atm = |row: (u64, &str, &str, &str, f64, f64)| {
        let id = AtmId::new(row.0).unwrap();
        Atm { id, source: "machines".into(), record: record(row).into() }
    };
    let changed = MACHINES.map(|row| (AtmId::new(row.0).unwrap(), date(2026, 11, 10))).into();
    let source = Source {
        name: "machines".to_owned(),
        attribution: ATTRIBUTION.to_owned(),
        imported_at: "2026-11-10T12:00:00Z".parse().unwrap(),
    };
    let atms = MACHINES.into_iter().map(atm).collect();
    Snapshot::build(StoredCatalogue { version, atms, changed, sources: vec![source], ..StoredCatalogue::default() })
}

/// Starts a server with these ATMs.
pub(crate) async fn shown(settings: &[(&str, &str)]) -> Service {
    let server = server_with(settings).await;
    let catalogue = &server.app.atm.catalogue;
    catalogue.replace(snapshot(catalogue.snapshot().version()));
    // A Saturday, 9:48 p.m. in Austin.
    server.clock.set("2026-11-22T03:48:00Z".parse().unwrap());
    server
}

pub(crate) async fn open(server: &Service, path: &str) -> Reply {
    server.send(Method::GET, path, &[HTML], "").await
}

/// Returns the JSON-LD of a page.
fn linked_data(page: &str) -> Vec<Value> {
    let parts = page.split("<script type=\"application/ld+json\">").skip(1);
    parts.map(|part| serde_json::from_str(part.split("</script>").next().unwrap()).unwrap()).collect()
}

fn canonical(page: &str) -> Option<&str> {
    page.split("<link rel=\"canonical\" href=\"").nth(1)?.split('"').next()
}

#[tokio::test]
async fn sitemap_urls_lead_to_pages() {
    let server = shown(&[("public_url", PUBLIC)]).await;
    let sitemap = open(&server, "/sitemap.xml").await;
    assert_eq!(sitemap.header("content-type"), Some("application/xml"));
    let all: BTreeSet<&str> = sitemap.text.split("<loc>").skip(1).map(|one| one.split('<').next().unwrap()).collect();
    for path in [
        "/",
        "/about/data",
        "/atms/us",
        "/atms/us/tx",
        "/atms/us/mo",
        "/atms/us/tx/austin",
        "/atms/us/mo/saint-louis",
        "/atm/3",
    ] {
        assert!(all.contains(format!("{PUBLIC}{path}").as_str()), "{path}: {all:?}");
    }
    for path in ["/atm/4", "/atms/us/tx/marfa", "/near"] {
        assert!(!all.contains(format!("{PUBLIC}{path}").as_str()), "{path}");
    }
    assert!(sitemap.text.contains("<loc>https://atm.example/atm/1</loc><lastmod>2026-11-10</lastmod>"));
    for address in all {
        let page = open(&server, address.strip_prefix(PUBLIC).unwrap()).await;
        assert_eq!((page.status, canonical(&page.text)), (200, Some(address)));
        assert!(!page.text.contains("noindex") && page.header("x-robots-tag").is_none(), "{address}");
    }
    let home = open(&server, "/").await.text;
    let image = home.split("og:image\" content=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let shown = server.send(Method::GET, image.strip_prefix(PUBLIC).unwrap(), &[], "").await;
    assert_eq!((shown.status, shown.header("content-type")), (200, Some("image/png")));
    let robots = open(&server, "/robots.txt").await.text;
    assert!(robots.contains("\nDisallow: /near\n") && robots.contains("\nSitemap: https://atm.example/sitemap.xml"));
    server.stop().await;
}

#[tokio::test]
async fn host_header_does_not_change_pages() {
    for settings in [&[("public_url", PUBLIC)][..], &[]] {
        let server = shown(settings).await;
        for path in [
            "/",
            "/atms/us",
            "/atms/us/tx",
            "/atms/us/tx/austin",
            "/atm/1",
            "/near?q=Austin%2C+TX",
            "/sitemap.xml",
            "/map",
            "/about/data",
            "/robots.txt",
            "/llms.txt",
        ] {
            let own = open(&server, path).await;
            let evil = [HTML, ("host", "evil.example"), ("x-forwarded-host", "evil.example")];
            let other = server.send(Method::GET, path, &evil, "").await;
            assert_eq!(own.text, other.text, "{path}");
            assert!(!own.text.contains("evil"), "{path}");
            let is_page = !path.starts_with("/near") && !path.contains('.');
            let is_public = !settings.is_empty() && is_page;
            assert_eq!(canonical(&own.text).is_some(), is_public, "{path}");
            assert_eq!(own.text.contains("og:url"), is_public, "{path}");
        }
        // Each form has a different token.
        let evil = [HTML, ("host", "evil.example"), ("x-forwarded-host", "evil.example")];
        let form = server.send(Method::GET, "/atm/1/report", &evil, "").await;
        assert!(form.status == 200 && !form.text.contains("evil"), "{}", form.text);
        server.stop().await;
    }
}

#[tokio::test]
async fn other_spellings_redirect_to_one_url() {
    let server = shown(&[]).await;
    for (path, to) in [
        ("/atms/US/TX/Austin", "/atms/us/tx/austin"),
        ("/atms/us/texas/AUSTIN", "/atms/us/tx/austin"),
        ("/atms/us/mo/st-louis", "/atms/us/mo/saint-louis"),
        ("/atms/us/mo/St.%20Louis?only=open", "/atms/us/mo/saint-louis?only=open"),
        ("/atms/usa", "/atms/us"),
        ("/atms/us/Texas", "/atms/us/tx"),
        ("/atm/01", "/atm/1"),
        ("/atm/1/", "/atm/1"),
        ("/atms/us/", "/atms/us"),
        ("/atms/us/tx/", "/atms/us/tx"),
        ("/atms/us/tx/austin/?page=1", "/atms/us/tx/austin?page=1"),
        ("/map/", "/map"),
        ("/about/data/", "/about/data"),
        ("/near/?q=Austin%2C+TX&lang=es", "/near?q=Austin%2C+TX&lang=es"),
        ("/atm/01/report?seen=gone", "/atm/1/report?seen=gone"),
        ("/atm/+1/report", "/atm/1/report"),
    ] {
        let reply = open(&server, path).await;
        assert_eq!((reply.status, reply.header("location")), (301, Some(to)), "{path}");
    }
    for path in [
        "/atms/us/tx/nowhere",
        "/atms/us/xx",
        "/atms/atlantis",
        "/atms/us/wy",
        "/atm/99",
        "/atm/x",
        "/atm/0",
        "/atms/us/tx/austin?page=2",
        "/near?q=Austin%2C+TX&page=9",
    ] {
        let reply = open(&server, path).await;
        assert_eq!(reply.status, 404, "{path}");
        assert!(reply.text.contains("noindex") && canonical(&reply.text).is_none(), "{path}");
    }
    for (part, status) in [("1", 200), ("2", 404), ("+1", 404), ("01", 404), ("0", 404), ("x", 404)] {
        assert_eq!(open(&server, &format!("/sitemaps/{part}.xml")).await.status, status, "{part}");
    }
    server.stop().await;
}

#[tokio::test]
async fn untrusted_text_is_escaped() {
    let server = shown(&[("public_url", PUBLIC)]).await;
    for path in [
        "/atm/3",
        "/atm/3/report",
        "/atms/us/tx/austin",
        "/near?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "/near?q=Austin%2C+TX",
        "/map",
        "/map/sight?box=30.2,-97.8,30.4,-97.6",
        "/atms/us/tx",
        "/atms/us/nm",
        "/atms/us/nm/i-town-i",
        "/atm/8",
        "/about/data",
    ] {
        let page = open(&server, path).await.text;
        // The pages have only data blocks, and scripts by URL.
        let bare =
            page.replace("<script type=\"application/ld+json\">", "").replace("<script type=\"module\" src=\"/", "");
        let bare = bare.replace("<img src=\"/map/overview.svg\"", "");
        assert!(!bare.contains("<script") && !bare.contains("<img"), "{path}");
        assert!(!page.contains("href=\"javascript:") && !page.contains("<i id=x>") && !page.contains("<i>"), "{path}");
    }
    let data = linked_data(&open(&server, "/atm/3").await.text);
    assert_eq!(data[0]["name"], "<script>alert(1)</script>");
    assert!(data[0].get("sameAs").is_none());
    server.stop().await;
}

#[tokio::test]
async fn atm_page_and_its_json_ld_agree() {
    let server = shown(&[("public_url", PUBLIC)]).await;
    let page = open(&server, "/atm/1").await;
    assert!(page.text.contains("Open until 10 pm"), "{}", page.text);
    assert!(page.text.contains("Local time: Sat 9:48 pm."));
    assert!(page.text.contains("Reported 3 weeks ago. Local time"), "{}", page.text);
    let data = &linked_data(&page.text)[0];
    assert_eq!(
        (data["@type"].as_str(), data["@id"].as_str()),
        (Some("AutomatedTeller"), Some("https://atm.example/atm/1"))
    );
    assert_eq!(data["address"]["addressLocality"], "Austin");
    let hours = data["openingHoursSpecification"].as_array().unwrap();
    assert_eq!(
        (hours.len(), hours[0]["opens"].as_str(), hours[0]["closes"].as_str()),
        (7, Some("08:00"), Some("22:00"))
    );
    // The page of a removed ATM remains at its URL, without JSON-LD.
    let gone = open(&server, "/atm/4").await;
    assert_eq!((gone.status, linked_data(&gone.text).len()), (200, 0));
    assert!(gone.text.contains("Closed for good") && gone.header("x-robots-tag") == Some("noindex"));
    // If it is unknown that an ATM is in service, the page has no hours.
    server.clock.set("2028-11-22T03:48:00Z".parse().unwrap());
    let old = open(&server, "/atm/1").await;
    assert!(old.text.contains("Not confirmed since 2026"));
    assert!(linked_data(&old.text)[0].get("openingHoursSpecification").is_none());
    server.stop().await;
}

#[tokio::test]
async fn city_lists_its_atms_in_both_languages() {
    let server = shown(&[("public_url", PUBLIC)]).await;
    let page = open(&server, "/atms/us/tx/austin").await;
    assert!(page.text.contains("Bitcoin ATMs in Austin, Texas") && page.text.contains("<b>3</b> machines"));
    assert!(!page.text.contains("Gone Grocery"));
    let list = linked_data(&page.text).into_iter().find(|data| data["@type"] == "ItemList").unwrap();
    assert_eq!(list["itemListElement"][0]["url"], "https://atm.example/atm/1");
    let open_ones = open(&server, "/atms/us/tx/austin?only=open").await;
    assert!(open_ones.text.contains("noindex") && canonical(&open_ones.text).is_none());
    let spanish = open(&server, "/atms/us/tx/austin?lang=es").await;
    assert!(
        spanish.text.contains("Cajeros de Bitcoin en Austin, Texas") && spanish.text.contains("<html lang=\"es\">")
    );
    assert!(spanish.text.contains("href=\"/atm/1?lang=es\""));
    let one = open(&server, "/atms/us/tx/marfa").await;
    assert_eq!((one.status, one.header("x-robots-tag")), (200, Some("noindex")));
    server.stop().await;
}

#[tokio::test]
async fn pages_revalidate_and_searches_are_not_cached() {
    let server = shown(&[]).await;
    for path in ["/", "/atms/us/tx/austin", "/atm/1", "/map", "/about/data"] {
        let page = open(&server, path).await;
        assert_eq!(page.header("cache-control"), Some("max-age=0"), "{path}");
        let tag = page.header("etag").unwrap().to_owned();
        let again = server.send(Method::GET, path, &[HTML, ("if-none-match", &tag)], "").await;
        assert_eq!((again.status, again.text.as_str()), (304, ""), "{path}");
        let head = server.send(Method::HEAD, path, &[HTML], "").await;
        assert_eq!((head.status, head.header("etag")), (200, Some(tag.as_str())), "{path}");
    }
    for path in ["/near?q=Austin%2C+TX", "/near?lat=30.27&lon=-97.74", "/near?lat=x&lon=1", "/near", "/near?q=near+me"]
    {
        let page = open(&server, path).await;
        assert_eq!((page.status, page.header("cache-control")), (200, Some("no-store")), "{path}");
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(page.header("x-robots-tag"), Some("noindex"), "{path}");
    }
    let state = open(&server, "/near?q=Texas").await;
    assert_eq!((state.status, state.header("location")), (303, Some("/atms/us/tx")), "the query is not in the link");
    server.stop().await;
}

#[tokio::test]
async fn sample_atms_are_not_indexed() {
    let server = server_with(&[("public_url", PUBLIC), ("services", "atm")]).await;
    for path in ["/", "/atms/us/tx", "/atms/us/tx/austin", "/atm/1", "/about/data"] {
        let page = open(&server, path).await;
        assert_eq!((page.status, page.header("x-robots-tag")), (200, Some("noindex")), "{path}");
        assert!(page.text.contains("fictional"), "{path}");
    }
    let programs = server.send(Method::GET, "/", &[("accept", "application/json")], "").await;
    assert_eq!(programs.status, 404);
    server.stop().await;
}

#[tokio::test]
async fn dropped_atm_is_gone() {
    let server = server_with(&[]).await;
    let removed = "UPDATE atms SET removed_at = updated_at WHERE id = 1";
    server.app.store.write([signpost_store::Statement::new(removed, Vec::new())]).await.unwrap();
    let catalogue = &server.app.atm.catalogue;
    catalogue.replace(signpost_atm::catalogue::load(&server.app.store, server.app.clock.now()).await.unwrap());
    server.clock.set(server.clock.now() + jiff::SignedDuration::from_hours(91 * 24));
    let gone = open(&server, "/atm/1").await;
    assert_eq!((gone.status, gone.header("x-robots-tag")), (410, Some("noindex")));
    assert!(gone.text.contains("no longer listed"));
    server.stop().await;
}

#[tokio::test]
async fn dropped_row_redirects_to_the_merged_atm() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let import = |name: &str, rows: &str| {
        std::fs::write(folder.join(name), format!("ref,lat,lon,name\n{rows}\n")).unwrap();
        document(folder, &["atms", "import", name, "--force", "--data-dir", "."]);
    };
    let nearest = || {
        let near = document(folder, &["atms", "near", "30.2672,-97.7431", "--data-dir", "."]);
        near["atms"][0]["id"].as_u64().unwrap()
    };
    import("first.csv", "1,30.2672,-97.7431,Corner Shop\n2,31.0,-97.0,Elsewhere");
    import("second.csv", "77,30.26725,-97.7431,");
    let before = nearest();
    import("first.csv", "2,31.0,-97.0,Elsewhere");
    let after = nearest();
    assert_ne!(before, after);
    let server = server_in(folder, &[]).await;
    let moved = open(&server, &format!("/atm/{before}")).await;
    assert_eq!((moved.status, moved.header("location")), (301, Some(&*format!("/atm/{after}"))));
    server.stop().await;
}

#[tokio::test]
async fn cached_page_follows_each_change() {
    let server = shown(&[]).await;
    let path = "/atms/us/tx/austin";
    assert!(open(&server, path).await.text.contains("Open until 10 pm"));
    // An hour later it is closed; a day later a new catalogue version lacks an ATM.
    server.clock.set("2026-11-22T04:00:00Z".parse().unwrap());
    let closed = open(&server, path).await.text;
    assert!(closed.contains("Closed, opens 8 am") && !closed.contains("Open until"));
    let spanish = open(&server, "/atms/us/tx/austin?lang=es").await.text;
    assert!(spanish.contains("Cerrado, abre: 8:00") && open(&server, path).await.text == closed);
    let catalogue = &server.app.atm.catalogue;
    catalogue.replace(Snapshot::build(StoredCatalogue {
        version: catalogue.snapshot().version(),
        ..StoredCatalogue::default()
    }));
    assert_eq!(open(&server, path).await.status, 404);
    server.stop().await;
}

#[tokio::test]
async fn page_limit_applies_per_client_ip() {
    let server = shown(&[("rate_limit_get_session", "3/m")]).await;
    for path in ["/", "/atm/1", "/atms/us/tx/austin"] {
        assert_eq!(open(&server, path).await.status, 200, "{path}");
    }
    for path in ["/", "/atm/1", "/near", "/sitemap.xml"] {
        let reply = open(&server, path).await;
        assert_eq!(reply.status, 429, "{path}");
        assert!(reply.header("retry-after").is_some(), "{path}");
    }
    server.stop().await;
}
