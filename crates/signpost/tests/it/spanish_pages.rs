//! Pages in Spanish, with English data of sources and the server: docs/locator.md, Pages.

use signpost_atm::catalogue::{Snapshot, StoredCatalogue};
use signpost_locator::{Atm, AtmId, Currency, Decimal, Point, Record};

use crate::assistant::server_with;
use crate::pages::open;

#[tokio::test]
async fn unknown_values_and_fees_are_in_spanish() {
    let server = server_with(&[]).await;
    let mut record = Record::at(Point::new(30.268, -97.743).unwrap());
    record.name = Some("Kiosk".into());
    record.more_mut().fees.buy_percent = Decimal::parse("16.5");
    record.more_mut().fees.currency = Currency::parse("USD");
    record.more_mut().limits.max = Decimal::parse("999.5");
    let atm = Atm { id: AtmId::new(1).unwrap(), source: "test".into(), record: record.into() };
    let catalogue = &server.app.atm.catalogue;
    let version = catalogue.snapshot().version();
    catalogue.replace(Snapshot::build(StoredCatalogue { version, atms: vec![atm], ..StoredCatalogue::default() }));
    for (lang, expected) in [
        ("en", ["content=\"address not known.", "$100 buys about $86 (to buy 16.5 %)", "999.5"]),
        ("es", ["content=\"dirección no conocida.", "Con $100 compras unos $86 (al comprar 16,5 %)", "999,5"]),
    ] {
        let page = open(&server, &format!("/atm/1?lang={lang}")).await.text;
        for text in expected {
            assert!(page.contains(text), "{lang}, {text}: {page}");
        }
        // Without an address there is no copy button.
        assert!(!page.contains("id=\"copy\""), "{page}");
    }
    let list = open(&server, "/near?lat=30.268&lon=-97.743&lang=es").await.text;
    assert!(list.contains("Con $100 compras unos $86"), "{list}");
    server.stop().await;
}
