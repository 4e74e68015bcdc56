//! Errors of compressed files.

/// The reason why a compressed file is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompressedError {
    /// It is damaged or truncated.
    #[error("the {kind} file is damaged: {reason}; download it again, or compress the data again")]
    Damaged {
        /// The format, `gzip` or `zip`.
        kind: &'static str,
        /// The damage.
        reason: String,
    },
    /// Its content is too large, for all files or for a file of its size.
    #[error("the {kind} file of {bytes} bytes decompresses to more than {max} bytes, its maximum; split the data")]
    TooLong {
        /// The format, `gzip` or `zip`.
        kind: &'static str,
        /// The compressed size in bytes.
        bytes: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// Its content is compressed or an archive, too.
    #[error("the {kind} file contains {inner}; extract it, and import the data file")]
    Nested {
        /// The format of the file, `gzip` or `zip`.
        kind: &'static str,
        /// The format of its content, with its article.
        inner: &'static str,
    },
    /// A zip archive contains too many entries.
    #[error("the zip file has more than {max} entries; compress the data file on its own")]
    TooManyEntries {
        /// The limit.
        max: usize,
    },
    /// A zip archive contains several data files.
    #[error("the zip file contains several data files ({names}); import each of them on its own")]
    SeveralFiles {
        /// The first names.
        names: String,
    },
    /// A zip archive contains no data file.
    #[error("the zip file contains no data file such as .csv, .json, .geojson or .pbf ({names})")]
    NoDataFile {
        /// The first names, or the fact that there are none.
        names: String,
    },
    /// A zip archive requires an unsupported feature.
    #[error("the zip file is {feature}, which is not supported; extract it, or compress the data file with gzip")]
    UnsupportedZip {
        /// The feature.
        feature: String,
    },
}
