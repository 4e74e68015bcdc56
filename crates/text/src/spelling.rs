//! Decides which invisible characters are part of the spelling of a word or an emoji.

use icu_properties::props::{
    CanonicalCombiningClass, DefaultIgnorableCodePoint, Emoji, EmojiModifier, ExtendedPictographic, GeneralCategory,
    GraphemeExtend, JoiningType, Script,
};
use icu_properties::{CodePointMapData, CodePointSetData};

const NON_JOINER: char = '\u{200c}';
const JOINER: char = '\u{200d}';
/// The combining character that turns the preceding digit into a keycap.
const KEYCAP: char = '\u{20e3}';

/// The characters before the current character, as far as they affect its spelling.
#[derive(Default)]
pub(crate) struct Spelling {
    last: Option<char>,
    /// Whether the last letter joins the next letter. Marks are ignored.
    joins: bool,
    /// Whether the preceding text ends with an emoji and its modifiers.
    is_emoji: bool,
}

impl Spelling {
    /// Returns `true` if a character that is followed by `after` is visible or part of the
    /// spelling.
    pub(crate) fn allows(&self, letter: char, after: &str) -> bool {
        if !is_hidden(letter) {
            return true;
        }
        let Some(last) = self.last else { return false };
        let next = after.chars().next();
        match letter {
            NON_JOINER => is_virama(last) || (self.joins && joins_backward(after)),
            JOINER => is_virama(last) || (self.is_emoji && next.is_some_and(is_pictographic)),
            // A digit is an emoji only as a keycap.
            '\u{fe0e}' | '\u{fe0f}' => is_emoji(last) && (!last.is_ascii() || next == Some(KEYCAP)),
            '\u{180b}'..='\u{180f}' => is_mongolian(last) && !is_hidden(last),
            _ => false,
        }
    }

    /// Appends a character of the output to the context.
    pub(crate) fn push(&mut self, letter: char) {
        match joining(letter) {
            JoiningType::Transparent => {}
            own => self.joins = joins_forward(own),
        }
        self.is_emoji = is_pictographic(letter) || (self.is_emoji && letter != JOINER && extends(letter));
        self.last = Some(letter);
    }
}

/// Returns `true` for control characters and line breaks, which move the text that follows them.
pub(crate) fn breaks_lines(letter: char) -> bool {
    let category = CodePointMapData::<GeneralCategory>::new().get(letter);
    matches!(category, GeneralCategory::Control | GeneralCategory::LineSeparator | GeneralCategory::ParagraphSeparator)
}

/// Returns `true` for characters that are invisible by themselves, except spaces.
fn is_hidden(letter: char) -> bool {
    // Annotation marks are for programs. Unicode does not call them default ignorable, so that they
    // are not lost.
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

/// Returns `true` if the first letter of `after` joins the preceding letter. Marks are ignored.
fn joins_backward(after: &str) -> bool {
    let next = after.chars().find(|letter| joining(*letter) != JoiningType::Transparent || is_hidden(*letter));
    next.is_some_and(|letter| matches!(joining(letter), JoiningType::RightJoining | JoiningType::DualJoining))
}

fn is_emoji(letter: char) -> bool {
    CodePointSetData::new::<Emoji>().contains(letter)
}

fn is_pictographic(letter: char) -> bool {
    CodePointSetData::new::<ExtendedPictographic>().contains(letter)
}

/// Returns `true` if a character modifies the preceding emoji: a skin tone, a selector or a mark.
fn extends(letter: char) -> bool {
    CodePointSetData::new::<EmojiModifier>().contains(letter)
        || CodePointSetData::new::<GraphemeExtend>().contains(letter)
}

fn is_mongolian(letter: char) -> bool {
    CodePointMapData::<Script>::new().get(letter) == Script::Mongolian
}
