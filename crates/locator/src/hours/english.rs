//! Translates the usual English opening hours into OpenStreetMap's grammar.

/// The names of days in OpenStreetMap, with their English names and abbreviations.
const DAYS: [(&str, &[&str]); 7] = [
    ("Mo", &["mo", "mon", "monday", "mondays"]),
    ("Tu", &["tu", "tue", "tues", "tuesday", "tuesdays"]),
    ("We", &["we", "wed", "weds", "wednesday", "wednesdays"]),
    ("Th", &["th", "thu", "thur", "thurs", "thursday", "thursdays"]),
    ("Fr", &["fr", "fri", "friday", "fridays"]),
    ("Sa", &["sa", "sat", "saturday", "saturdays"]),
    ("Su", &["su", "sun", "sunday", "sundays"]),
];

/// Words for several days.
const SEVERAL: [(&str, &str); 8] = [
    ("daily", "Mo-Su"),
    ("everyday", "Mo-Su"),
    ("every day", "Mo-Su"),
    ("7 days a week", "Mo-Su"),
    ("weekdays", "Mo-Fr"),
    ("weekday", "Mo-Fr"),
    ("weekends", "Sa-Su"),
    ("weekend", "Sa-Su"),
];

/// A time of day, with `am` or `pm` if given.
#[derive(Clone, Copy)]
struct Time {
    hour: u16,
    minute: u16,
    half: Option<Half>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Am,
    Pm,
    /// A time of a 24-hour clock.
    Whole,
}

/// Translates `Mon-Fri 9am-5pm, Sat 10 to 4 pm` to `Mo-Fr 09:00-17:00; Sa 10:00-16:00`. `None` if a part is ambiguous,
/// such as `9-5`.
pub(super) fn translate(text: &str) -> Option<String> {
    let plain = text.to_lowercase().replace(['–', '—', '−'], "-").replace(['\n', '|'], ";");
    let plain = plain.replace("a.m.", "am").replace("p.m.", "pm").replace(" thru ", "-").replace(" through ", "-");
    let plain = plain.replace(" to ", "-").replace(" & ", ",").replace(" and ", ",");
    let mut rules: Vec<String> = Vec::new();
    // Days with times that follow later, as in `Sat, Sun 10am-4pm`.
    let mut days: Vec<String> = Vec::new();
    for part in plain.split([';', ',']).map(str::trim).filter(|part| !part.is_empty()) {
        let (day, rest) = leading_days(part)?;
        let starts_days = day.is_some();
        days.extend(day);
        if rest.is_empty() {
            continue;
        }
        let span = span(rest)?;
        match rules.last_mut() {
            // A second span on these days: `Mon 9am-12pm, 1pm-5pm`.
            Some(last) if !starts_days && days.is_empty() && span != "off" => {
                last.push(',');
                last.push_str(&span);
            }
            _ if days.is_empty() => rules.push(format!("Mo-Su {span}")),
            _ => rules.push(format!("{} {span}", std::mem::take(&mut days).join(","))),
        }
    }
    (days.is_empty() && !rules.is_empty()).then(|| rules.join("; "))
}

/// Splits the days off the start of a text, if there are any. `None` if a range of days has no end.
fn leading_days(text: &str) -> Option<(Option<String>, &str)> {
    for (words, days) in SEVERAL {
        if let Some(rest) = text.strip_prefix(words).filter(|rest| !rest.starts_with(char::is_alphanumeric)) {
            return Some((Some(days.to_owned()), without_separators(rest)));
        }
    }
    let Some((first, rest)) = day(text) else { return Some((None, text)) };
    let Some(range) = rest.trim_start().strip_prefix('-') else {
        return Some((Some(first.to_owned()), without_separators(rest)));
    };
    let (last, rest) = day(range.trim_start())?;
    Some((Some(format!("{first}-{last}")), without_separators(rest)))
}

fn without_separators(times: &str) -> &str {
    times.trim_start_matches([':', '.', ' ', '(', ')'])
}

fn day(text: &str) -> Option<(&'static str, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let day = DAYS.iter().find(|(_, words)| words.contains(&word))?;
    Some((day.0, rest.strip_prefix('.').unwrap_or(rest)))
}

/// Parses a span of times, a whole day, or `closed`.
fn span(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches('.').trim();
    let text = text.strip_prefix("open ").unwrap_or(text).trim();
    match text {
        "closed" | "off" => return Some("off".to_owned()),
        "24 hours" | "24hours" | "24 hrs" | "24h" | "24/7" | "all day" => return Some("00:00-24:00".to_owned()),
        _ => {}
    }
    let (start, end) = text.split_once('-')?;
    let mut start = time(start)?;
    let end = time(end)?;
    let to = minutes(end, end.half?)?;
    if start.half.is_none() {
        // `1-5pm` starts after noon, `9-5pm` before it.
        let after_noon = minutes(start, Half::Pm)? < to;
        start.half = Some(if end.half == Some(Half::Pm) && after_noon { Half::Pm } else { Half::Am });
    }
    let from = minutes(start, start.half?)?;
    // A day that ends at midnight ends at 24:00.
    let to = if to == 0 { 24 * 60 } else { to };
    if from == to || from >= 24 * 60 {
        return None;
    }
    Some(format!("{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60))
}

fn time(text: &str) -> Option<Time> {
    let text = text.trim();
    match text {
        "noon" | "12 noon" => return Some(Time { hour: 12, minute: 0, half: Some(Half::Pm) }),
        "midnight" | "12 midnight" => return Some(Time { hour: 12, minute: 0, half: Some(Half::Am) }),
        _ => {}
    }
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != ':').unwrap_or(text.len());
    let (digits, half) = text.split_at(end);
    let (hour, minute) = digits.split_once(':').unwrap_or((digits, "0"));
    let hour: u16 = hour.parse().ok()?;
    let minute: u16 = minute.parse().ok()?;
    if minute >= 60 {
        return None;
    }
    let half = match half.trim() {
        "am" | "a" => Some(Half::Am),
        "pm" | "p" => Some(Half::Pm),
        // A time with two digits of hours, or after noon, is in the 24-hour format.
        "" if digits.len() == 5 || hour > 12 => Some(Half::Whole),
        "" => None,
        _ => return None,
    };
    Some(Time { hour, minute, half })
}

/// Returns the minutes since midnight.
fn minutes(Time { hour, minute, .. }: Time, half: Half) -> Option<u16> {
    let hour = match half {
        Half::Whole if hour <= 24 => hour,
        Half::Am if (1..=12).contains(&hour) => hour % 12,
        Half::Pm if (1..=12).contains(&hour) => hour % 12 + 12,
        _ => return None,
    };
    let minutes = hour * 60 + minute;
    if minutes <= 24 * 60 { Some(minutes) } else { None }
}

#[cfg(test)]
mod tests {
    use super::translate;

    #[test]
    fn usual_forms_are_translated() {
        for (text, expected) in [
            ("Mon-Fri 9am-5pm", "Mo-Fr 09:00-17:00"),
            ("Mon-Fri: 9:00 AM - 5:30 PM", "Mo-Fr 09:00-17:30"),
            ("Monday - Friday 9 a.m. to 5 p.m.", "Mo-Fr 09:00-17:00"),
            ("Mon–Fri 9–5pm; Sat 10am–2pm", "Mo-Fr 09:00-17:00; Sa 10:00-14:00"),
            ("Mon-Fri 9am-5pm, Sat 10am-2pm, Sun closed", "Mo-Fr 09:00-17:00; Sa 10:00-14:00; Su off"),
            ("Sat, Sun 10am-4pm", "Sa,Su 10:00-16:00"),
            ("Sat & Sun 1-5pm", "Sa,Su 13:00-17:00"),
            ("Daily 8am-10pm", "Mo-Su 08:00-22:00"),
            ("8am-10pm", "Mo-Su 08:00-22:00"),
            ("9:00 AM - 5:00 PM", "Mo-Su 09:00-17:00"),
            ("weekdays 8am-noon", "Mo-Fr 08:00-12:00"),
            ("Daily 6 AM to midnight", "Mo-Su 06:00-24:00"),
            ("Fri 10pm-2am", "Fr 22:00-02:00"),
            ("Mon 9am-12pm, 1pm-5pm", "Mo 09:00-12:00,13:00-17:00"),
            ("Mon-Thu 12am-11:30pm", "Mo-Th 00:00-23:30"),
            ("Sun: Open 24 hours", "Su 00:00-24:00"),
            ("Mon. 9am-5pm\nTues. 9am-5pm", "Mo 09:00-17:00; Tu 09:00-17:00"),
            ("Monday; 9am-5pm; Tuesday; 10am-4pm", "Mo 09:00-17:00; Tu 10:00-16:00"),
            ("Mon-Fri 09:00 to 17:00", "Mo-Fr 09:00-17:00"),
        ] {
            assert_eq!(translate(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn unclear_texts_are_not_guessed() {
        for text in [
            "9-5",
            "Mon-Fri 9-5",
            "Mon-Fri",
            "Mon- 9am-5pm",
            "060:00",
            "call first",
            "9am",
            "25:00-26:00",
            "13pm-2pm",
            "",
        ] {
            assert_eq!(translate(text), None, "{text}");
        }
    }
}
