//! Draws login codes and other texts as QR codes (ISO/IEC 18004).

use std::fmt::Write as _;

use fast_qr::{ECL, QRBuilder, QRCode};

/// Width of the light border around a QR code, in modules.
const QUIET_ZONE: usize = 4;

/// A QR code of error correction level M with its quiet zone.
///
/// ```
/// use signpost_auth::QrCode;
///
/// let code = QrCode::from_text("svc://auth?v=1").unwrap();
/// assert_eq!(code.side(), 21 + 8);
/// assert!(!code.is_dark(0, 0) && code.is_dark(4, 4));
/// assert!(code.svg().starts_with("<svg "));
/// ```
pub struct QrCode(QRCode);

impl QrCode {
    /// Encodes a text. Returns `None` if the text is too long for a QR code.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        QRBuilder::new(text).ecl(ECL::M).build().ok().map(Self)
    }

    /// Encodes a text for display on a screen. Uses level L if level M needs more than `max_side`
    /// modules in a row, including the quiet zone, because on a screen large modules are more
    /// important than error correction.
    #[must_use]
    pub fn for_screen(text: &str, max_side: usize) -> Option<Self> {
        match Self::from_text(text) {
            Some(code) if code.side() <= max_side => Some(code),
            _ => QRBuilder::new(text).ecl(ECL::L).build().ok().map(Self),
        }
    }

    /// Returns the number of modules in a row, including the quiet zone.
    #[must_use]
    pub fn side(&self) -> usize {
        self.0.size + 2 * QUIET_ZONE
    }

    /// Returns `true` if a module is dark. All modules of the quiet zone and beyond are light.
    #[must_use]
    pub fn is_dark(&self, x: usize, y: usize) -> bool {
        let code = QUIET_ZONE..QUIET_ZONE + self.0.size;
        code.contains(&x) && code.contains(&y) && self.0[y - QUIET_ZONE][x - QUIET_ZONE].value()
    }

    /// Returns the dark modules as the data of a single SVG path, with a rectangle for every run of
    /// modules. A module is one unit wide, and the quiet zone begins at 0, 0.
    #[must_use]
    pub fn path(&self) -> String {
        let side = self.side();
        let mut path = String::new();
        for y in 0..side {
            let row: Vec<bool> = (0..side).map(|x| self.is_dark(x, y)).collect();
            let mut x = 0;
            for run in row.chunk_by(|a, b| a == b) {
                let length = run.len();
                if run[0] {
                    let _ = write!(path, "M{x} {y}h{length}v1h-{length}z");
                }
                x += length;
            }
        }
        path
    }

    /// Returns the QR code as an SVG element.
    #[must_use]
    pub fn svg(&self) -> String {
        let side = self.side();
        let path = self.path();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {side} {side}\" role=\"img\" \
             aria-label=\"QR code\" shape-rendering=\"crispEdges\"><rect width=\"{side}\" height=\"{side}\" \
             fill=\"#fff\"/><path d=\"{path}\" fill=\"#000\"/></svg>"
        )
    }
}

impl std::fmt::Debug for QrCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "QrCode({} modules)", self.0.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screen_code_has_the_fewest_modules() {
        let side = |text: &str, most| QrCode::for_screen(text, most).unwrap().side() - 2 * QUIET_ZONE;
        // A Lightning login URL on `login.example.com` has this length, in the alphanumeric mode.
        let lnurl = format!("LNURL1{}", "Q".repeat(222));
        for (text, most, expected) in
            [("svc://auth?v=1", 57, 21), (&*lnurl, 61, 53), (&*lnurl, 57, 49), (&*lnurl.to_lowercase(), 57, 53)]
        {
            assert_eq!(side(text, most), expected, "{most}");
        }
    }

    #[test]
    fn svg_has_dark_modules_and_a_quiet_zone() {
        let text = "svc://auth?v=1";
        let qr = QRBuilder::new(text).ecl(ECL::M).build().unwrap();
        let code = QrCode::from_text(text).unwrap();
        let mut drawn = vec![vec![false; code.side()]; code.side()];
        let svg = code.svg();
        let path = svg.split_once(" d=\"").unwrap().1.split_once('"').unwrap().0;
        for run in path.split('M').skip(1) {
            let numbers: Vec<usize> =
                run.split([' ', 'h', 'v']).take(3).map(|number| number.parse().unwrap()).collect();
            drawn[numbers[1]][numbers[0]..numbers[0] + numbers[2]].fill(true);
        }
        for (y, row) in drawn.iter().enumerate() {
            for (x, dark) in row.iter().enumerate() {
                let inside = (4..qr.size + 4).contains(&x) && (4..qr.size + 4).contains(&y);
                assert_eq!(*dark, inside && qr[y - 4][x - 4].value(), "{x} {y}");
            }
        }
    }
}
