//! The text of a message: its preparation, alphabet and pages.
//!
//! ```text
//! body ──prepare──▶ Text ──with_sender──▶ Text ──pages──▶ user data of each short message
//! ```

mod changes;
mod coded;
mod equivalents;
mod gsm;
mod pages;
mod plain;
mod raw;

pub use changes::{MAX_NAMED_CHANGES, TextChange, TextChanges};
pub use coded::{CodingFault, read_coded};
pub(crate) use gsm::from_septets;
pub(crate) use plain::{is_unseen, plain};
pub use raw::{PageFault, RawPage, SarPart, is_binary};

use std::sync::Arc;

/// Maximum length of a body in Unicode scalar values (docs/spec/sending.md, section 2).
pub const MAX_BODY_CHARACTERS: usize = 1530;

/// The separator before an appended sender ID.
const BEFORE_SENDER: &str = " - ";

/// The encoding of a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Alphabet {
    /// The GSM 03.38 default alphabet with 7 bits a character.
    Gsm,
    /// UTF-16, big endian.
    Ucs2,
}

/// A prepared text, and its differences from the body.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Prepared {
    /// The text to send.
    pub text: Text,
    /// `true` if it differs from the body.
    pub changed: bool,
    /// Number of visible characters without a plain equivalent that were removed.
    pub removed_characters: usize,
}

/// A text to send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Text {
    characters: String,
    alphabet: Alphabet,
    /// The page of a text that goes out as it came.
    page: Option<Arc<RawPage>>,
}

impl Prepared {
    /// Prepares a body as [`Text::prepare`] does, and counts the changes.
    pub fn of(body: &str, unicode: bool) -> Option<Self> {
        let (text, removed_characters) = if unicode {
            (Text::from_stored(body.to_owned()), 0)
        } else {
            let (text, removed) = plain::counted(body);
            let text = Text {
                characters: text,
                alphabet: Alphabet::Gsm,
                page: None,
            };
            (text, removed)
        };
        let is_blank = text.characters.trim_start().is_empty();
        (!is_blank).then(|| Self {
            changed: text.characters != body,
            text,
            removed_characters,
        })
    }

    /// Returns the text of a page that goes out as it came.
    pub fn of_page(page: RawPage) -> Self {
        Self {
            text: Text::of_page(page),
            changed: false,
            removed_characters: 0,
        }
    }
}

impl Text {
    /// Prepares a body for sending. Returns `None` if only blanks are left.
    ///
    /// With `unicode` the body is sent as written, and in the plain alphabet if it contains all
    /// characters. Without it, the text becomes plain:
    /// - Letters lose accents, hooks and styles. Ligatures are spelled out, and ₦ becomes N.
    /// - Quotes, dashes, bullets, arrows and fractions become ASCII. © ® ™ become (c), (r) and tm,
    ///   and 1½ becomes 1 1/2.
    /// - £ ¥ § ¿ ¡ ¤ € and the Greek capitals of the alphabet stay.
    /// - Blanks become spaces, but LF and CR stay. Other control characters and all characters
    ///   without width are removed.
    /// - Emoji (with skin tones, joiners, tags and keycaps) and all other characters are removed.
    ///   The spaces on both sides of them become one. Other spaces are kept, also at the ends.
    pub fn prepare(body: &str, unicode: bool) -> Option<Self> {
        Prepared::of(body, unicode).map(|prepared| prepared.text)
    }

    /// Returns the text of a page that goes out as it came. It is UTF-16 only if it came so.
    pub fn of_page(page: RawPage) -> Self {
        let alphabet = if page.is_utf_16() {
            Alphabet::Ucs2
        } else {
            Alphabet::Gsm
        };
        Self {
            characters: page.text(),
            alphabet,
            page: Some(Arc::new(page)),
        }
    }

    /// Returns the text of a stored message. Its alphabet follows from its characters.
    pub fn from_stored(text: String) -> Self {
        let alphabet = if gsm::is_gsm(&text) {
            Alphabet::Gsm
        } else {
            Alphabet::Ucs2
        };
        Self {
            characters: text,
            alphabet,
            page: None,
        }
    }

    /// Returns the page of a text that goes out as it came.
    pub fn raw_page(&self) -> Option<&RawPage> {
        self.page.as_deref()
    }

    /// Returns the characters.
    pub fn as_str(&self) -> &str {
        &self.characters
    }

    /// Returns the alphabet of submission and billing.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// Returns the text followed by ` - ` and the sender ID, for recipients who would not see the
    /// sender.
    #[must_use]
    pub fn with_sender(&self, sender: &str) -> Self {
        Self::from_stored([self.as_str(), BEFORE_SENDER, sender].concat())
    }

    /// Returns the number of pages that are sent and billed.
    pub fn page_count(&self) -> usize {
        if self.page.is_some() {
            return 1;
        }
        match self.alphabet {
            Alphabet::Gsm => pages::count(gsm::septet_count(&self.characters), pages::GSM),
            Alphabet::Ucs2 => pages::count(self.characters.encode_utf16().count(), pages::UCS2),
        }
    }

    /// Returns the user data of each page without its header: one septet in each octet, or UTF-16
    /// in big endian.
    ///
    /// Escape pairs and surrogate pairs are not split, unless that needs another page.
    pub fn pages(&self) -> Vec<Vec<u8>> {
        if let Some(page) = &self.page {
            return vec![page.octets.clone()];
        }
        match self.alphabet {
            Alphabet::Gsm => {
                let septets = gsm::septets(&self.characters);
                let tears = |at: usize| septets[at - 1] == gsm::ESCAPE;
                pages::cut(septets.len(), pages::GSM, tears)
                    .into_iter()
                    .map(|page| septets[page].to_vec())
                    .collect()
            }
            Alphabet::Ucs2 => {
                let units: Vec<u16> = self.characters.encode_utf16().collect();
                let tears = |at: usize| {
                    units
                        .get(at)
                        .is_some_and(|unit| (0xDC00..0xE000).contains(unit))
                };
                pages::cut(units.len(), pages::UCS2, tears)
                    .into_iter()
                    .map(|page| {
                        units[page]
                            .iter()
                            .flat_map(|unit| unit.to_be_bytes())
                            .collect()
                    })
                    .collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(body: &str) -> String {
        Text::prepare(body, false).map_or_else(String::new, |text| text.characters)
    }

    /// Joins the pages, as a phone does.
    fn read(text: &Text) -> String {
        let octets = text.pages().concat();
        match text.alphabet {
            Alphabet::Ucs2 => {
                let units = octets
                    .chunks(2)
                    .map(|two| u16::from_be_bytes([two[0], two[1]]));
                char::decode_utf16(units).collect::<Result<_, _>>().unwrap()
            }
            Alphabet::Gsm => {
                let mut septets = octets.into_iter();
                let mut characters = String::new();
                while let Some(septet) = septets.next() {
                    let code = match septet {
                        gsm::ESCAPE => gsm::Code::Extended(septets.next().unwrap()),
                        septet => gsm::Code::Basic(septet),
                    };
                    let is_it = |&c: &char| gsm::code(c) == Some(code);
                    characters.push(('\0'..='\u{20AC}').find(is_it).unwrap());
                }
                characters
            }
        }
    }

    #[test]
    fn unicode_false_makes_characters_plain() {
        let table = [
            ("Pay ₦5,000 now", "Pay N5,000 now"),
            ("“Don’t” – ‘wait’ — go…", "\"Don't\" - 'wait' - go..."),
            (
                "ẹ ọ ṣ ń ị ụ ɓ ɗ ƙ ƴ Ẹ Ọ Ṣ Ɓ Ɗ Ƙ Ƴ",
                "e o s n i u b d k y E O S B D K Y",
            ),
            ("Ọjọ́ Ẹtì, e\u{323}\u{301}", "Ojo Eti, e"),
            ("Ñandú éèàùìòÇÅÄÖÜåäöü Øø", "Nandu eeauioCAAOUaaou Oo"),
            (
                "æ œ ß ﬁ ﬂ Æ Œ ẞ ĳ þ ð ł đ ı ŋ ɛ ɔ ə",
                "ae oe ss fi fl AE OE SS ij th d l d i n e o e",
            ),
            ("ＦＵＬＬ　ｗｉｄｔｈ！ ￥ ￡", "FULL width! ¥ £"),
            ("𝐁𝐨𝐥𝐝 𝓼𝓬𝓻𝓲𝓹𝓽 𝟐𝟎 ℝ", "Bold script 20 R"),
            ("a\u{A0}b\u{2009}c\u{202F}d\te", "a b c d e"),
            ("a\u{200B}b\u{200D}c\u{FEFF}d\u{AD}e\u{2060}", "abcde"),
            (
                "£ ¥ § ¿ ¡ ¤ € Δ Φ Γ Λ Ω Π Ψ Σ Θ Ξ",
                "£ ¥ § ¿ ¡ ¤ € Δ Φ Γ Λ Ω Π Ψ Σ Θ Ξ",
            ),
            ("^{}\\[~]|@$_ #*", "^{}\\[~]|@$_ #*"),
            ("line\r\nline\u{7}\0\u{1B}\u{7F}", "line\r\nline"),
            ("`tick` ´ ″", "'tick' ' \""),
            ("• Rice ● Beans · Oil", "- Rice - Beans - Oil"),
            (
                "© Acme® Plus™ → 3×4 ≥ 1½",
                "(c) Acme(r) Plustm -> 3x4 >= 1 1/2",
            ),
        ];
        for (body, expected) in table {
            assert_eq!(plain(body), expected);
        }
    }

    #[test]
    fn unicode_false_removes_what_has_no_plain_equivalent() {
        assert_eq!(plain("Hello سلام friend"), "Hello friend");
        assert_eq!(plain("你好Hello"), "Hello");
        assert_eq!(plain("Привет, Ada α"), ", Ada ");
    }

    #[test]
    fn unicode_false_removes_emoji_whole() {
        let table = [
            ("Hello 😀 world", "Hello world"),
            ("Hello😀world", "Helloworld"),
            ("one 😀 🎉 😀 two", "one two"),
            ("one  😀  two", "one two"),
            ("wave 👋🏿!", "wave !"),
            ("flag 🇳🇬 here", "flag here"),
            ("family 👨‍👩‍👧‍👦 day", "family day"),
            ("press 1️⃣ or 2⃣ or #️⃣ or *️⃣ or 3", "press or or or or 3"),
            ("love ❤️ heart ❤ ☎️ x", "love heart x"),
            ("shown as emoji ©️ ™️ ✖️ y", "shown as emoji y"),
            (
                "flag 🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F} there",
                "flag there",
            ),
            ("cook 👩🏾‍🍳 now", "cook now"),
            ("5\u{FE0F} stays", "5 stays"),
        ];
        for (body, expected) in table {
            assert_eq!(plain(body), expected);
        }
    }

    #[test]
    fn a_changed_text_reports_its_removed_characters() {
        let table = [
            ("Hello, world [€5]", false, (false, 0)),
            ("line\r\nline", false, (false, 0)),
            ("Order 5: مرحبا بك", false, (true, 7)),
            ("caf\u{E9} \u{201C}x\u{201D}", false, (true, 0)),
            ("a\u{200B}b e\u{301}", false, (true, 0)),
            ("Hello 😀 world", false, (true, 1)),
            ("press 1\u{FE0F}\u{20E3} 你好", false, (true, 3)),
            ("Order 5: مرحبا بك 😀\u{200B}", true, (false, 0)),
        ];
        for (body, unicode, expected) in table {
            let prepared = Prepared::of(body, unicode).unwrap();
            let found = (prepared.changed, prepared.removed_characters);
            assert_eq!(found, expected, "{body:?}");
        }
    }

    #[test]
    fn white_space_is_kept_except_beside_removed_characters() {
        let table = [
            ("  two  spaces  ", "  two  spaces  "),
            ("Hello 😀", "Hello "),
            ("😀 Hello", " Hello"),
            (" 😀 Hello 😀 ", " Hello "),
            ("a \u{200B} b", "a  b"),
            ("a 😀\n\nb", "a \n\nb"),
        ];
        for (body, expected) in table {
            assert_eq!(plain(body), expected);
        }
    }

    #[test]
    fn a_body_without_sendable_characters_is_none() {
        for body in [
            "",
            " ",
            "\n\t ",
            "😀",
            " 😀🎉 ",
            "你好",
            "\u{200B}",
            "\u{301}",
        ] {
            assert_eq!(Text::prepare(body, false), None, "{body:?}");
        }
        for body in ["", "  ", "\n", "\u{A0}"] {
            assert_eq!(Text::prepare(body, true), None, "{body:?}");
        }
        assert!(Text::prepare("😀", true).is_some());
    }

    #[test]
    fn every_latin_letter_has_a_plain_equivalent() {
        let latin = ('À'..='ɏ').chain('\u{1E00}'..='\u{1EFF}').chain('ﬀ'..='ﬆ');
        let without: String = latin
            .filter(|&c| plain(&c.to_string()).is_empty())
            .collect();
        // These letters have no base letter: clicks, tones, African reversed letters and medieval
        // Welsh.
        assert_eq!(without, "ƄƅƍƛƜƢƣƧƨƩƪƷƸƹƺƻƼƽƾƿǀǁǂǃǮǯǷȜȝɁɂɅẟỺỻỼỽ");
    }

    #[test]
    fn unicode_true_is_sent_as_written() {
        let body = " “Ọjọ́” 😀\t";
        let text = Text::prepare(body, true).unwrap();
        assert_eq!((text.as_str(), text.alphabet()), (body, Alphabet::Ucs2));
        let accented = Text::prepare("café à Øresund €5", true).unwrap();
        assert_eq!(accented.as_str(), "café à Øresund €5");
        assert_eq!(
            accented.alphabet(),
            Alphabet::Gsm,
            "all of it is in GSM 03.38"
        );
    }

    #[test]
    fn pages_are_counted_as_billed() {
        let table = [
            ("a".repeat(160), 1),
            ("a".repeat(161), 2),
            ("a".repeat(306), 2),
            ("a".repeat(307), 3),
            ("a".repeat(1530), 10),
            ("€".repeat(80), 1),
            ("€".repeat(81), 2),
            ("[".repeat(80), 1),
            ("[".repeat(1530), 20),
            ("ẹ".repeat(70), 1),
            ("ẹ".repeat(71), 2),
            ("ẹ".repeat(134), 2),
            ("ẹ".repeat(135), 3),
            ("😀".repeat(35), 1),
            ("😀".repeat(36), 2),
            ("😀".repeat(1530), 46),
        ];
        for (body, pages) in table {
            let text = Text::prepare(&body, true).unwrap();
            assert_eq!(text.page_count(), pages, "{body}");
            assert_eq!(text.pages().len(), pages, "{body}");
        }
    }

    #[test]
    fn an_escape_pair_is_not_split_if_the_next_page_has_space() {
        let text = Text::prepare(&format!("{}€{}", "a".repeat(152), "b".repeat(20)), true).unwrap();
        let lengths: Vec<usize> = text.pages().iter().map(Vec::len).collect();
        assert_eq!(lengths, [152, 22]);
        let text =
            Text::prepare(&format!("{}€{}", "a".repeat(152), "b".repeat(152)), true).unwrap();
        let lengths: Vec<usize> = text.pages().iter().map(Vec::len).collect();
        assert_eq!(
            lengths,
            [153, 153],
            "torn: a third page is not billed, so it is not sent"
        );
    }

    #[test]
    fn golden_octets_of_both_alphabets() {
        let plain = Text::prepare("@a€", true).unwrap();
        assert_eq!(plain.pages(), [[0x00, 0x61, 0x1B, 0x65]]);
        let unicode = Text::prepare("ẹ😀", true).unwrap();
        assert_eq!(unicode.pages(), [[0x1E, 0xB9, 0xD8, 0x3D, 0xDE, 0x00]]);
    }

    #[test]
    fn an_at_sign_at_the_end_of_a_text_is_sent() {
        // The octet of @ is 0, which decoders of packed septets take for padding at each eighth
        // position.
        for before in [7, 8, 159, 160, 305] {
            let body = format!("{}@", "a".repeat(before));
            for unicode in [false, true] {
                let pages = Text::prepare(&body, unicode).unwrap().pages();
                let octets: Vec<u8> = pages.concat();
                assert_eq!(octets.len(), before + 1);
                assert_eq!(octets.last(), Some(&0), "{before}");
            }
        }
    }

    #[test]
    fn the_sender_is_appended_after_a_hyphen_and_counts() {
        let text = Text::prepare(&"a".repeat(153), false).unwrap();
        let with_sender = text.with_sender("OGENE");
        assert!(with_sender.as_str().ends_with("a - OGENE"));
        assert_eq!((text.page_count(), with_sender.page_count()), (1, 2));
    }

    /// Bodies with many special characters.
    fn body() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[ -~\n\r]{1,40}",
            "[\\[\\]{}^~|€\\\\]{1,90}",
            "[😀👋🏿❤️ ‍0-9⃣#]{1,40}",
            "[À-ɏẠ-ỹ₦‘’“”–…]{1,40}",
            any::<String>(),
        ];
        proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn pages_joined_are_the_text(body in body(), unicode: bool) {
            if let Some(text) = Text::prepare(&body, unicode) {
                prop_assert_eq!(read(&text), text.as_str());
            }
        }

        #[test]
        fn pages_are_as_many_as_billed_and_none_is_too_long(body in body(), unicode: bool) {
            if let Some(text) = Text::prepare(&body, unicode) {
                let pages = text.pages();
                prop_assert_eq!(pages.len(), text.page_count());
                let (single, multiple) = match text.alphabet() {
                    Alphabet::Gsm => (160, 153),
                    Alphabet::Ucs2 => (140, 134),
                };
                let longest = if pages.len() == 1 { single } else { multiple };
                prop_assert!(pages.iter().all(|page| !page.is_empty() && page.len() <= longest));
            }
        }

        #[test]
        fn plain_text_stays_as_it_is(body in body()) {
            if let Some(text) = Text::prepare(&body, false) {
                prop_assert_eq!(&Text::prepare(text.as_str(), false).unwrap(), &text);
                prop_assert_eq!(&Text::from_stored(text.as_str().to_owned()), &text, "all GSM");
                let accents = "èéùìòÇØøÅåÆæßÉÄÖÑÜäöñüà";
                prop_assert!(!text.as_str().contains(|c| accents.contains(c)));
            }
        }

        #[test]
        fn an_emoji_between_words_leaves_one_space(
            words in proptest::collection::vec("[a-z]{1,5}", 2..6), emoji in "[😀👋🎉🇳🇬🏿]{1,3}",
        ) {
            prop_assert_eq!(plain(&words.join(&format!(" {emoji} "))), words.join(" "));
        }
    }
}
