//! `ogene dnd`

use super::answer::{Answer, Failure};
use super::context::Context;
use clap::{Args, Subcommand};
use domain::dnd::{DndNumbers, number_of_line};
use flate2::read::MultiGzDecoder;
use serde_json::json;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// Lines after which progress is shown.
const PROGRESS_LINES: u64 = 1_000_000;
/// Blocks of numbers after which progress is shown.
const PROGRESS_BLOCKS: usize = 10_000;
/// Maximum length of a line in octets. A longer one has many numbers, of which one would be read.
const MAX_LINE_OCTETS: usize = 4_096;
/// Numbers of lines without a number that the answer names.
const MAX_NAMED: usize = 5;
/// The first octets of a gzip file.
const GZIP: [u8; 2] = [0x1F, 0x8B];

#[derive(Subcommand)]
pub(super) enum Dnd {
    /// Add the numbers of a file
    #[command(
        after_help = "The file has one number in a line, or is a CSV, of which each line has its number in any column. It may be \
        compressed with gzip. A line without a Nigerian mobile number, such as a header, is skipped and counted. Numbers \
        that are on DND already stay. Gateways with `respect_dnd` leave the numbers out of sends from now on.\n\n\
        Example: ogene dnd import dnd.csv.gz"
    )]
    Import(Import),
    /// Add a number
    #[command(after_help = "Example: ogene dnd add 2348031234567")]
    Add(Number),
    /// Remove a number
    #[command(after_help = "Example: ogene dnd remove 2348031234567")]
    Remove(Number),
    /// Count the numbers
    #[command(after_help = "Example: ogene dnd count")]
    Count,
}

#[derive(Args)]
pub(super) struct Import {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

#[derive(Args)]
pub(super) struct Number {
    /// The number
    #[arg(value_name = "NUMBER")]
    number: String,
}

impl Dnd {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        match self {
            Self::Import(import) => import.run(context).await,
            Self::Add(Number { number }) => {
                let operations = context.open().await?;
                let added = operations.dnd().add(&number).await?;
                let text = if added {
                    "The number is on DND."
                } else {
                    "The number was on DND already."
                };
                Answer::new(text, &json!({ "added": added }))
            }
            Self::Remove(Number { number }) => {
                let operations = context.open().await?;
                let removed = operations.dnd().remove(&number).await?;
                if !removed {
                    return Err(Failure::new("the number is not on DND"));
                }
                Answer::new(
                    "The number is not on DND any more.",
                    &json!({ "removed": 1 }),
                )
            }
            Self::Count => {
                let operations = context.open().await?;
                let count = operations.dnd().count().await?;
                Answer::new(
                    format!("{count} numbers are on DND."),
                    &json!({ "count": count }),
                )
            }
        }
    }
}

impl Import {
    async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let shows = !context.global.json;
        let show = move |line: String| {
            if shows {
                // The import continues if standard error is closed.
                let _ = writeln!(io::stderr(), "{line}");
            }
        };
        // The configuration is checked before a long file is read.
        let operations = context.open().await?;
        let name = self.file.display();
        let read = Lines::read(&self.file, &show);
        let read = read.map_err(|error| Failure::new(format!("{name} cannot be read: {error}")))?;
        if read.found == 0 {
            return Err(Failure::new(format!(
                "{name} has no Nigerian mobile number: give one number in a line, or a CSV with a column of numbers"
            )));
        }
        let (found, skipped) = (read.found, read.skipped);
        let progress = |done: usize, all| {
            if done.is_multiple_of(PROGRESS_BLOCKS) || done == all {
                show(format!("{done} of {all} blocks of numbers stored"));
            }
        };
        let added = operations.dnd().import(read.numbers, progress).await?;
        let mut text = format!(
            "{added} numbers were added, and {} were on DND already.",
            found - added
        );
        if skipped > 0 {
            let named: Vec<String> = read.first_skipped.iter().map(u64::to_string).collect();
            let named = named.join(", ");
            text = format!(
                "{text}\n{skipped} lines without a Nigerian mobile number were skipped; the first ones are: {named}."
            );
        }
        let json = json!({ "added": added, "known": found - added, "skipped": skipped });
        Answer::new(text, &json)
    }
}

/// The numbers of a file.
#[derive(Default)]
struct Lines {
    numbers: DndNumbers,
    /// The number of different numbers.
    found: u64,
    /// The number of lines without a number.
    skipped: u64,
    first_skipped: Vec<u64>,
}

impl Lines {
    fn read(file: &Path, show: &dyn Fn(String)) -> io::Result<Self> {
        let mut reader = BufReader::with_capacity(1 << 16, File::open(file)?);
        if reader.fill_buf()?.starts_with(&GZIP) {
            let mut unpacked = BufReader::with_capacity(1 << 16, MultiGzDecoder::new(reader));
            return Self::of(&mut unpacked, show);
        }
        Self::of(&mut reader, show)
    }

    fn of(reader: &mut dyn BufRead, show: &dyn Fn(String)) -> io::Result<Self> {
        let mut lines = Self::default();
        let mut octets = Vec::new();
        for number in 1.. {
            octets.clear();
            // One octet more shows that the line is longer.
            let mut line = (&mut *reader).take(MAX_LINE_OCTETS as u64 + 1);
            if line.read_until(b'\n', &mut octets)? == 0 {
                break;
            }
            if octets.len() > MAX_LINE_OCTETS {
                return Err(io::Error::other(format!(
                    "line {number} is longer than {MAX_LINE_OCTETS} octets; give one number in a line"
                )));
            }
            lines.take(number, &String::from_utf8_lossy(&octets));
            if number % PROGRESS_LINES == 0 {
                show(format!("{number} lines read"));
            }
        }
        Ok(lines)
    }

    fn take(&mut self, number: u64, line: &str) {
        match number_of_line(line) {
            Some(recipient) => self.found += u64::from(self.numbers.insert(recipient)),
            None if line.trim().is_empty() => {}
            None => {
                self.skipped += 1;
                if self.first_skipped.len() < MAX_NAMED {
                    self.first_skipped.push(number);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    const FILE: &str =
        "name,msisdn\r\nAda,08031234567\r\n\r\nObi,2348051234568\nAda,2348031234567\nnobody,12\n";

    fn read(octets: &[u8]) -> Lines {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(octets).unwrap();
        Lines::read(file.path(), &|_| {}).unwrap()
    }

    #[test]
    fn a_file_is_read_plain_and_compressed() {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(FILE.as_bytes()).unwrap();
        for octets in [FILE.as_bytes().to_vec(), packed.finish().unwrap()] {
            let lines = read(&octets);
            assert_eq!((lines.found, lines.skipped), (2, 2));
            assert_eq!(lines.first_skipped, [1, 6]);
            assert_eq!(lines.numbers.into_blocks().len(), 2);
        }
    }

    #[test]
    fn odd_files_have_no_numbers() {
        for octets in [&b""[..], b"\n\n", &[0xFF; 4_096], b"\x1F"] {
            assert_eq!(read(octets).found, 0);
        }
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"\x1F\x8Bbroken").unwrap();
        assert!(Lines::read(file.path(), &|_| {}).is_err());
    }

    #[test]
    fn a_line_of_many_numbers_is_refused() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let line = "08031234567,".repeat(400);
        write!(file, "msisdn\n{line}").unwrap();
        let fault = Lines::read(file.path(), &|_| {}).err().unwrap();
        assert!(fault.to_string().contains("line 2 is longer"), "{fault}");
    }
}
