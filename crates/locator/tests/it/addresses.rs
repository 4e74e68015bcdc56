//! Addresses on one line, in the notations of several countries.

use signpost_locator::import::{Options, read_with_places};
use signpost_locator::{Address, Country};

use crate::{GAZETTEER, point};

fn parts(address: &Address) -> [&str; 5] {
    let country = address.country.as_ref().map_or("", Country::code);
    let texts = [&address.street, &address.city, &address.region, &address.postcode];
    let [street, city, region, postcode] = texts.map(|text| text.as_deref().unwrap_or_default());
    [street, city, region, postcode, country]
}

/// A line, the coordinates of the ATM, and its street, city, region, postcode and country.
#[rustfmt::skip]
const LINES: &[(&str, (f64, f64), [&str; 5])] = &[
    ("Alexanderplatz 1, 10178 Berlin, Germany", (52.5219, 13.4132), ["Alexanderplatz 1", "Berlin", "", "10178", "DE"]),
    ("Alexanderplatz 1, 10178 Berlin, DE", (52.5219, 13.4132), ["Alexanderplatz 1", "Berlin", "", "10178", "DE"]),
    ("Alexanderplatz 1, 10178 Berlin", (52.5219, 13.4132), ["Alexanderplatz 1", "Berlin", "", "10178", "DE"]),
    ("Alexanderplatz 1, D-10178 Berlin, Deutschland", (52.5219, 13.4132), ["Alexanderplatz 1", "Berlin", "", "D-10178", "DE"]),
    ("Alexanderplatz 1, 10178 Berlin Germany", (52.5219, 13.4132), ["Alexanderplatz 1", "Berlin", "", "10178", "DE"]),
    ("Marienplatz 1, 80331 München, Bayern, Germany", (48.137, 11.575), ["Marienplatz 1", "München", "Bayern", "80331", "DE"]),
    ("Hauptstr. 5, 94999 Kleinstdorfhausen, Germany", (48.7, 13.0), ["Hauptstr. 5", "Kleinstdorfhausen", "", "94999", "DE"]),
    ("Av. Paulista 1000, São Paulo - SP, 01310-100, Brazil", (-23.565, -46.652), ["Av. Paulista 1000", "São Paulo", "SP", "01310-100", "BR"]),
    ("Av. Paulista, 1000 - Bela Vista, São Paulo - SP, 01310-100, Brasil", (-23.565, -46.652), ["Av. Paulista, 1000 - Bela Vista", "São Paulo", "SP", "01310-100", "BR"]),
    ("1-1 Marunouchi, Chiyoda-ku, Tokyo 100-0005, Japan", (35.6812, 139.7671), ["1-1 Marunouchi, Chiyoda-ku", "Tokyo", "", "100-0005", "JP"]),
    ("12 High St, London SW1A 1AA, UK", (51.501, -0.142), ["12 High St", "London", "", "SW1A 1AA", "GB"]),
    ("12 High St, London, SW1A 1AA, United Kingdom", (51.501, -0.142), ["12 High St", "London", "", "SW1A 1AA", "GB"]),
    ("1 Park Row, Leeds, West Yorkshire, LS1 5HD, UK", (53.798, -1.547), ["1 Park Row", "Leeds", "West Yorkshire", "LS1 5HD", "GB"]),
    ("Damrak 1, 1012 LG Amsterdam, Netherlands", (52.376, 4.898), ["Damrak 1", "Amsterdam", "", "1012 LG", "NL"]),
    ("Via Torino 2, 20123 Milano MI, Italy", (45.463, 9.186), ["Via Torino 2", "Milano", "MI", "20123", "IT"]),
    ("Via Torino 2, 20123 Milano (MI)", (45.463, 9.186), ["Via Torino 2", "Milano", "MI", "20123", "IT"]),
    ("Gran Vía 28, 28013 Madrid, Spain", (40.420, -3.702), ["Gran Vía 28", "Madrid", "", "28013", "ES"]),
    ("Calle Mayor 5, 28801 Alcalá de Henares, Madrid, Spain", (40.482, -3.364), ["Calle Mayor 5", "Alcalá de Henares", "Madrid", "28801", "ES"]),
    ("10 rue de Rivoli, 75004 Paris, France", (48.855, 2.36), ["10 rue de Rivoli", "Paris", "", "75004", "FR"]),
    ("200 George St, Sydney NSW 2000, Australia", (-33.862, 151.207), ["200 George St", "Sydney", "NSW", "2000", "AU"]),
    ("12 Queen St, Auckland 1010, New Zealand", (-36.844, 174.767), ["12 Queen St", "Auckland", "", "1010", "NZ"]),
    ("MG Road 5, Bengaluru, Karnataka 560001, India", (12.975, 77.606), ["MG Road 5", "Bengaluru", "Karnataka", "560001", "IN"]),
    ("Bahnhofstrasse 1, 8001 Zürich, Switzerland", (47.369, 8.539), ["Bahnhofstrasse 1", "Zürich", "", "8001", "CH"]),
    ("Vodičkova 1, 110 00 Praha 1, Czechia", (50.081, 14.425), ["Vodičkova 1", "Praha", "", "110 00", "CZ"]),
    ("ul. Długa 1, 00-238 Warszawa, Polska", (52.249, 21.005), ["ul. Długa 1", "Warszawa", "", "00-238", "PL"]),
    ("1051 Budapest, Nádor utca 1, Hungary", (47.499, 19.049), ["Nádor utca 1", "Budapest", "", "1051", "HU"]),
    ("1 Grafton St, Dublin 2, D02 X285, Ireland", (53.341, -6.26), ["1 Grafton St", "Dublin", "", "D02 X285", "IE"]),
    ("1 Raffles Place, Singapore 048616", (1.284, 103.851), ["1 Raffles Place", "Singapore", "", "048616", "SG"]),
    ("1 Raffles Place, Singapore", (1.284, 103.851), ["1 Raffles Place", "Singapore", "", "", "SG"]),
    ("Av. Insurgentes 123, Roma Norte, 06700 Ciudad de México, CDMX, Mexico", (19.415, -99.165), ["Av. Insurgentes 123, Roma Norte", "Ciudad de México", "CDMX", "06700", "MX"]),
    ("Cra. 43A 1-50, Medellín, Antioquia, Colombia", (6.209, -75.571), ["Cra. 43A 1-50", "Medellín", "Antioquia", "", "CO"]),
    ("110 Sejong-daero, Jung-gu, Seoul 04524, South Korea", (37.5665, 126.978), ["110 Sejong-daero, Jung-gu", "Seoul", "", "04524", "KR"]),
    ("1 Main St, Austin, TX 78701", (30.267, -97.743), ["1 Main St", "Austin", "TX", "78701", "US"]),
    ("100 King St W, Toronto, ON M5X 1A9, Canada", (43.648, -79.381), ["100 King St W", "Toronto", "ON", "M5X 1A9", "CA"]),
    ("Berlin, Germany", (52.5219, 13.4132), ["", "Berlin", "", "", "DE"]),
    ("Bağdat Cd. No:5, 34728 Kadıköy/İstanbul, Türkiye", (40.969, 29.06), ["Bağdat Cd. No:5", "Kadıköy", "İstanbul", "34728", "TR"]),
    ("Atatürk Blv. 10, Kızılay, 06420 Çankaya/Ankara", (39.92, 32.854), ["Atatürk Blv. 10, Kızılay", "Çankaya", "Ankara", "06420", "TR"]),
    ("〒150-0043 東京都渋谷区道玄坂2丁目1番1号", (35.658, 139.7016), ["道玄坂2丁目1番1号", "渋谷区", "東京都", "150-0043", "JP"]),
    ("日本、〒530-0001 大阪府大阪市北区梅田3丁目1−1", (34.702, 135.495), ["北区梅田3丁目1−1", "大阪市", "大阪府", "530-0001", "JP"]),
    ("上海市浦东新区世纪大道100号", (31.235, 121.506), ["浦东新区世纪大道100号", "上海市", "", "", "CN"]),
    ("中国广东省深圳市南山区科技园路1号 邮编: 518057", (22.54, 113.953), ["南山区科技园路1号", "深圳市", "广东省", "518057", "CN"]),
    ("110台北市信義區信義路五段7號", (25.033, 121.564), ["信義區信義路五段7號", "台北市", "", "110", "TW"]),
    ("대한민국 서울특별시 강남구 테헤란로 152", (37.5001, 127.0364), ["강남구 테헤란로 152", "서울특별시", "", "", "KR"]),
    ("경기도 성남시 분당구 판교역로 166 (13529)", (37.395, 127.111), ["분당구 판교역로 166", "성남시", "경기도", "13529", "KR"]),
    ("香港九龍旺角彌敦道610號", (22.317, 114.17), ["九龍旺角彌敦道610號", "Hong Kong", "", "", "HK"]),
    ("九龍旺角彌敦道610號", (22.317, 114.17), ["", "", "", "", ""]),
];

#[test]
fn addresses_of_all_countries_are_parsed() {
    let mut wrong = Vec::new();
    for (line, (lat, lon), expected) in LINES {
        let address = GAZETTEER.parse_address(line, point(*lat, *lon), None).unwrap_or_default();
        if parts(&address) != *expected {
            wrong.push(format!("{line}: {:?}", parts(&address)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn distant_cities_are_not_used() {
    for (line, (lat, lon), expected) in [
        (
            "Alexanderplatz 1, 10178 Berlin, Germany",
            (48.137, 11.575),
            ["Alexanderplatz 1, 10178 Berlin", "", "", "", "DE"],
        ),
        ("Alexanderplatz 1, 10178 Berlin, Germany", (30.267, -97.743), [""; 5]),
        ("1 Main St, Dallas, TX 75201", (30.267, -97.743), ["1 Main St", "", "TX", "75201", "US"]),
        ("1 Main St, Austin, TX 78701", (52.52, 13.405), ["1 Main St", "", "TX", "78701", "US"]),
        ("Paris", (52.52, 13.405), [""; 5]),
        ("東京都渋谷区道玄坂2-1", (52.52, 13.405), [""; 5]),
        ("大阪府大阪市北区梅田3", (35.658, 139.7016), ["北区梅田3", "", "大阪府", "", "JP"]),
    ] {
        let address = GAZETTEER.parse_address(line, point(lat, lon), None).unwrap_or_default();
        let found = parts(&address);
        assert_eq!(found[1..], expected[1..], "{line}");
    }
}

#[test]
fn columns_override_the_address_line() {
    let file = "lat,lon,address,city,region,postcode,country\n\
                52.5219,13.4132,\"Alexanderplatz 1, 10178 Berlin, Germany\",Mitte,Land Berlin,10000,\n\
                52.5219,13.4132,\"Alexanderplatz 1, 10178 Berlin\",,,,Germany\n\
                52.5219,13.4132,\"Alexanderplatz 1\n10178 Berlin\nGermany\",null,,,N/A\n";
    let import = read_with_places(file.as_bytes(), &Options::default(), &GAZETTEER).unwrap();
    let addresses: Vec<_> = import.rows.iter().map(|row| parts(&row.record.address)).collect();
    let street = "Alexanderplatz 1";
    assert_eq!(addresses[0], [street, "Mitte", "Land Berlin", "10000", "DE"]);
    assert_eq!(addresses[1], [street, "Berlin", "", "10178", "DE"]);
    assert_eq!(addresses[2], [street, "Berlin", "", "10178", "DE"]);
    assert_eq!(import.invalid_cells.total, 0);
}

#[test]
fn hostile_lines_are_parsed_in_bounded_time() {
    for part in [",", "a,", "1 ", "Berlin, ", "10178 Berlin ", " - ", "é，", "12345,", "(", "Germany "] {
        let line = part.repeat(500 / part.len());
        for country in [None, Country::parse("DE")] {
            let address = GAZETTEER.parse_address(&line, point(52.52, 13.405), country);
            assert!(
                address.is_none_or(|address| parts(&address).iter().all(|part| part.len() <= line.len())),
                "{line}"
            );
        }
    }
}
