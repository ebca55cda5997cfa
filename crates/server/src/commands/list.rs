//! Lists: a table for people, or one JSON value for machines, written page by page.

use super::answer::{Answer, Failure};
use super::context::Context;
use clap::Args;
use domain::search::{Cursor, MAX_LIMIT};
use engine::operators::{OperationError, Page, PageRequest};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write};

/// The part of a list that is printed.
#[derive(Args)]
pub(super) struct PageArgs {
    /// Print one page of at most so many rows, 1 to 1000 [default: all rows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_LIMIT)))]
    limit: Option<u32>,
    /// Begin after the page that printed this cursor
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

/// One row of a list in both forms.
pub(super) struct Row<const N: usize> {
    json: String,
    cells: [String; N],
}

impl<const N: usize> Row<N> {
    /// Makes a row.
    pub(super) fn new(json: &impl Serialize, cells: [String; N]) -> Result<Self, Failure> {
        let json = serde_json::to_string_pretty(json)?;
        Ok(Self { json, cells })
    }
}

impl PageArgs {
    /// Reads and prints a page, or all pages one after the other.
    pub(super) async fn print<T, const N: usize>(
        self,
        context: &Context,
        names: [&str; N],
        read: impl AsyncFn(PageRequest) -> Result<Page<T>, OperationError>,
        row: impl Fn(&T) -> Result<Row<N>, Failure>,
    ) -> Result<Answer, Failure> {
        let mut printer = Printer::new(context.global.json, names);
        let mut cursor = self.cursor.map(Cursor::new);
        loop {
            let request = PageRequest::new(self.limit.unwrap_or(MAX_LIMIT), cursor);
            let page = read(request).await.map_err(failure)?;
            let rows: Vec<Row<N>> = page.items.iter().map(&row).collect::<Result<_, _>>()?;
            let is_last = page.next.is_none() || self.limit.is_some();
            let mut text = printer.page(&rows);
            if is_last {
                text += &printer.end(page.next.as_ref());
            }
            if !write(&text)? {
                return Ok(Answer::none());
            }
            if is_last {
                printer.name_next(page.next.as_ref());
                return Ok(Answer::none());
            }
            cursor = page.next;
        }
    }
}

/// A wrong cursor or filter is a wrong command line.
fn failure(error: OperationError) -> Failure {
    match error {
        OperationError::Cursor | OperationError::Filter(_) => Failure::usage(error.to_string()),
        other => other.into(),
    }
}

/// Writes to standard output. Returns `false` if its reader has gone, as `head` does.
fn write(text: &str) -> io::Result<bool> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true),
    }
}

/// The text of a list that is written page by page.
struct Printer<'n, const N: usize> {
    is_json: bool,
    names: [&'n str; N],
    widths: [usize; N],
    is_first: bool,
}

impl<'n, const N: usize> Printer<'n, N> {
    fn new(is_json: bool, names: [&'n str; N]) -> Self {
        Self {
            is_json,
            names,
            widths: names.map(|name| name.chars().count()),
            is_first: true,
        }
    }

    /// Returns the text of the next page.
    fn page(&mut self, rows: &[Row<N>]) -> String {
        if self.is_json {
            self.json(rows)
        } else {
            self.table(rows)
        }
    }

    /// Returns the lines of a table. A later page widens a column, and never narrows it.
    fn table(&mut self, rows: &[Row<N>]) -> String {
        for row in rows {
            for (width, cell) in self.widths.iter_mut().zip(&row.cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let mut text = String::new();
        if self.is_first {
            self.is_first = false;
            self.line(&mut text, &self.names.map(str::to_owned));
        }
        for row in rows {
            self.line(&mut text, &row.cells);
        }
        text
    }

    fn line(&self, text: &mut String, cells: &[String; N]) {
        let padded = cells.iter().zip(self.widths);
        let padded: Vec<_> = padded
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        text.push_str(padded.join("  ").trim_end());
        text.push('\n');
    }

    /// Returns the items of the JSON value.
    fn json(&mut self, rows: &[Row<N>]) -> String {
        let mut text = String::new();
        if self.is_first {
            text.push_str("{\n  \"items\": [");
        }
        for row in rows {
            text.push_str(if self.is_first { "\n    " } else { ",\n    " });
            self.is_first = false;
            text.push_str(&row.json.replace('\n', "\n    "));
        }
        text
    }

    /// Returns the end of the text.
    fn end(&self, next: Option<&Cursor>) -> String {
        let mut text = String::new();
        if self.is_json {
            // A cursor has letters, digits, hyphens and underscores alone.
            let next = next.map_or("null".to_owned(), |next| format!("\"{}\"", next.as_str()));
            let bracket = if self.is_first { "]" } else { "\n  ]" };
            let _ = writeln!(text, "{bracket},\n  \"next_cursor\": {next}\n}}");
        }
        text
    }

    /// Shows how to get the next page, beside the table.
    fn name_next(&self, next: Option<&Cursor>) {
        if let Some(next) = next.filter(|_| !self.is_json) {
            let next = next.as_str();
            let _ = writeln!(io::stderr(), "More rows: --cursor {next}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: i64, name: &str) -> Row<2> {
        let json = serde_json::json!({ "id": id });
        Row::new(&json, [id.to_string(), name.to_owned()]).expect("it is JSON")
    }

    fn written(is_json: bool, pages: &[&[Row<2>]], next: Option<&Cursor>) -> String {
        let mut printer = Printer::new(is_json, ["ID", "NAME"]);
        let pages: String = pages.iter().map(|page| printer.page(page)).collect();
        pages + &printer.end(next)
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_so_far() {
        let pages: [&[Row<2>]; 2] = [
            &[row(123, "Ọláyẹmí"), row(4, "")],
            &[row(56_789, "Bola"), row(1, "Ada")],
        ];
        insta::assert_snapshot!(written(false, &pages, None), @r"
        ID   NAME
        123  Ọláyẹmí
        4
        56789  Bola
        1      Ada
        ");
        assert_eq!(written(false, &[&[]], None), "ID  NAME\n");
    }

    #[test]
    fn pages_make_one_json_value_with_the_next_cursor() {
        let pages: [&[Row<2>]; 2] = [&[row(1, "Ada")], &[row(2, "Bola")]];
        let next = Cursor::new("AQY");
        insta::assert_snapshot!(written(true, &pages, Some(&next)), @r#"
        {
          "items": [
            {
              "id": 1
            },
            {
              "id": 2
            }
          ],
          "next_cursor": "AQY"
        }
        "#);
        let empty = written(true, &[&[]], None);
        assert_eq!(empty, "{\n  \"items\": [],\n  \"next_cursor\": null\n}\n");
    }
}
