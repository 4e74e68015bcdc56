//! Results and ATMs for people on the way: rows, filters, warnings, directions, and the search near the user
//! (docs/locator.md, Pages).

use crate::pages::{open, shown};

/// Returns the position of a text in a page.
fn position(page: &str, text: &str) -> usize {
    page.find(text).unwrap_or_else(|| panic!("no {text}: {page}"))
}

#[tokio::test]
async fn directions_open_on_every_platform() {
    let server = shown(&[]).await;
    let page = open(&server, "/atm/1").await.text;
    for link in [
        "id=\"directions\" class=\"btn primary\" href=\"https://www.google.com/maps/dir/?api=1&amp;destination=30.268000%2C-97.743000\"",
        "data-apple=\"https://maps.apple.com/?daddr=30.268000%2C-97.743000\"",
        "href=\"https://www.openstreetmap.org/directions?to=30.268000%2C-97.743000\"",
    ] {
        let (id, class) = ("class=\"btn primary\" id=\"directions\"", "id=\"directions\" class=\"btn primary\"");
        assert!(page.replace(id, class).contains(link), "{link}: {page}");
    }
    // Only the script for Android shows the link with the other scheme.
    let hidden = page.split("<span id=\"other-app\" hidden>").nth(1).unwrap().split("</span>").next().unwrap();
    assert!(hidden.contains("geo:30.268000,-97.743000"), "{hidden}");
    assert_eq!(page.matches("geo:").count(), 1);
    server.stop().await;
}

#[tokio::test]
async fn warnings_are_a_line_in_lists_and_whole_above_directions() {
    let server = shown(&[]).await;
    for path in ["/", "/atms/us/tx", "/atms/us/tx/austin", "/near?q=Austin%2C+TX"] {
        let page = open(&server, path).await.text;
        let line = position(&page, "<details class=\"warnings\"><summary>");
        assert!(
            page[line..].split("</summary>").next().unwrap().contains("Did somebody send you here? Stop."),
            "{path}"
        );
        assert_eq!(page.matches("class=\"notice advisory\"").count(), 1, "{path}");
    }
    let page = open(&server, "/atm/1").await.text;
    assert!(!page.contains("<details class=\"warnings\""), "{page}");
    assert!(position(&page, "class=\"notice advisory\"") < position(&page, "id=\"directions\""));
    server.stop().await;
}

#[tokio::test]
async fn rows_omit_facts_that_are_unknown_for_all() {
    let server = shown(&[]).await;
    let page = open(&server, "/atms/us/tx/austin").await.text;
    assert_eq!(page.matches("We do not have fees for these machines.").count(), 1, "{page}");
    let row = page.split("<li class=\"machine\">").nth(1).unwrap().split("</li>").next().unwrap();
    for text in ["Corner Market", "1 Sample St", "Open until 10 pm", ">Buy<", "Reported 3 weeks ago"] {
        assert!(row.contains(text), "{text}: {row}");
    }
    assert!(!row.contains("not known") && !row.contains("fee"), "{row}");
    server.stop().await;
}

#[tokio::test]
async fn filters_select_some_atms_but_not_all() {
    let server = shown(&[]).await;
    let path = "/atms/us/tx/austin";
    // All ATMs are open, none pays out cash: no filter changes the list.
    assert!(!open(&server, path).await.text.contains("<nav class=\"filters\""));
    let filtered = open(&server, &format!("{path}?only=sell")).await.text;
    let filters = filtered.split("<nav class=\"filters\"").nth(1).unwrap().split("</nav>").next().unwrap();
    assert!(filters.contains("Pays out cash") && filters.contains("All") && !filters.contains("Open now"), "{filters}");
    server.stop().await;
}

#[tokio::test]
async fn search_near_the_user_states_the_rounding() {
    let server = shown(&[]).await;
    let near = open(&server, "/near?lat=30.268&lon=-97.743&here=1").await.text;
    for text in [
        "Bitcoin ATMs near <bdi>you</bdi>",
        "Searched around 30.268, -97.743: your location, rounded to three decimals (about 100 m).",
        "class=\"m-me\"",
        "Blue dot: your location.",
    ] {
        assert!(near.contains(text), "{text}: {near}");
    }
    // The mark of the user is not on the maps of other places.
    for path in ["/near?lat=30.268&lon=-97.743", "/near?q=Austin%2C+TX", "/atms/us/tx/austin", "/atm/1"] {
        let page = open(&server, path).await.text;
        assert!(!page.contains("m-me") && page.contains("<svg viewBox=\"0 0 360 340\""), "{path}: {page}");
        assert_eq!(page.contains("m-place"), path != "/atm/1", "{path}");
    }
    // Without scripts the button sends the form.
    let plain = open(&server, "/near?q=Austin&here=1").await.text;
    assert!(plain.contains("“Near me” needs JavaScript.") && !plain.contains("<li class=\"machine\">"), "{plain}");
    for path in ["/", "/near", "/atms/us/tx/austin", "/atm/1"] {
        let page = open(&server, path).await;
        assert!(page.text.contains("id=\"near-me\"") && page.text.contains("data-insecure=\"Browsers"), "{path}");
        assert!(page.header("permissions-policy").unwrap().contains("geolocation=(self)"), "{path}");
    }
    server.stop().await;
}

#[tokio::test]
async fn atm_page_lists_the_atms_around_it() {
    let server = shown(&[]).await;
    let page = open(&server, "/atm/1").await.text;
    let nearby = page.split("<h2 id=\"nearby\">Machines close by</h2>").nth(1).unwrap();
    let nearby = nearby.split("</ol>").next().unwrap();
    assert!(nearby.contains("href=\"/atm/2\"") && nearby.contains("href=\"/atm/3\""), "{nearby}");
    // Neither the ATM itself nor one that is gone.
    assert!(!nearby.contains("href=\"/atm/1\"") && !nearby.contains("href=\"/atm/4\""), "{nearby}");
    assert!(!open(&server, "/atm/7").await.text.contains("Machines close by"));
    server.stop().await;
}
