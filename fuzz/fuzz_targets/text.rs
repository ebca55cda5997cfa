//! Texts as customers write them: the charged text is the sent text, and plain text stays plain.

#![no_main]

use domain::{Alphabet, CodeWords, Text};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static WORDS: LazyLock<CodeWords> = LazyLock::new(CodeWords::standard);

fuzz_target!(|body: &str| {
    for unicode in [false, true] {
        let Some(text) = Text::prepare(body, unicode) else {
            continue;
        };
        assert!(unicode || text.alphabet() == Alphabet::Gsm);
        for text in [text.clone(), text.with_sender("AdaStores")] {
            let pages = text.pages();
            assert_eq!(pages.len(), text.page_count());
            assert!(pages.iter().all(|page| page.len() <= 160));
        }
        // A plain text does not change.
        if !unicode {
            let again = Text::prepare(text.as_str(), false);
            assert_eq!(again.as_ref().map(Text::as_str), Some(text.as_str()));
        }
        let _ = WORDS.transactional(text.as_str());
    }
});
