//! Reads whole files up to a maximum size.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Reads a file of at most `max` bytes. The limit is enforced while reading, because a pipe has no
/// size and a file may grow.
///
/// # Errors
/// Returns an error if the file cannot be read, or [`ErrorKind::FileTooLarge`] if it has more than
/// `max` bytes.
pub fn read(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    read_from(File::open(path)?, max)
}

/// Reads a text file of at most `max` bytes.
///
/// # Errors
/// Returns the errors of [`read()`], or [`ErrorKind::InvalidData`] if it is not UTF-8.
pub fn read_text(path: &Path, max: u64) -> io::Result<String> {
    String::from_utf8(read(path, max)?).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

/// Reads at most `max` bytes from `source`, up to its end.
///
/// # Errors
/// Returns the errors of [`read()`].
pub fn read_from(source: impl Read, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        let reason = format!("it has more than {max} bytes, the maximum");
        return Err(io::Error::new(ErrorKind::FileTooLarge, reason));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::process::Command;

    use super::*;

    #[test]
    fn reading_stops_beyond_the_maximum() {
        assert_eq!(read_from(&b"1234"[..], 4).unwrap(), b"1234");
        let refused = read_from(&b"12345"[..], 4).unwrap_err();
        assert_eq!(refused.to_string(), "it has more than 4 bytes, the maximum");
        let endless = read(Path::new("/dev/zero"), 1_000).unwrap_err();
        assert_eq!(endless.kind(), ErrorKind::FileTooLarge);
    }

    #[test]
    fn open_pipe_is_rejected_beyond_the_maximum() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        // A pipe that is open for both reading and writing neither blocks nor ends.
        let mut writer = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        writer.write_all(b"12345").unwrap();
        assert_eq!(read(&pipe, 4).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }
}
