//! Pages, maps and lists with reported ATMs: docs/locator.md, Reports.

use flate2::read::GzDecoder;
use reqwest::Method;
use serde_json::json;
use signpost_atm::reports::ReportId;
use signpost_atm::reports::sql::{self, Moderation};
use signpost_locator::AtmId;
use signpost_platform::accounts::audit::Actor;

use crate::harness::{Service, until};
use crate::pages::{open, shown};

/// Submits a report that an ATM is gone, and accepts it as the moderator.
async fn close(server: &Service, atm: u64) {
    let report = json!({ "seen": "gone", "how": "saw" });
    let taken = server.reports("127.0.0.1", atm, &report).await.with(201);
    let (store, now) = (&server.app.store, server.app.clock.now());
    let id = ReportId::parse(taken["id"].as_str().unwrap()).unwrap();
    let report = sql::find(store, &id).await.unwrap().unwrap();
    sql::moderate(store, &report, Moderation::Accept, &Actor::Operator, now).await.unwrap();
    until("it is gone", async || {
        let snapshot = server.app.atm.catalogue.snapshot();
        let entry = snapshot.get(AtmId::new(atm).unwrap()).unwrap();
        snapshot.is_gone(entry).then_some(())
    })
    .await;
}

#[tokio::test]
async fn closed_atm_is_not_counted() {
    let server = shown(&[("public_url", "https://atm.example")]).await;
    let home = open(&server, "/").await.text;
    assert!(home.contains("<b>7</b> machines"), "{home}");
    assert!(open(&server, "/sitemap.xml").await.text.contains("/atms/us/mo/saint-louis<"));
    close(&server, 5).await;
    close(&server, 7).await;
    for (path, has, lacks) in [
        ("/", "<b>5</b> machines", "<b>7</b>"),
        ("/atms/us", "<b>5</b> machines", "<b>7</b>"),
        ("/atms/us/mo", "<b>1</b> machine", "<b>2</b>"),
        ("/atms/us/tx", "<b>3</b> machines", "Marfa"),
        ("/atms/us/mo/saint-louis", "content=\"1 Bitcoin ATM in", "Arch Fuel"),
        ("/map", "<b>5</b> machines", "<b>7</b>"),
        ("/map?lang=es", "Mapa de 5 cajeros", "Mapa de 7"),
        ("/map/sight?box=30.2,-110,40,-90", "5 machines in sight", "Marfa"),
        ("/near?lat=30.309&lon=-104.02", "No machine within 25 mi", "Lonely Shop"),
        // The town has one ATM left, too few for an entry in the sitemap.
        ("/sitemap.xml", "/atm/6<", "/atms/us/mo/saint-louis<"),
        ("/sitemap.xml", "/atms/us/tx/austin<", "/atm/5<"),
    ] {
        let page = open(&server, path).await.text;
        assert!(page.contains(has) && !page.contains(lacks), "{path}, {has}, {lacks}: {page}");
    }
    assert_eq!(open(&server, "/map/points").await.text.as_bytes()[0], 5);
    assert_eq!(open(&server, "/atms/us/tx/marfa").await.status, 404);
    server.stop().await;
}

#[tokio::test]
async fn report_is_quoted_in_lists_and_results() {
    let server = shown(&[]).await;
    let near = json!({ "lat": 30.268, "lon": -97.743, "limit": 1 });
    let listed = async || {
        let found = server.call("find_nearest_bitcoin_atm", near.clone()).await.with(200);
        found["result"]["structuredContent"]["atms"][0].clone()
    };
    let before = listed().await;
    assert!(before["id"] == 1 && before.get("reports").is_none(), "{before}");
    server.reports("127.0.0.1", 1, &json!({ "seen": "gone", "how": "saw" })).await.with(201);
    let after = until("it is quoted", async || Some(listed().await).filter(|atm| atm.get("reports").is_some())).await;
    assert_eq!(after["reports"], "1 person says that it is gone; newest of 2026-11-22", "{after}");
    let mut same = after.clone();
    same.as_object_mut().unwrap().remove("reports");
    assert_eq!(same, before, "nothing else of it changed");
    let city = json!({ "state": "TX", "city": "Austin" });
    let list = server.call("list_atms_by_city", city).await.with(200);
    let quoted = list["result"]["structuredContent"]["atms"].as_array().unwrap().iter();
    let quoted: Vec<_> = quoted.filter(|atm| atm.get("reports").is_some()).map(|atm| atm["id"].clone()).collect();
    assert_eq!(quoted, [json!(1)], "{list}");
    let city = open(&server, "/atms/us/tx/austin").await.text;
    assert_eq!(city.matches("1 person says it is gone (22 Nov)").count(), 1, "{city}");
    let page = open(&server, "/atm/1").await.text;
    let status = page.split("<section class=\"verdict\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(status.contains("id=\"reports\"") && status.contains("1 person says it is gone (22 Nov)"), "{status}");
    let spanish = open(&server, "/atms/us/tx/austin?lang=es").await.text;
    assert_eq!(spanish.matches("1 persona dice que ya no está (22 nov)").count(), 1, "{spanish}");
    server.stop().await;
}

/// Returns the headers that are relevant to caches, and the body.
async fn fetch(server: &Service, method: Method, path: &str, headers: &[(&str, &str)]) -> (u16, Vec<String>, Vec<u8>) {
    let mut request = server.visitor().request(method, path).header("accept", "text/html");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let reply = request.send().await.unwrap();
    let status = reply.status().as_u16();
    let response = ["content-encoding", "etag", "content-length", "vary"];
    let header = |name: &str| {
        let values = reply.headers().get_all(name).iter().map(|value| value.to_str().unwrap().to_owned());
        values.collect::<Vec<_>>().join(", ")
    };
    (status, response.map(header).into(), reply.bytes().await.unwrap().to_vec())
}

#[tokio::test]
async fn only_cached_pages_are_compressed() {
    let server = shown(&[]).await;
    for path in ["/", "/atms/us", "/atms/us/tx", "/atms/us/tx/austin", "/atm/1", "/map", "/about/data"] {
        let (_, plain_headers, plain) = fetch(&server, Method::GET, path, &[]).await;
        // The first response is rendered, the second comes from the cache.
        for _ in 0..2 {
            let (status, headers, packed) = fetch(&server, Method::GET, path, &[("accept-encoding", "br, gzip")]).await;
            assert_eq!((status, headers[0].as_str()), (200, "gzip"), "{path}");
            let unpacked = std::io::read_to_string(GzDecoder::new(&packed[..])).unwrap();
            assert_eq!(unpacked.as_bytes(), plain, "{path}");
            assert!(packed.len() < plain.len() && headers[3].contains("accept-encoding"), "{path}: {headers:?}");
            assert!(headers[1] == plain_headers[1] && headers[1].starts_with("W/\""), "{path}: {headers:?}");
        }
        assert_eq!(plain_headers[0], "", "{path}");
        assert!(plain_headers[3].contains("accept-encoding") && plain_headers[3].contains("accept-language"), "{path}");
        let refused = fetch(&server, Method::GET, path, &[("accept-encoding", "gzip;q=0")]).await;
        assert_eq!((&*refused.1[0], &refused.2), ("", &plain), "{path}");
        let (status, headers, body) = fetch(&server, Method::HEAD, path, &[("accept-encoding", "gzip")]).await;
        assert_eq!((status, headers[0].as_str(), body.len()), (200, "gzip", 0), "{path}");
        let known = [("accept-encoding", "gzip"), ("if-none-match", plain_headers[1].as_str())];
        let (status, headers, body) = fetch(&server, Method::GET, path, &known).await;
        assert_eq!((status, headers[0].as_str(), body.len()), (304, "", 0), "{path}");
    }
    // Personal pages are sent uncompressed: their length must not reveal secret content.
    for path in ["/near?q=Austin%2C+TX", "/atm/1/report", "/atms/us/tx/nowhere", "/map/sight?box=30,-98,31,-97"] {
        let (_, headers, _) = fetch(&server, Method::GET, path, &[("accept-encoding", "gzip")]).await;
        assert_eq!(headers[0], "", "{path}");
    }
    server.stop().await;
}

#[tokio::test]
async fn cached_pages_request_the_device_location() {
    let server = shown(&[]).await;
    for path in ["/map", "/", "/atms/us/tx/austin", "/atm/1"] {
        let first = open(&server, path).await;
        let second = open(&server, path).await;
        assert_eq!(first.text, second.text);
        for page in [first, second] {
            assert!(page.header("permissions-policy").unwrap().contains("geolocation=(self)"), "{path}");
        }
    }
    server.stop().await;
}
