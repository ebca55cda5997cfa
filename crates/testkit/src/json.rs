//! JSON in the form of snapshots.

/// Returns compact JSON with one value a line. Text before the first brace is kept, numbers keep their digits,
/// and members keep their order, so that two different texts never look alike.
#[must_use]
pub fn indented(text: &str) -> String {
    let (head, json) = text.split_at(text.find(['{', '[']).unwrap_or(text.len()));
    let mut out = head.to_owned();
    let mut depth = 0;
    let mut in_string = false;
    let mut characters = json.chars().peekable();
    while let Some(character) = characters.next() {
        if in_string {
            out.push(character);
            match character {
                '\\' => out.extend(characters.next()),
                '"' => in_string = false,
                _ => {}
            }
            continue;
        }
        assert!(
            !character.is_whitespace(),
            "the JSON is not compact: {json}"
        );
        match character {
            '{' | '[' => {
                out.push(character);
                if let Some(close) = characters.next_if(|next| ['}', ']'].contains(next)) {
                    out.push(close);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth -= 1;
                new_line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(character);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => {
                in_string = character == '"';
                out.push(character);
            }
        }
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
}

#[cfg(test)]
mod tests {
    use super::indented;

    #[test]
    fn every_value_has_its_line() {
        let text = r#"200 {"a":[1.50,{"b":"x: {\"y\"}, z"}],"c":{},"d":[]}"#;
        let lines = [
            "200 {",
            r#"  "a": ["#,
            "    1.50,",
            "    {",
            r#"      "b": "x: {\"y\"}, z""#,
            "    }",
            "  ],",
            r#"  "c": {},"#,
            r#"  "d": []"#,
            "}",
        ];
        assert_eq!(indented(text), lines.join("\n"));
    }

    #[test]
    #[should_panic(expected = "not compact")]
    fn white_space_between_values_is_a_fault() {
        let _ = indented(r#"{"a": 1}"#);
    }
}
