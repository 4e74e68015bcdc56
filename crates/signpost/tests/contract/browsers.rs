//! Responses for browsers: the start page, error pages, assets, and documents for crawlers. The harness checks the
//! headers of every page.

use reqwest::Method;

use crate::harness::{Integrator, Reply, Service, send};

/// The `Accept` header of a browser navigation.
const NAVIGATION: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

async fn navigate(visitor: &Integrator, method: Method, path: &str, headers: &[(&str, &str)]) -> Reply {
    let request = visitor.request(method, path).header("accept", NAVIGATION);
    send(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
}

async fn open_page(visitor: &Integrator, path: &str) -> Reply {
    navigate(visitor, Method::GET, path, &[]).await
}

#[tokio::test]
async fn start_page_is_for_clients_without_json() {
    for (services, login, locator) in [("auth", true, false), ("atm", false, true), ("atm,auth", true, true)] {
        let service = Service::with(&[("services", services)]).await;
        let visitor = service.visitor();
        let page = open_page(&visitor, "/").await;
        // With the locator, the page contains the number of ATMs, which can change.
        let kept = if locator { "max-age=0" } else { "max-age=300" };
        assert_eq!((page.status, page.header("cache-control")), (200, Some(kept)));
        assert_eq!(page.header("vary"), Some("accept, accept-language"));
        assert_eq!(page.text.contains("href=\"/v1/reference\""), login, "{services}: {}", page.text);
        assert_eq!(page.text.contains("/mcp</code>"), locator, "{services}: {}", page.text);
        let address = &service.app.public_address;
        assert!(page.text.contains(address.trim_start_matches("http://")), "{}", page.text);
        for accept in ["*/*", "text/*", ""] {
            let page = send(visitor.request(Method::GET, "/").header("accept", accept)).await;
            assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"), "{accept}");
        }
        let refused = send(visitor.request(Method::GET, "/").header("accept", "application/json")).await;
        refused.assert_error(404, "not_found");
        assert_eq!(refused.header("vary"), Some("accept"));
    }
}

#[tokio::test]
async fn start_page_links_resolve() {
    let service = Service::with(&[("services", "atm,auth")]).await;
    let visitor = service.visitor();
    let page = open_page(&visitor, "/").await.text;
    let links: Vec<_> = page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let paths: Vec<_> = links.iter().filter(|link| link.starts_with('/')).collect();
    assert!(paths.len() > 4, "{links:?}");
    for path in paths {
        assert_eq!(open_page(&visitor, path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn page_language_follows_the_request() {
    let service = Service::start().await;
    let visitor = service.visitor();
    for (path, accepted, language) in [
        ("/", "", "en"),
        ("/", "es-MX,es;q=0.9,en;q=0.8", "es"),
        ("/?lang=en", "es", "en"),
        ("/?lang=es", "en", "es"),
        ("/nothing", "es", "es"),
        ("/nothing?lang=en", "es", "en"),
    ] {
        let page = navigate(&visitor, Method::GET, path, &[("accept-language", accepted)]).await;
        assert!(page.text.contains(&format!("<html lang=\"{language}\">")), "{path} {accepted}: {}", page.text);
    }
}

#[tokio::test]
async fn errors_are_html_or_json_by_client() {
    let service = Service::start().await;
    let visitor = service.visitor();
    for (method, path, status) in [
        (Method::GET, "/nothing", 404),
        (Method::GET, "/assets/none.css", 404),
        (Method::POST, "/", 405),
        (Method::PUT, "/robots.txt", 405),
    ] {
        let page = navigate(&visitor, method.clone(), path, &[]).await;
        assert_eq!(page.status, status, "{path}");
        assert!(page.text.contains("<h1 id=\"title\">") && page.text.contains("href=\"/\""), "{}", page.text);
        assert_eq!(page.header("x-robots-tag"), Some("noindex"), "{path}");
        assert_eq!(page.header("allow").is_some(), status == 405, "{path}");
        let reply = send(visitor.request(method, path)).await;
        assert_eq!((reply.status, reply.header("content-type")), (status, Some("application/json")), "{path}");
    }
    for (path, status) in [("/v1/nothing", 404), ("/v1/domains", 401), ("/sandbox/v1/nothing", 404), ("/health/x", 404)]
    {
        let reply = open_page(&visitor, path).await;
        assert_eq!((reply.status, reply.header("content-type")), (status, Some("application/json")), "{path}");
    }
}

#[tokio::test]
async fn error_page_does_not_echo_the_path() {
    let service = Service::start().await;
    let page = open_page(&service.visitor(), "/%3Cscript%3Ealert(1)%3C/script%3E?lang=%22%3E%3Cb%3E").await;
    assert_eq!(page.status, 404);
    assert!(!page.text.contains("alert(1)") && !page.text.contains("<b>"), "{}", page.text);
}

#[tokio::test]
async fn assets_are_cached_as_immutable() {
    let service = Service::start().await;
    let visitor = service.visitor();
    let page = open_page(&visitor, "/").await.text;
    let path = page.split("rel=\"stylesheet\" href=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("one");
    let plain = visitor.get(path).await;
    assert_eq!((plain.status, plain.header("content-type")), (200, Some("text/css; charset=utf-8")));
    assert_eq!(plain.header("cache-control"), Some("public, max-age=31536000, immutable"));
    let request = visitor.request(Method::GET, path).header("accept-encoding", "gzip");
    let compressed = request.send().await.expect("a reply");
    assert_eq!(compressed.headers()["content-encoding"], "gzip");
    assert!(compressed.bytes().await.expect("a body").len() * 3 < plain.text.len());
    let other = path.replace(|letter: char| letter.is_ascii_digit(), "0");
    visitor.get(&other).await.assert_error(404, "not_found");
}

#[tokio::test]
async fn crawler_documents_use_the_public_url() {
    let public = "https://signpost.test";
    let service = Service::with(&[("services", "atm,auth"), ("public_url", public)]).await;
    let visitor = service.visitor();
    let robots = visitor.get("/robots.txt").await;
    assert_eq!(robots.header("content-type"), Some("text/plain; charset=utf-8"));
    assert!(robots.text.contains("Disallow: /login/\n"), "{}", robots.text);
    assert!(robots.text.contains("Sitemap: https://signpost.test/sitemap.xml\n"), "{}", robots.text);
    let sitemap = visitor.get("/sitemap.xml").await;
    assert_eq!(sitemap.header("content-type"), Some("application/xml"));
    assert!(sitemap.text.contains("<loc>https://signpost.test/</loc>"), "{}", sitemap.text);
    let guide = visitor.get("/llms.txt").await;
    assert!(guide.text.starts_with("# Signpost at signpost.test\n"), "{}", guide.text);
    for link in ["/v1/openapi.yaml", "/mcp", "/.well-known/mcp-server"] {
        assert!(guide.text.contains(&format!("({public}{link})")), "{link}: {}", guide.text);
    }
    let page = open_page(&visitor, "/").await.text;
    assert!(page.contains("<a class=\"brand\" href=\"/\">"), "{page}");
    let icon = visitor.request(Method::GET, "/favicon.ico").send().await.expect("a reply");
    assert_eq!(icon.headers()["content-type"], "image/x-icon");
    assert!(icon.bytes().await.expect("a body").starts_with(&[0, 0, 1, 0]));
}
