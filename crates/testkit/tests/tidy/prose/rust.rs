//! The texts of a Rust source: comments, descriptions, and lines of the log.

use super::comments::paragraphs;
use super::{Fault, Kind, Text};

/// Maximum number of characters of a function's name, which is the rule that a test states.
const MAX_NAME: usize = 60;

const LOGS: [&str; 5] = ["trace!(", "debug!(", "info!(", "warn!(", "error!("];

/// A line of a comment, and the place where the code continues after it.
struct Comment {
    line: usize,
    /// `///`, `//!` or `//`.
    mark: &'static str,
    words: String,
    code: usize,
}

/// A source, separated into its parts.
#[derive(Default)]
struct Source {
    comments: Vec<Comment>,
    /// The literals, with their lines.
    strings: Vec<(usize, String)>,
    /// The code, in which the index of a literal in quotes stands for the literal.
    code: String,
}

/// Returns the length of a string literal at the start of the source, and where its text begins
/// and ends.
fn literal(rest: &str) -> Option<(usize, usize, usize)> {
    let prefix = rest
        .bytes()
        .take_while(|byte| matches!(byte, b'b' | b'c' | b'r'))
        .count();
    let raw = rest[..prefix].contains('r');
    let hashes = rest[prefix..]
        .bytes()
        .take_while(|byte| *byte == b'#')
        .count();
    let start = prefix + hashes + 1;
    if prefix > 2 || (hashes > 0 && !raw) || rest.as_bytes().get(start - 1) != Some(&b'"') {
        return None;
    }
    if raw {
        let end = format!("\"{}", "#".repeat(hashes));
        let length = rest[start..].find(&end).unwrap_or(rest.len() - start);
        return Some((
            (start + length + end.len()).min(rest.len()),
            start,
            start + length,
        ));
    }
    let mut escaped = false;
    for (index, byte) in rest.bytes().enumerate().skip(start) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some((index + 1, start, index)),
            _ => {}
        }
    }
    None
}

/// Returns the length of a character literal; a lifetime is none.
fn character(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('\'')?;
    if inner.starts_with('\\') {
        return inner.get(2..)?.find('\'').map(|end| end + 4);
    }
    let first = inner.chars().next()?.len_utf8();
    inner[first..].starts_with('\'').then_some(first + 2)
}

fn take_apart(source: &str) -> Source {
    let mut found = Source::default();
    let (mut at, mut line) = (0, 1);
    while at < source.len() {
        let rest = &source[at..];
        let after_word = found
            .code
            .ends_with(|last: char| last.is_alphanumeric() || last == '_');
        let taken = if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            let text = &rest[..end];
            let mark = if text.starts_with("////") {
                "//"
            } else {
                ["///", "//!", "//"]
                    .into_iter()
                    .find(|mark| text.starts_with(mark))
                    .unwrap_or("//")
            };
            found.comments.push(Comment {
                line,
                mark,
                words: text[mark.len()..].to_owned(),
                code: found.code.len(),
            });
            end
        } else if let Some((length, start, end)) = literal(rest).filter(|_| !after_word) {
            let quoted = format!("\"{}\"", found.strings.len());
            found.code.push_str(&quoted);
            found.strings.push((line, rest[start..end].to_owned()));
            length
        } else if let Some(length) = character(rest) {
            found.code.push_str("' '");
            length
        } else {
            let next = rest.chars().next().unwrap_or(' ');
            found.code.push(next);
            next.len_utf8()
        };
        line += rest[..taken].matches('\n').count();
        at += taken;
    }
    found
}

/// Returns how many bytes lie within brackets that open at the start.
fn bracketed(code: &str) -> usize {
    let mut depth = 0;
    for (index, byte) in code.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index + 1;
        }
    }
    code.len()
}

/// Returns `true` if the code begins with a function or a macro, after attributes and visibility.
fn begins_with_function(code: &str) -> bool {
    const BEFORE: [&str; 5] = ["pub", "async", "const", "unsafe", "default"];
    let mut code = code.trim_start();
    loop {
        if let Some(attribute) = code.strip_prefix('#') {
            code = attribute[bracketed(attribute)..].trim_start();
        } else if code.starts_with('(') {
            code = code[bracketed(code)..].trim_start();
        } else if let Some(word) = BEFORE.iter().find(|word| code.starts_with(**word)) {
            code = code[word.len()..].trim_start();
        } else {
            return code.starts_with("fn ") || code.starts_with("macro_rules!");
        }
    }
}

/// Returns the comments in paragraphs, and the lines of the log.
pub(super) fn texts(source: &str) -> Vec<Text> {
    let source = take_apart(source);
    let mut texts = Vec::new();
    let one_block = |one: &Comment, next: &Comment| {
        let between = &source.code[one.code..next.code];
        one.mark == next.mark && one.line + 1 == next.line && between.trim().is_empty()
    };
    for block in source.comments.chunk_by(one_block) {
        let end = block.last().map_or(0, |comment| comment.code);
        let function = block[0].mark == "///" && begins_with_function(&source.code[end..]);
        let kind = if function {
            Kind::Function
        } else {
            Kind::Comment
        };
        let lines = block.iter().map(|comment| (comment.line, &*comment.words));
        texts.extend(paragraphs(lines, kind));
    }
    for log in LOGS {
        for (start, _) in source.code.match_indices(log) {
            let call = &source.code[start + log.len() - 1..];
            let call = &call[..bracketed(call)];
            let index = call
                .split('"')
                .nth_back(1)
                .and_then(|index| index.parse::<usize>().ok());
            if let Some((line, words)) = index.and_then(|index| source.strings.get(index)) {
                texts.push(Text {
                    kind: Kind::Log,
                    line: *line,
                    words: words.clone(),
                });
            }
        }
    }
    texts
}

/// Returns the literals with a space, as descriptions of metrics are.
pub(super) fn descriptions(source: &str) -> Vec<Text> {
    let strings = take_apart(source).strings.into_iter();
    strings
        .filter(|(_, words)| words.contains(' '))
        .map(|(line, words)| Text {
            kind: Kind::Log,
            line,
            words,
        })
        .collect()
}

/// Returns the functions whose names are too long.
pub(super) fn long_names(source: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (index, line) in source.lines().enumerate() {
        let Some((_, name)) = line.split_once("fn ") else {
            continue;
        };
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = name.bytes().take_while(plain).count();
        if length > MAX_NAME {
            faults.push(Fault {
                line: index + 1,
                reason: format!("{length} characters of a name: {}", &name[..length]),
            });
        }
    }
    faults
}

#[test]
fn comments_and_log_lines_are_found_in_a_source() {
    use Kind::{Comment, Function, Log};
    let cases: [(&str, &[(Kind, &str)]); 9] = [
        ("// One\n// two.\nlet a;", &[(Comment, "One two.")]),
        (
            "/// One.\n#[a(b)]\npub(crate) async fn c() {}",
            &[(Function, "One.")],
        ),
        ("/// One.\nstruct A;", &[(Comment, "One.")]),
        (
            "//! One.\n\n/// Two.\nfn a() {}",
            &[(Comment, "One."), (Function, "Two.")],
        ),
        (
            "let a = r#\"// \" one\"#; let b = '\"'; // two",
            &[(Comment, "two")],
        ),
        (
            "let a: &'static str = \"\\\"// one\"; // two",
            &[(Comment, "two")],
        ),
        (
            "tracing::warn!(a = \"b\", \"one {c}\");",
            &[(Log, "one {c}")],
        ),
        ("info!(a);", &[]),
        ("/// ```\n/// one\n/// ```\nfn a() {}", &[]),
    ];
    for (source, expected) in cases {
        let found = texts(source);
        let found: Vec<(Kind, &str)> = found.iter().map(|text| (text.kind, &*text.words)).collect();
        assert_eq!(found, expected, "{source}");
    }
}

#[test]
fn a_name_has_at_most_60_characters() {
    let named = |length| format!("    async fn {}() {{", "a".repeat(length));
    assert_eq!(long_names(&named(60)), []);
    assert_eq!(long_names(&named(61)).len(), 1);
}
