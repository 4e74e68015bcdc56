//! Which characters that cannot be seen are a part of how a word or an emoji is spelt.

use icu_properties::props::{
    CanonicalCombiningClass, DefaultIgnorableCodePoint, Emoji, EmojiModifier, ExtendedPictographic, GeneralCategory,
    GraphemeExtend, JoiningType, Script,
};
use icu_properties::{CodePointMapData, CodePointSetData};

const NON_JOINER: char = '\u{200c}';
const JOINER: char = '\u{200d}';
/// What makes a key of a digit.
const KEYCAP: char = '\u{20e3}';

/// What of the text so far decides about the next character.
#[derive(Default)]
pub(crate) struct Spelling {
    last: Option<char>,
    /// Whether the last letter joins the one behind it, marks upon it aside.
    joins: bool,
    /// Whether the last thing is an emoji, with what belongs to it.
    is_emoji: bool,
}

impl Spelling {
    /// Whether a character stays, where `after` stands behind it.
    pub(crate) fn keeps(&self, letter: char, after: &str) -> bool {
        if !is_hidden(letter) {
            return true;
        }
        let (Some(last), next) = (self.last, after.chars().next()) else { return false };
        match letter {
            NON_JOINER => is_virama(last) || (self.joins && joins_backward(after)),
            JOINER => is_virama(last) || (self.is_emoji && next.is_some_and(is_pictographic)),
            // A digit is an emoji only as a keycap.
            '\u{fe0e}' | '\u{fe0f}' => is_emoji(last) && (!last.is_ascii() || next == Some(KEYCAP)),
            '\u{180b}'..='\u{180f}' => is_mongolian(last) && !is_hidden(last),
            _ => false,
        }
    }

    /// Goes on behind a character that stays.
    pub(crate) fn kept(&mut self, letter: char) {
        match joining(letter) {
            JoiningType::Transparent => {}
            own => self.joins = joins_forward(own),
        }
        self.is_emoji = is_pictographic(letter) || (self.is_emoji && letter != JOINER && extends(letter));
        self.last = Some(letter);
    }
}

/// Whether a character moves what follows it to another line or to another place.
pub(crate) fn breaks_lines(letter: char) -> bool {
    let category = CodePointMapData::<GeneralCategory>::new().get(letter);
    matches!(category, GeneralCategory::Control | GeneralCategory::LineSeparator | GeneralCategory::ParagraphSeparator)
}

/// Whether a character shows nothing by itself, and is no space.
fn is_hidden(letter: char) -> bool {
    // The marks of annotations are for programs, and not ignorable by default only because they should not get lost.
    breaks_lines(letter)
        || matches!(letter, '\u{fff9}'..='\u{fffb}')
        || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(letter)
}

fn is_virama(letter: char) -> bool {
    CodePointMapData::<CanonicalCombiningClass>::new().get(letter) == CanonicalCombiningClass::Virama
}

fn joining(letter: char) -> JoiningType {
    CodePointMapData::<JoiningType>::new().get(letter)
}

fn joins_forward(joining: JoiningType) -> bool {
    matches!(joining, JoiningType::LeftJoining | JoiningType::DualJoining)
}

/// Whether the next letter joins the one before it, marks upon that one aside.
fn joins_backward(after: &str) -> bool {
    let is_mark = |letter: &char| joining(*letter) == JoiningType::Transparent && !is_hidden(*letter);
    let next = after.chars().find(|letter| !is_mark(letter)).map(joining);
    matches!(next, Some(JoiningType::RightJoining | JoiningType::DualJoining))
}

fn is_emoji(letter: char) -> bool {
    CodePointSetData::new::<Emoji>().contains(letter)
}

fn is_pictographic(letter: char) -> bool {
    CodePointSetData::new::<ExtendedPictographic>().contains(letter)
}

/// Whether a character belongs to the emoji before it: a skin tone, a selector, a mark.
fn extends(letter: char) -> bool {
    CodePointSetData::new::<EmojiModifier>().contains(letter)
        || CodePointSetData::new::<GraphemeExtend>().contains(letter)
}

fn is_mongolian(letter: char) -> bool {
    CodePointMapData::<Script>::new().get(letter) == Script::Mongolian
}
