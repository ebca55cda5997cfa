//! The first visible sheet of a workbook, and the parts that its cells need.

use super::part::{Parts, attribute};
use crate::error::SheetError;
use quick_xml::events::Event;
use std::io::{Read, Seek};

/// The relations of the package.
const PACKAGE: &str = "_rels/.rels";

/// The parts of a workbook.
#[derive(Debug, Default)]
pub(super) struct Workbook {
    pub(super) sheet_name: String,
    pub(super) sheet_path: String,
    pub(super) strings: Option<String>,
    pub(super) styles: Option<String>,
    /// `true` if dates count from 1904.
    pub(super) from_1904: bool,
}

pub(super) fn find<R: Read + Seek>(parts: &mut Parts<R>) -> Result<Workbook, SheetError> {
    if !parts.has(PACKAGE) {
        return Err(SheetError::NotATable);
    }
    let mut path = None;
    each_relation(parts, PACKAGE, &mut |relation| {
        if relation.kind == "officeDocument" {
            path = Some(resolved("", &relation.target));
        }
    })?;
    let path = path
        .filter(|path| parts.has(path))
        .ok_or(SheetError::NotATable)?;
    let mut workbook = Workbook::default();
    let mut sheet_id = None;
    parts.events(&path, &mut |event| {
        if let Event::Start(tag) = event {
            match tag.local_name().as_ref() {
                "workbookPr" => {
                    let value = attribute(&tag, "date1904");
                    workbook.from_1904 = matches!(value.as_deref(), Some("1" | "true"));
                }
                "sheet" if attribute(&tag, "state").is_none_or(|state| state == "visible") => {
                    sheet_id = attribute(&tag, "id");
                    workbook.sheet_name = attribute(&tag, "name").unwrap_or_default();
                    return Ok(false);
                }
                _ => {}
            }
        }
        Ok(true)
    })?;
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let relations = resolved(folder, &format!("_rels/{name}.rels"));
    each_relation(parts, &relations, &mut |relation| {
        let target = resolved(folder, &relation.target);
        match relation.kind.as_str() {
            "sharedStrings" => workbook.strings = Some(target),
            "styles" => workbook.styles = Some(target),
            _ if Some(&relation.id) == sheet_id.as_ref() => workbook.sheet_path = target,
            _ => {}
        }
    })?;
    if !parts.has(&workbook.sheet_path) {
        return Err(SheetError::NoSheet);
    }
    workbook.strings.take_if(|path| !parts.has(path));
    workbook.styles.take_if(|path| !parts.has(path));
    Ok(workbook)
}

struct Relation {
    id: String,
    /// The last part of its type.
    kind: String,
    target: String,
}

fn each_relation<R: Read + Seek>(
    parts: &mut Parts<R>,
    path: &str,
    each: &mut dyn FnMut(Relation),
) -> Result<(), SheetError> {
    parts.events(path, &mut |event| {
        if let Event::Start(tag) = event
            && tag.local_name().as_ref() == "Relationship"
        {
            let text = |name: &str| attribute(&tag, name).unwrap_or_default();
            let kind = text("Type");
            each(Relation {
                id: text("Id"),
                kind: kind.rsplit('/').next().unwrap_or_default().to_owned(),
                target: text("Target"),
            });
        }
        Ok(true)
    })
}

/// Returns the path of a target that is relative to a folder.
fn resolved(folder: &str, target: &str) -> String {
    if let Some(absolute) = target.strip_prefix('/') {
        return absolute.to_owned();
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_relative_to_its_folder_or_absolute() {
        let table = [
            ("xl", "worksheets/sheet1.xml", "xl/worksheets/sheet1.xml"),
            (
                "xl",
                "/xl/worksheets/sheet1.xml",
                "xl/worksheets/sheet1.xml",
            ),
            ("xl/a", "../b.xml", "xl/b.xml"),
            ("", "./xl/workbook.xml", "xl/workbook.xml"),
            ("", "../../etc", "etc"),
        ];
        for (folder, target, path) in table {
            assert_eq!(resolved(folder, target), path, "{folder} {target}");
        }
    }
}
