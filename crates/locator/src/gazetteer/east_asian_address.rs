//! Addresses of Japan, China, Taiwan, South Korea, Hong Kong and Macao in their own scripts: from the largest part to
//! the smallest, and without separators except in Korean. The parts end with the characters of their kind, such as 市
//! for a city.

use super::Gazetteer;
use super::address_reader::{MAX_CANDIDATES, NEAR};
use super::query::Within;
use crate::address::Address;
use crate::country::Country;
use crate::fold::fold;
use crate::point::Point;

/// Names of the countries at the start of an address.
const COUNTRY_NAMES: [(&str, &str); 15] = [
    ("日本国", "JP"),
    ("日本", "JP"),
    ("中华人民共和国", "CN"),
    ("中国", "CN"),
    ("中國", "CN"),
    ("中華民國", "TW"),
    ("臺灣", "TW"),
    ("台灣", "TW"),
    ("台湾", "TW"),
    ("대한민국", "KR"),
    ("한국", "KR"),
    ("香港", "HK"),
    ("澳門", "MO"),
    ("澳门", "MO"),
    ("홍콩", "HK"),
];
/// A quarter in several cities of Japan whose name begins with the name of the country.
const NIHONBASHI: &str = "日本橋";
/// Characters between the parts of an address.
const SEPARATORS: [char; 8] = [' ', '\u{3000}', ',', '，', '、', ':', '：', '〒'];
/// Chinese cities that are divisions themselves.
const MUNICIPALITIES: [&str; 5] = ["北京", "上海", "天津", "重庆", "重慶"];
/// Korean cities that are divisions themselves.
const METROPOLITAN: [&str; 8] = ["서울", "부산", "대구", "인천", "광주", "대전", "울산", "세종"];
/// Endings of the names of these cities.
const METROPOLITAN_ENDINGS: [&str; 5] = ["", "시", "특별시", "광역시", "특별자치시"];
/// Japanese divisions that do not end with 県.
const PREFECTURES: [&str; 4] = ["東京都", "北海道", "京都府", "大阪府"];
/// Maximum characters of a province.
const MAX_PROVINCE: usize = 9;
/// Maximum characters of a city.
const MAX_CITY: usize = 10;

/// The parts of an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct EastAsianParts<'a> {
    region: Option<&'a str>,
    city: Option<&'a str>,
    postcode: Option<&'a str>,
    street: &'a str,
}

/// Checks for Chinese, Japanese or Korean letters.
pub(super) fn is_east_asian(line: &str) -> bool {
    line.contains(
        |letter: char| matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}'),
    )
}

impl Gazetteer {
    /// Parses an address in the script of its country. `None` if it is not in East Asia. A city that is known only far
    /// from the point is not returned.
    pub(super) fn parse_address_in_east_asia(
        &self,
        line: &str,
        point: Point,
        country: Option<Country>,
        around: &[Country],
    ) -> Option<Address> {
        let (written, rest) = split_country(line);
        let written = written.filter(|country| self.is_near(point, NEAR, *country, None));
        let known = country.or(written);
        let countries = known.as_slice().iter().chain(if known.is_none() { around } else { &[] });
        for country in countries {
            let Some(parts) = parts_in(*country, if written.is_some() { rest } else { line }) else { continue };
            if known.is_some() || parts.city.is_some() || parts.region.is_some() {
                return Some(self.east_asian_address(line, parts, *country, point));
            }
        }
        None
    }

    fn east_asian_address(&self, line: &str, parts: EastAsianParts<'_>, country: Country, point: Point) -> Address {
        let city = match country.code() {
            "HK" | "MO" if self.is_near(point, NEAR, country, None) => Some(country.name()),
            _ => parts.city.filter(|city| !self.is_known_only_far_away(city, country, point)),
        };
        let has_end = city.is_some() || parts.postcode.is_some() || parts.region.is_some();
        let street = if has_end && !parts.street.is_empty() { Some(parts.street.into()) } else { None };
        Address {
            street,
            city: city.map(Into::into),
            region: parts.region.map(Into::into),
            postcode: parts.postcode.map(Into::into),
            country: Some(country),
            formatted: Some(line.trim().into()),
        }
    }

    fn is_known_only_far_away(&self, city: &str, country: Country, point: Point) -> bool {
        let without_kind = city.trim_end_matches(['市', '区', '區', '縣', '县', '시', '군']);
        let mut is_known = false;
        for name in [city, without_kind] {
            let folded = fold(name);
            for candidate in self.named(&folded, Within::Country(country)).take(MAX_CANDIDATES) {
                is_known = true;
                if self.point(candidate.place()).distance(point) <= NEAR {
                    return false;
                }
            }
        }
        is_known
    }
}

/// Splits the country off the start of a line.
fn split_country(line: &str) -> (Option<Country>, &str) {
    let line = line.trim();
    if line.starts_with(NIHONBASHI) {
        return (None, line);
    }
    for (name, code) in COUNTRY_NAMES {
        if let Some(rest) = line.strip_prefix(name) {
            return (Country::parse(code), rest.trim_matches(SEPARATORS));
        }
    }
    (None, line)
}

/// Returns the parts of an address in a country. `None` for other countries.
fn parts_in(country: Country, line: &str) -> Option<EastAsianParts<'_>> {
    let line = line.trim_matches(SEPARATORS);
    let parts = match country.code() {
        "JP" => japanese(line),
        "CN" => chinese(line),
        "TW" => taiwanese(line),
        "KR" => korean(line),
        "HK" | "MO" => EastAsianParts { street: line, ..EastAsianParts::default() },
        _ => return None,
    };
    Some(EastAsianParts { street: parts.street.trim_matches(SEPARATORS), ..parts })
}

fn japanese(line: &str) -> EastAsianParts<'_> {
    let (postcode, rest) = split_japanese_postcode(line);
    let prefecture = PREFECTURES.iter().find_map(|name| split_at_checked(rest, name.len(), name));
    let (region, rest) = match prefecture.or_else(|| split_after(rest, &['県'], 2, 4)) {
        Some((region, rest)) => (Some(region), rest),
        None => (None, rest),
    };
    let (city, street) = split_japanese_city(rest.trim_start_matches(SEPARATORS));
    EastAsianParts { region, city, postcode, street }
}

/// Splits a text if it starts with a name.
fn split_at_checked<'a>(text: &'a str, length: usize, name: &str) -> Option<(&'a str, &'a str)> {
    if text.starts_with(name) { Some(text.split_at(length)) } else { None }
}

fn split_japanese_postcode(line: &str) -> (Option<&str>, &str) {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let Some((first, rest)) = line.split_once(['-', '−', '－', 'ー']) else { return (None, line) };
    if first.len() != 3 || digits(first) != 3 || digits(rest) != 4 {
        return (None, line);
    }
    let length = line.len() - rest.len() + 4;
    (Some(&line[..length]), line[length..].trim_start_matches(SEPARATORS))
}

/// Splits a city (市), a ward of Tokyo (区), or a town or village of a district (郡) off the start of a text.
fn split_japanese_city(text: &str) -> (Option<&str>, &str) {
    let letters: Vec<(usize, char)> = text.char_indices().take(MAX_CITY).collect();
    let mut is_in_district = false;
    for (position, (at, letter)) in letters.iter().enumerate().skip(1) {
        let next = letters.get(position + 1).map(|(_, next)| *next);
        let is_end = match letter {
            // 四日市市 and 大和郡山市 have the characters in their names.
            '市' | '区' => next != Some('市'),
            '町' | '村' => is_in_district,
            _ => false,
        };
        if is_end {
            let (city, rest) = text.split_at(at + letter.len_utf8());
            return (Some(city), rest);
        }
        is_in_district |= *letter == '郡' && !matches!(next, Some('市' | '山'));
    }
    (None, text)
}

fn chinese(line: &str) -> EastAsianParts<'_> {
    let (postcode, rest) = split_chinese_postcode(line);
    for name in MUNICIPALITIES {
        if let Some(after) = rest.strip_prefix(name) {
            let after = after.strip_prefix('市').unwrap_or(after);
            let city = &rest[..rest.len() - after.len()];
            let street = after.trim_start_matches(SEPARATORS);
            let street = street.strip_prefix(city).unwrap_or(street);
            return EastAsianParts { city: Some(city), postcode, street, region: None };
        }
    }
    let province = split_after(rest, &['省'], 2, MAX_PROVINCE).or_else(|| {
        let end = rest.find("自治区").or_else(|| rest.find("自治區"))? + "自治区".len();
        if rest[..end].chars().count() <= MAX_PROVINCE { Some(rest.split_at(end)) } else { None }
    });
    let (region, rest) = province.map_or((None, rest), |(region, rest)| (Some(region), rest));
    let rest = rest.trim_start_matches(SEPARATORS);
    match split_after(rest, &['市', '州', '盟'], 2, MAX_CITY) {
        Some((city, street)) => EastAsianParts { region, city: Some(city), postcode, street },
        None => EastAsianParts { region, city: None, postcode, street: rest },
    }
}

/// Splits a postcode of six digits off the start or the end, also after its label.
fn split_chinese_postcode(line: &str) -> (Option<&str>, &str) {
    let is_code = |text: &str| text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((code, rest)) = line.split_at_checked(6)
        && is_code(code)
    {
        return (Some(code), rest.trim_start_matches(SEPARATORS));
    }
    let Some((rest, code)) = line.len().checked_sub(6).and_then(|at| line.split_at_checked(at)) else {
        return (None, line);
    };
    if !is_code(code) || rest.ends_with(|letter: char| letter.is_ascii_digit()) {
        return (None, line);
    }
    let rest = rest.trim_end_matches(SEPARATORS);
    let labels = ["邮政编码", "邮编", "郵遞區號"];
    let rest = labels.iter().find_map(|label| rest.strip_suffix(label)).unwrap_or(rest);
    (Some(code), rest.trim_end_matches(SEPARATORS))
}

fn taiwanese(line: &str) -> EastAsianParts<'_> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (code, rest) = line.split_at(if [3, 5, 6].contains(&digits) { digits } else { 0 });
    let postcode = Some(code).filter(|code| !code.is_empty());
    let rest = rest.trim_start_matches(SEPARATORS);
    if let Some((city, street)) = split_after(rest, &['市'], 2, 3) {
        return EastAsianParts { region: None, city: Some(city), postcode, street };
    }
    let Some((county, rest)) = split_after(rest, &['縣', '县'], 2, 3) else {
        return EastAsianParts { postcode, street: rest, ..EastAsianParts::default() };
    };
    match split_after(rest, &['市', '鎮', '鄉', '镇', '乡'], 2, 4) {
        Some((city, street)) => EastAsianParts { region: Some(county), city: Some(city), postcode, street },
        None => EastAsianParts { region: Some(county), city: None, postcode, street: rest },
    }
}

fn korean(line: &str) -> EastAsianParts<'_> {
    let (postcode, rest) = split_korean_postcode(line);
    let (first, after) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_metropolitan = METROPOLITAN
        .iter()
        .any(|name| first.strip_prefix(name).is_some_and(|ending| METROPOLITAN_ENDINGS.contains(&ending)));
    if is_metropolitan {
        return EastAsianParts { region: None, city: Some(first), postcode, street: after };
    }
    let is_city = |word: &str| word.chars().count() > 1 && word.ends_with(['시', '군']);
    if is_city(first) {
        return EastAsianParts { region: None, city: Some(first), postcode, street: after };
    }
    let (second, street) = after.split_once(' ').unwrap_or((after, ""));
    let short = ["경기", "강원", "충북", "충남", "전북", "전남", "경북", "경남", "제주"];
    if !first.ends_with('도') && !short.contains(&first) {
        return EastAsianParts { postcode, street: rest, ..EastAsianParts::default() };
    }
    if is_city(second) {
        EastAsianParts { region: Some(first), city: Some(second), postcode, street }
    } else {
        EastAsianParts { region: Some(first), city: None, postcode, street: after }
    }
}

/// Splits a postcode of five digits off the start or the end, also in parentheses.
fn split_korean_postcode(line: &str) -> (Option<&str>, &str) {
    let line = line.strip_prefix("우)").unwrap_or(line).trim();
    let plain = |word: &str| word.len() == 5 && word.bytes().all(|byte| byte.is_ascii_digit());
    let bare = |word: &'_ str| -> (usize, usize) {
        let start = word.len() - word.trim_start_matches('(').len();
        (start, word.trim_end_matches([')', ',']).len().max(start))
    };
    if let Some((first, rest)) = line.split_once(' ') {
        let (start, end) = bare(first);
        if plain(&first[start..end]) {
            return (Some(&first[start..end]), rest.trim_start());
        }
    }
    if let Some((rest, last)) = line.rsplit_once(' ') {
        let (start, end) = bare(last);
        if plain(&last[start..end]) {
            return (Some(&last[start..end]), rest.trim_end_matches([' ', ',']));
        }
    }
    (None, line)
}

/// Splits a text after the first of these endings, if the part has `min` characters before it and at most `max` in all.
fn split_after<'a>(text: &'a str, endings: &[char], min: usize, max: usize) -> Option<(&'a str, &'a str)> {
    let mut letters = text.char_indices().take(max).skip(min);
    let (at, ending) = letters.find(|(_, letter)| endings.contains(letter))?;
    Some(text.split_at(at + ending.len_utf8()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A country, a line, and its region, city, postcode and street.
    #[rustfmt::skip]
    const LINES: [(&str, &str, [&str; 4]); 23] = [
        ("JP", "〒150-0043 東京都渋谷区道玄坂2丁目1番1号", ["東京都", "渋谷区", "150-0043", "道玄坂2丁目1番1号"]),
        ("JP", "大阪府大阪市北区梅田3丁目1−1", ["大阪府", "大阪市", "", "北区梅田3丁目1−1"]),
        ("JP", "神奈川県横浜市西区みなとみらい2-2-1", ["神奈川県", "横浜市", "", "西区みなとみらい2-2-1"]),
        ("JP", "三重県四日市市諏訪町1-5", ["三重県", "四日市市", "", "諏訪町1-5"]),
        ("JP", "奈良県大和郡山市北郡山町", ["奈良県", "大和郡山市", "", "北郡山町"]),
        ("JP", "東京都東村山市本町1", ["東京都", "東村山市", "", "本町1"]),
        ("JP", "東京都町田市原町田6", ["東京都", "町田市", "", "原町田6"]),
        ("JP", "長野県北佐久郡軽井沢町軽井沢1178", ["長野県", "北佐久郡軽井沢町", "", "軽井沢1178"]),
        ("JP", "道玄坂2-1", ["", "", "", "道玄坂2-1"]),
        ("CN", "上海市浦东新区世纪大道100号", ["", "上海市", "", "浦东新区世纪大道100号"]),
        ("CN", "北京市北京市朝阳区1号", ["", "北京市", "", "朝阳区1号"]),
        ("CN", "广东省深圳市南山区科技园路1号 邮编: 518057", ["广东省", "深圳市", "518057", "南山区科技园路1号"]),
        ("CN", "新疆维吾尔自治区乌鲁木齐市天山区1号", ["新疆维吾尔自治区", "乌鲁木齐市", "", "天山区1号"]),
        ("TW", "110台北市信義區信義路五段7號", ["", "台北市", "110", "信義區信義路五段7號"]),
        ("TW", "新竹縣竹北市光明六路10號", ["新竹縣", "竹北市", "", "光明六路10號"]),
        ("KR", "서울특별시 강남구 테헤란로 152", ["", "서울특별시", "", "강남구 테헤란로 152"]),
        ("KR", "부산광역시 해운대구 우동 1411 (48099)", ["", "부산광역시", "48099", "해운대구 우동 1411"]),
        ("KR", "경기도 성남시 분당구 판교역로 166", ["경기도", "성남시", "", "분당구 판교역로 166"]),
        ("KR", "06236 서울 강남구 테헤란로 152", ["", "서울", "06236", "강남구 테헤란로 152"]),
        ("KR", "수원시 팔달구 효원로 1", ["", "수원시", "", "팔달구 효원로 1"]),
        ("KR", "테헤란로 152", ["", "", "", "테헤란로 152"]),
        ("HK", "九龍旺角彌敦道610號", ["", "", "", "九龍旺角彌敦道610號"]),
        ("JP", "", [""; 4]),
    ];

    #[test]
    fn parts_end_with_the_characters_of_their_kind() {
        for (code, line, expected) in LINES {
            let parts = parts_in(Country::parse(code).unwrap(), line).unwrap();
            let read = [parts.region, parts.city, parts.postcode, Some(parts.street)].map(Option::unwrap_or_default);
            assert_eq!(read, expected, "{line}");
        }
        assert_eq!(parts_in(Country::UNITED_STATES, "1 Main St"), None);
    }

    #[test]
    fn country_is_split_off_the_start() {
        let code = |line: &str| split_country(line).0.map(|country| country.code().to_owned());
        assert_eq!(split_country("日本、〒530-0001 大阪府").1, "530-0001 大阪府");
        assert_eq!(code("台灣高雄市苓雅區").as_deref(), Some("TW"));
        assert_eq!(code("日本橋1-1"), None);
        assert_eq!(code("渋谷区"), None);
    }

    #[test]
    fn scripts_are_recognized() {
        for (line, expected) in [("東京", true), ("カフェ", true), ("서울", true), ("Tokyo", false), ("Αθήνα", false)]
        {
            assert_eq!(is_east_asian(line), expected, "{line}");
        }
    }
}
