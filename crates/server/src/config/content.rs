//! `[networks]` and `[content]`: prefixes of networks, and phrases that matter.

use super::section::Section;
use super::value::Read;
use domain::{CodeWords, NumberPlan, Prohibited};

/// `[networks]`: the operators' prefixes, or the built-in ones where nothing is given.
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

/// `[content]`: what makes a text transactional, and what none may hold.
pub(super) fn read(mut section: Section<'_>) -> (CodeWords, Prohibited) {
    let words: Option<Vec<String>> = section.get("code_words");
    let prohibited: Option<Vec<String>> = section.get("prohibited");
    section.finish();
    let words = words.map_or_else(CodeWords::standard, |words| CodeWords::new(&words));
    (words, Prohibited::new(&prohibited.unwrap_or_default()))
}
