//! The files that screens load.

/// A file that the binary contains.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Asset {
    /// The name of the file.
    pub name: &'static str,
    /// Its media type.
    pub content_type: &'static str,
    /// Its bytes.
    pub content: &'static [u8],
    /// The same bytes by gzip, for large files.
    pub gzip: Option<&'static [u8]>,
    /// The hash of the bytes. A changed file has another path, so browsers keep a file for ever.
    pub hash: u64,
}

impl Asset {
    const fn new(name: &'static str, content_type: &'static str, content: &'static [u8]) -> Self {
        Self {
            name,
            content_type,
            content,
            gzip: None,
            hash: hash(content),
        }
    }

    /// Returns the path of the file on the server.
    pub fn path(&self) -> String {
        format!("/console/assets/{}", self.file())
    }

    /// Returns the last part of the path: the hash and the name.
    pub fn file(&self) -> String {
        format!("{:016x}-{}", self.hash, self.name)
    }
}

/// The style sheet.
pub(crate) const STYLE: Asset = Asset::new(
    "console.css",
    "text/css; charset=utf-8",
    include_bytes!("../assets/console.css"),
);

/// htmx, which replaces parts of a screen.
pub(crate) const HTMX: Asset = Asset {
    gzip: Some(include_bytes!("../assets/htmx.min.js.gz")),
    ..Asset::new(
        "htmx.min.js",
        "text/javascript; charset=utf-8",
        include_bytes!("../assets/htmx.min.js"),
    )
};

/// Our own script.
pub(crate) const SCRIPT: Asset = Asset::new(
    "console.js",
    "text/javascript; charset=utf-8",
    include_bytes!("../assets/console.js"),
);

/// The script of the screens that ask for a passkey.
pub(crate) const PASSKEY: Asset = Asset::new(
    "passkey.js",
    "text/javascript; charset=utf-8",
    include_bytes!("../assets/passkey.js"),
);

/// The icon.
pub(crate) const ICON: Asset = Asset::new(
    "icon.svg",
    "image/svg+xml",
    include_bytes!("../assets/icon.svg"),
);

/// All files that screens load.
pub const ASSETS: [Asset; 5] = [STYLE, HTMX, SCRIPT, PASSKEY, ICON];

/// Returns the asset whose path ends with `file`, such as `0123456789abcdef-console.css`.
pub fn asset(file: &str) -> Option<Asset> {
    ASSETS.into_iter().find(|asset| asset.file() == file)
}

/// Returns the hash of bytes (FNV-1a).
const fn hash(bytes: &[u8]) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0000_0100_0000_01B3);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Most bytes of script that a browser with gzip receives for a screen.
    const MAX_SCRIPT_BYTES: usize = 40 * 1024;

    #[test]
    fn a_path_leads_to_its_asset() {
        for one in ASSETS {
            let file = one.path().rsplit('/').next().unwrap().to_owned();
            assert_eq!(asset(&file), Some(one));
        }
        assert_eq!(asset("0000000000000000-console.css"), None);
        assert_eq!(asset("console.css"), None);
    }

    #[test]
    fn a_changed_file_has_another_path() {
        let [one, other] = [b"a{}", b"b{}"].map(|content| Asset::new("a.css", "text/css", content));
        assert_ne!(one.path(), other.path());
    }

    #[test]
    fn scripts_are_at_most_40_kb_when_compressed() {
        let scripts =
            [HTMX, SCRIPT, PASSKEY].map(|asset| asset.gzip.unwrap_or(asset.content).len());
        assert!(scripts.iter().sum::<usize>() <= MAX_SCRIPT_BYTES);
    }

    /// The end of a gzip file is the CRC of its content, and the length.
    #[test]
    fn a_compressed_asset_is_the_asset() {
        for asset in ASSETS {
            let Some(gzip) = asset.gzip else { continue };
            let end = gzip.last_chunk::<8>().unwrap();
            let number = |at: usize| u32::from_le_bytes(end[at..at + 4].try_into().unwrap());
            assert_eq!(number(0), crc32fast::hash(asset.content), "{}", asset.name);
            assert_eq!(number(4) as usize, asset.content.len(), "{}", asset.name);
        }
    }

    #[test]
    fn no_asset_names_another_host() {
        for asset in [STYLE, SCRIPT, PASSKEY] {
            let text = std::str::from_utf8(asset.content).unwrap();
            assert!(
                !text.contains("//fonts") && !text.contains("http"),
                "{}",
                asset.name
            );
        }
    }
}
