//! Coordinates as people write them: `40.7,-74.0`, `40.7 N 74.0 W`, `40°42'46"N 74°0'22"W`, `geo:40.7,-74.0`.

use crate::point::Point;

/// A text of numbers that is no place on the earth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OffTheEarth;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token {
    Number(f64),
    Hemisphere(char),
    Comma,
}

/// One of the two angles: degrees, minutes and seconds as far as given, and the hemisphere.
#[derive(Debug, Default)]
struct Angle {
    numbers: Vec<f64>,
    hemisphere: Option<char>,
}

/// The point that a text writes down. `None` where the text is something else than coordinates.
pub(crate) fn parse(text: &str) -> Option<Result<Point, OffTheEarth>> {
    let [first, second] = angles(&tokens(text)?)?;
    let swapped = matches!(first.hemisphere, Some('e' | 'w')) || matches!(second.hemisphere, Some('n' | 's'));
    let (lat, lon) = if swapped { (second, first) } else { (first, second) };
    let point = lat.degrees(['n', 's']).zip(lon.degrees(['e', 'w'])).and_then(|(lat, lon)| Point::new(lat, lon));
    Some(point.ok_or(OffTheEarth))
}

fn tokens(text: &str) -> Option<Vec<Token>> {
    let lower = text.trim().to_lowercase();
    let mut rest = lower.strip_prefix("geo:").unwrap_or(&lower);
    let mut tokens = Vec::new();
    while let Some(letter) = rest.chars().next() {
        let word: String = rest.chars().take_while(|letter| letter.is_alphabetic()).collect();
        let length = match letter {
            '0'..='9' | '+' | '-' | '.' | '−' => {
                let is_part = |c: char| c.is_ascii_digit() || c == '.';
                let digits = letter.len_utf8()
                    + rest[letter.len_utf8()..].find(|c| !is_part(c)).unwrap_or(rest.len() - letter.len_utf8());
                tokens.push(Token::Number(rest[..digits].replace('−', "-").parse().ok()?));
                digits
            }
            ',' | ';' => {
                tokens.push(Token::Comma);
                1
            }
            '°' | 'º' | '\'' | '’' | '′' | '"' | '”' | '″' | ':' | '=' | '(' | ')' => letter.len_utf8(),
            _ if letter.is_whitespace() => letter.len_utf8(),
            _ => match word.as_str() {
                "n" | "s" | "e" | "w" => {
                    tokens.push(Token::Hemisphere(letter));
                    1
                }
                "lat" | "latitude" | "lon" | "lng" | "long" | "longitude" => word.len(),
                _ => return None,
            },
        };
        rest = &rest[length..];
    }
    Some(tokens)
}

/// The two halves: around a comma, else by their hemispheres, else one number each.
fn angles(tokens: &[Token]) -> Option<[Angle; 2]> {
    let commas = tokens.iter().filter(|token| **token == Token::Comma).count();
    let letters: Vec<_> = tokens.iter().filter(|token| matches!(token, Token::Hemisphere(_))).collect();
    let middle = match (commas, letters.len()) {
        (1, _) => tokens.iter().position(|token| *token == Token::Comma)?,
        (0, 2) if matches!(tokens.first()?, Token::Hemisphere(_)) => {
            1 + tokens[1..].iter().position(|token| matches!(token, Token::Hemisphere(_)))?
        }
        (0, 2) => 1 + tokens.iter().position(|token| matches!(token, Token::Hemisphere(_)))?,
        (0, 0) if tokens.len() == 2 => 1,
        _ => return None,
    };
    let (first, second) = tokens.split_at(middle);
    Some([Angle::read(first)?, Angle::read(second)?])
}

impl Angle {
    fn read(tokens: &[Token]) -> Option<Self> {
        let mut angle = Self::default();
        for token in tokens {
            match token {
                Token::Number(number) => angle.numbers.push(*number),
                Token::Hemisphere(letter) if angle.hemisphere.is_none() => angle.hemisphere = Some(*letter),
                Token::Hemisphere(_) => return None,
                Token::Comma => {}
            }
        }
        (1..=3).contains(&angle.numbers.len()).then_some(angle)
    }

    /// Degrees with their sign; `None` where the parts make no angle. `hemispheres` are the positive and the negative.
    fn degrees(&self, hemispheres: [char; 2]) -> Option<f64> {
        let (degrees, parts) = self.numbers.split_first()?;
        let mut size = degrees.abs();
        for (part, unit) in parts.iter().zip([60.0, 3600.0]) {
            size += Some(part / unit).filter(|_| (0.0..60.0).contains(part))?;
        }
        let is_negative = degrees.is_sign_negative();
        match self.hemisphere {
            None => Some(if is_negative { -size } else { size }),
            // A sign beside a hemisphere says it twice, or contradicts.
            Some(_) if is_negative => None,
            Some(letter) if letter == hemispheres[0] => Some(size),
            Some(letter) if letter == hemispheres[1] => Some(-size),
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_notations_are_one_point() {
        for text in [
            "40.7127,-74.006",
            "40.7127, -74.006",
            " 40.7127 -74.006 ",
            "40.7127;-74.006",
            "(40.7127, −74.006)",
            "geo:40.7127,-74.006",
            "lat 40.7127 lon -74.006",
            "lat=40.7127, lng=-74.006",
            "40.7127N 74.006W",
            "40.7127° N, 74.006° W",
            "N40.7127 W74.006",
            "74.006 W, 40.7127 N",
            "40°42'45.72\"N 74°0'21.6\"W",
            "40 42 45.72 N, 74 0 21.6 W",
            "40° 42.762' N 74° 0.36' W",
        ] {
            let point = parse(text).unwrap_or_else(|| panic!("{text}")).unwrap();
            assert!((point.lat() - 40.7127).abs() < 1e-4 && (point.lon() + 74.006).abs() < 1e-4, "{text}: {point:?}");
        }
    }

    #[test]
    fn numbers_beyond_the_earth_are_told_from_names() {
        for text in ["91,0", "0,181", "40N 40N", "-40S,10E", "10 75 N, 10 E", "100 200"] {
            assert_eq!(parse(text), Some(Err(OffTheEarth)), "{text}");
        }
        for text in ["", "Austin", "78701", "Austin, TX", "1,2,3", "40.7.1,2", "N", "1 2 3", "-", "9 de Julio"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
