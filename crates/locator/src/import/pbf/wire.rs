//! Decoder of the protocol buffers wire format, as far as OpenStreetMap extracts use it:
//! <https://protobuf.dev/programming-guides/encoding/>.

/// The error of an invalid message, with its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {at}: {reason}")]
pub(super) struct WireDamage {
    /// The byte position in the message.
    pub(super) at: usize,
    pub(super) reason: &'static str,
}

/// A reader over the unread part of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct WireReader<'a> {
    rest: &'a [u8],
    /// The position of `rest` in the message.
    at: usize,
}

/// A field of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct WireField<'a> {
    /// The field number in the schema.
    pub(super) number: u64,
    at: usize,
    value: WireValue<'a>,
}

#[derive(Clone, Copy, Debug)]
enum WireValue<'a> {
    Number(u64),
    /// A length-delimited value: a text, a message, or packed numbers.
    Content(WireReader<'a>),
    /// A value of four or eight bytes, unused in extracts.
    Fixed,
}

/// An iterator over delta-encoded numbers. It ends after an error.
#[derive(Clone, Debug)]
pub(super) struct WireDeltas<'a> {
    differences: WireReader<'a>,
    last: i64,
}

impl<'a> WireReader<'a> {
    pub(super) const fn new(message: &'a [u8]) -> Self {
        Self { rest: message, at: 0 }
    }

    pub(super) const fn bytes(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns the position in the message.
    pub(super) const fn position(&self) -> usize {
        self.at
    }

    pub(super) const fn damage(&self, reason: &'static str) -> WireDamage {
        WireDamage { at: self.at, reason }
    }

    /// Returns the unread part as text.
    ///
    /// # Errors
    /// [`WireDamage`], if the bytes are not UTF-8.
    pub(super) fn text(&self) -> Result<&'a str, WireDamage> {
        std::str::from_utf8(self.rest).map_err(|_| self.damage("a text is not UTF-8"))
    }

    /// Splits off the next `length` bytes.
    pub(super) fn take(&mut self, length: u64) -> Result<Self, WireDamage> {
        let parts = usize::try_from(length).ok().and_then(|length| self.rest.split_at_checked(length));
        let (taken, rest) = parts.ok_or_else(|| self.damage("it ends too early"))?;
        let taken = Self { rest: taken, at: self.at };
        *self = Self { rest, at: self.at + taken.rest.len() };
        Ok(taken)
    }

    /// Reads the next field, or returns `None` at the end.
    pub(super) fn field(&mut self) -> Result<Option<WireField<'a>>, WireDamage> {
        let at = self.at;
        let Some(key) = self.number()? else { return Ok(None) };
        let value = match key & 7 {
            0 => WireValue::Number(self.varint()?),
            1 => self.take(8).map(|_| WireValue::Fixed)?,
            2 => {
                let length = self.varint()?;
                WireValue::Content(self.take(length)?)
            }
            5 => self.take(4).map(|_| WireValue::Fixed)?,
            _ => return Err(WireDamage { at, reason: "a field is of no known kind" }),
        };
        Ok(Some(WireField { number: key >> 3, at, value }))
    }

    /// Reads the next packed number, or returns `None` at the end.
    pub(super) fn number(&mut self) -> Result<Option<u64>, WireDamage> {
        if self.rest.is_empty() { Ok(None) } else { self.varint().map(Some) }
    }

    fn varint(&mut self) -> Result<u64, WireDamage> {
        let mut number = 0;
        for (shift, byte) in (0..u64::BITS).step_by(7).zip(self.rest) {
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                self.take(u64::from(shift / 7 + 1))?;
                return Ok(number);
            }
        }
        Err(self.damage("a number does not end"))
    }
}

impl<'a> WireField<'a> {
    /// Returns the value of an unsigned number field.
    pub(super) fn unsigned(&self) -> Result<u64, WireDamage> {
        let WireValue::Number(number) = self.value else { return Err(self.damage("a number is of another kind")) };
        Ok(number)
    }

    /// Returns the value of a signed number field in two's complement (`int32`, `int64`).
    pub(super) fn signed(&self) -> Result<i64, WireDamage> {
        self.unsigned().map(u64::cast_signed)
    }

    /// Returns the value of a signed number field in zigzag encoding (`sint64`).
    pub(super) fn zigzag(&self) -> Result<i64, WireDamage> {
        self.unsigned().map(zigzag)
    }

    /// Returns the value of a length-delimited field.
    pub(super) fn content(&self) -> Result<WireReader<'a>, WireDamage> {
        let WireValue::Content(content) = self.value else { return Err(self.damage("a part is of another kind")) };
        Ok(content)
    }

    /// Stores the value of a length-delimited field in `place`. Repeated fields are rejected: the format would merge
    /// them, but no known writer uses this.
    pub(super) fn content_into(&self, place: &mut Option<WireReader<'a>>) -> Result<(), WireDamage> {
        let content = self.content()?;
        if place.replace(content).is_some() { Err(self.damage("a part is there twice")) } else { Ok(()) }
    }

    pub(super) const fn damage(&self, reason: &'static str) -> WireDamage {
        WireDamage { at: self.at, reason }
    }
}

impl<'a> WireDeltas<'a> {
    pub(super) const fn new(differences: WireReader<'a>) -> Self {
        Self { differences, last: 0 }
    }

    pub(super) const fn damage(&self, reason: &'static str) -> WireDamage {
        self.differences.damage(reason)
    }
}

impl Iterator for WireDeltas<'_> {
    type Item = Result<i64, WireDamage>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.read_next();
        if next.is_err() {
            self.differences.rest = &[];
        }
        next.transpose()
    }
}

impl WireDeltas<'_> {
    fn read_next(&mut self) -> Result<Option<i64>, WireDamage> {
        let Some(difference) = self.differences.number()? else { return Ok(None) };
        let next = self.last.checked_add(zigzag(difference));
        self.last = next.ok_or_else(|| self.differences.damage("a number is too large"))?;
        Ok(Some(self.last))
    }
}

/// Decodes a zigzag-encoded number: 0, 1, 2, 3, 4 become 0, -1, 1, -2, 2.
const fn zigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_are_decoded_to_the_last_bit() {
        for (bytes, number) in [
            (&[0][..], 0),
            (&[0x7f], 127),
            (&[0x96, 0x01], 150),
            (&[0x80, 0x00], 0),
            (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], u64::MAX),
        ] {
            let mut reader = WireReader::new(bytes);
            assert_eq!(reader.number(), Ok(Some(number)));
            assert_eq!((reader.number(), reader.position()), (Ok(None), bytes.len()));
        }
        for bytes in [&[0x80][..], &[0xff; 9], &[0xff; 10], &[0xff; 11]] {
            let damage = WireDamage { at: 0, reason: "a number does not end" };
            assert_eq!(WireReader::new(bytes).number(), Err(damage));
        }
    }

    #[test]
    fn zigzag_sign_is_the_lowest_bit() {
        let numbers = [0, 1, 2, 3, u64::MAX - 1, u64::MAX].map(zigzag);
        assert_eq!(numbers, [0, -1, 1, -2, i64::MAX, i64::MIN]);
    }

    #[test]
    fn invalid_fields_are_rejected_with_their_offset() {
        // A varint, eight bytes, a text, and four bytes.
        let message = [0x08, 5, 0x11, 1, 2, 3, 4, 5, 6, 7, 8, 0x1a, 2, b'h', b'i', 0x25, 1, 2, 3, 4];
        let mut reader = WireReader::new(&message);
        let fields: Vec<_> = std::iter::from_fn(|| reader.field().unwrap()).collect();
        assert_eq!(fields.iter().map(|field| field.number).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!((fields[0].unsigned(), fields[0].zigzag()), (Ok(5), Ok(-3)));
        assert_eq!(fields[2].content().unwrap().text(), Ok("hi"));
        assert_eq!(fields[2].unsigned(), Err(WireDamage { at: 11, reason: "a number is of another kind" }));
        assert_eq!(fields[3].content().unwrap_err(), WireDamage { at: 15, reason: "a part is of another kind" });
        for (message, at, reason) in [
            (&[0x08, 1, 0x0a, 3, 1, 2][..], 4, "it ends too early"),
            (&[0x08, 1, 0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], 13, "it ends too early"),
            (&[0x08, 1, 0x0b], 2, "a field is of no known kind"),
            (&[0x08, 1, 0x08], 3, "a number does not end"),
            (&[0x08, 1, 0x0d, 1, 2, 3], 3, "it ends too early"),
        ] {
            let mut reader = WireReader::new(message);
            assert!(reader.field().unwrap().is_some());
            assert_eq!(reader.field().unwrap_err(), WireDamage { at, reason });
        }
    }

    #[test]
    fn delta_sums_do_not_overflow() {
        let deltas = |bytes| WireDeltas::new(WireReader::new(bytes)).collect::<Vec<_>>();
        assert_eq!(deltas(&[4, 2, 3]), [Ok(2), Ok(3), Ok(1)]);
        let most = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 2, 2];
        let damage = WireDamage { at: 11, reason: "a number is too large" };
        assert_eq!(deltas(&most), [Ok(i64::MAX), Err(damage)]);
        assert_eq!(deltas(&[2, 0x80]).len(), 2);
    }
}
