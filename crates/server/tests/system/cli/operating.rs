//! The commands of docs/operating, run as written there.
//!
//! A block `sh` is run beside a service, in the order of its page. A block `sh serves` is a command
//! that runs until it is stopped. A block `sh elsewhere` needs another machine, so only its syntax
//! and its `ogene` commands are checked.

use crate::installation::Installation;
use crate::process::Process;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// One block of commands.
struct Block {
    /// The words after the fence.
    kind: String,
    commands: String,
}

fn pages() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operating");
    let mut pages: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the pages")
        .map(|entry| entry.expect("a page").path())
        .collect();
    pages.sort();
    pages
}

fn blocks(page: &Path) -> Vec<Block> {
    let text = fs::read_to_string(page).expect("text");
    let mut fences = text.split("\n```");
    fences.next();
    // Every second part is a block of code.
    fences
        .step_by(2)
        .filter_map(|fence| fence.split_once('\n'))
        .filter(|(kind, _)| *kind == "sh" || kind.starts_with("sh "))
        .map(|(kind, commands)| Block {
            kind: kind.to_owned(),
            commands: commands.to_owned(),
        })
        .collect()
}

/// The carrier of the pages. Nothing listens there.
const CARRIER: &str = "[carriers.mtn]
address = \"127.0.0.1:9\"
system_id = \"ogene\"
password = \"secret\"
";

/// A service with a customer, and a shell that finds `ogene`.
struct Site {
    ogene: Installation,
    account: String,
    url: String,
    _service: Process,
}

impl Site {
    fn new() -> Self {
        let ogene = Installation::embedded();
        ogene.configure(CARRIER);
        let account = ogene.json(&[
            "account",
            "create",
            "--name",
            "Bola",
            "--email",
            "bola@example.ng",
        ]);
        let account = account["user_id"].as_str().expect("an id").to_owned();
        let (service, address) = Process::serve(ogene.command(&["serve"]));
        Self {
            ogene,
            account,
            url: format!("http://{address}"),
            _service: service,
        }
    }

    fn shell(&self, commands: &str) -> Command {
        let binary = PathBuf::from(self.ogene.command(&[]).get_program());
        let folder = binary.parent().expect("a folder").display();
        let mut shell = Command::new("/bin/bash");
        shell
            .current_dir(self.ogene.path())
            .env_clear()
            .env("PATH", format!("{folder}:/usr/local/bin:/usr/bin:/bin"))
            .env("ACCOUNT", &self.account)
            .env("URL", &self.url)
            .args(["-euo", "pipefail", "-c", commands]);
        shell
    }
}

fn check(page: &Path, commands: &str, output: &Output) {
    let [error, printed] =
        [&output.stderr, &output.stdout].map(|text| String::from_utf8_lossy(text));
    let page = page.display();
    assert!(
        output.status.success(),
        "{page}:\n{commands}\n{error}{printed}"
    );
}

/// Checks the arguments of each `ogene` command: clap checks all of them before a `--help` at the
/// end.
fn check_words(site: &Site, page: &Path, commands: &str) {
    let output = site
        .shell("bash -n <<<\"$COMMANDS\"")
        .env("COMMANDS", commands)
        .output();
    check(page, commands, &output.expect("it runs"));
    let lines = commands.lines().filter(|line| line.starts_with("ogene "));
    for line in lines {
        let end = line.find(['#', '>', '|']).unwrap_or(line.len());
        let command = format!("{} --help", line[..end].trim());
        let output = site.shell(&command).output().expect("it runs");
        check(page, &command, &output);
    }
}

#[test]
fn each_command_of_the_operating_pages_works() {
    let mut run = 0;
    for page in pages() {
        let blocks = blocks(&page);
        if blocks.is_empty() {
            continue;
        }
        let site = Site::new();
        for block in blocks {
            match &*block.kind {
                "sh" => {
                    let output = site.shell(&block.commands).output().expect("it runs");
                    check(&page, &block.commands, &output);
                    run += 1;
                }
                "sh serves" => {
                    let mut command = site.shell(&format!("exec {}", block.commands.trim()));
                    // The service of the test holds the lock of the usual directory.
                    command.env("OGENE_DATA_DIR", site.ogene.path().join("other"));
                    let mut process = Process::start(command);
                    process.line_with("127.0.0.1:");
                    process.signal("TERM");
                    assert!(process.end().0.success(), "{}", block.commands);
                    run += 1;
                }
                "sh elsewhere" => check_words(&site, &page, &block.commands),
                kind => panic!("{}: a block of an unknown kind: {kind}", page.display()),
            }
        }
    }
    assert!(run >= 15, "{run} blocks were run");
}
