//! `[networks]` and `[content]`: prefixes of networks, and phrases of texts.

use super::section::Section;
use super::value::Read;
use domain::{CodeWords, NumberPlan, Prohibited};

/// Reads `[networks]`: the prefixes of the networks. The built-in ones are the default.
pub(super) fn number_plan(mut section: Section<'_>) -> NumberPlan {
    if section.is_empty() {
        return NumberPlan::nigeria();
    }
    let mut table = Vec::new();
    for (network, node) in section.take_all() {
        match Vec::<String>::read(&node) {
            Ok(prefixes) => table.push((network, prefixes)),
            Err(text) => section.fault_at(&node.place, &network, text),
        }
    }
    NumberPlan::new(&table).unwrap_or_else(|faults| {
        for text in faults {
            section.fault("", text);
        }
        NumberPlan::nigeria()
    })
}

/// Reads `[content]`: phrases that make a text transactional, and phrases that are prohibited.
pub(super) fn read(mut section: Section<'_>) -> (CodeWords, Prohibited) {
    let words: Option<Vec<String>> = section.get("code_words");
    let prohibited: Option<Vec<String>> = section.get("prohibited");
    section.finish();
    let words = words.map_or_else(CodeWords::standard, |words| CodeWords::new(&words));
    (words, Prohibited::new(&prohibited.unwrap_or_default()))
}
