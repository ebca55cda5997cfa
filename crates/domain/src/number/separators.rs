//! Characters that may separate the digits of a number.

/// Returns `true` if a character is ignored in a number.
pub(super) fn is_separator(character: char) -> bool {
    match character {
        ' ' | '-' | '.' | '(' | ')' | '[' | ']' | '{' | '}' | '\t' => true,
        '\0'..='~' => character.is_ascii_whitespace() || character == '\u{B}',
        _ => {
            is_invisible(character)
                || character.is_whitespace()
                || is_dash(character)
                || is_dot(character)
                || is_bracket(character)
        }
    }
}

/// Returns `true` for format characters without width: soft hyphen, zero-width characters, marks
/// and embeddings of direction, joiners, and the byte order mark.
pub(super) const fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{AD}' | '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}'
        | '\u{FEFF}')
}

/// Returns `true` for characters with the property `Dash` (Unicode 16, `PropList.txt`), and
/// superscript and subscript minus.
const fn is_dash(character: char) -> bool {
    matches!(
        character,
        '-' | '\u{58A}' | '\u{5BE}' | '\u{1400}' | '\u{1806}' | '\u{2010}'
            ..='\u{2015}'
                | '\u{2053}'
                | '\u{207B}'
                | '\u{208B}'
                | '\u{2212}'
                | '\u{2E17}'
                | '\u{2E1A}'
                | '\u{2E3A}'
                | '\u{2E3B}'
                | '\u{2E40}'
                | '\u{2E5D}'
                | '\u{301C}'
                | '\u{3030}'
                | '\u{30A0}'
                | '\u{FE31}'
                | '\u{FE32}'
                | '\u{FE58}'
                | '\u{FE63}'
                | '\u{FF0D}'
                | '\u{10D6E}'
                | '\u{10EAD}'
    )
}

/// Returns `true` for full stops, middle dots, bullets, and their full-width forms.
const fn is_dot(character: char) -> bool {
    matches!(
        character,
        '\u{B7}'
            | '\u{2022}'
            | '\u{2024}'
            | '\u{2027}'
            | '\u{2219}'
            | '\u{22C5}'
            | '\u{30FB}'
            | '\u{FE52}'
            | '\u{FF0E}'
            | '\u{FF65}'
    )
}

/// Returns `true` for brackets, including mathematical, East Asian and full-width ones.
const fn is_bracket(character: char) -> bool {
    matches!(character,
        '\u{2045}' | '\u{2046}' | '\u{207D}' | '\u{207E}' | '\u{208D}' | '\u{208E}' | '\u{2768}'..='\u{2775}'
        | '\u{27E6}'..='\u{27EF}' | '\u{2983}'..='\u{2998}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301B}'
        | '\u{FE59}'..='\u{FE5E}' | '\u{FF08}' | '\u{FF09}' | '\u{FF3B}' | '\u{FF3D}' | '\u{FF5B}' | '\u{FF5D}'
        | '\u{FF5F}' | '\u{FF60}')
}
