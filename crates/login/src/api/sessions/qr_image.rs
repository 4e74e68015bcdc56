//! Encodes the QR code of a session as a PNG image.

use anyhow::{Context, Result};
use signpost_auth::QrCode;

/// Size of a module of the code in pixels. With this size, most images need no scaling on a page.
const PIXELS_PER_MODULE: usize = 8;

/// Encodes the code as a PNG (ISO/IEC 15948) with a bit depth of 1.
pub(crate) fn png(code: &QrCode) -> Result<Vec<u8>> {
    let side = code.side() * PIXELS_PER_MODULE;
    let mut file = Vec::new();
    let pixels = u32::try_from(side)?;
    let mut encoder = png::Encoder::new(&mut file, pixels, pixels);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::One);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&bits(code, side)).context("a code is as large as it says")?;
    writer.finish()?;
    Ok(file)
}

/// Returns the rows of pixels from top to bottom, each padded to whole bytes. Light pixels are 1.
fn bits(code: &QrCode, side: usize) -> Vec<u8> {
    let row_len = side.div_ceil(8);
    let mut bits = vec![0; row_len * side];
    for y in 0..side {
        for x in 0..side {
            if !code.is_dark(x / PIXELS_PER_MODULE, y / PIXELS_PER_MODULE) {
                bits[y * row_len + x / 8] |= 0x80 >> (x % 8);
            }
        }
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_contains_the_modules_of_the_code() {
        let code = QrCode::from_text("svc://auth?v=1&webhook=https://example.com/hook").unwrap();
        let file = png(&code).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut image = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut image).unwrap();
        let side = code.side() * PIXELS_PER_MODULE;
        assert_eq!((frame.width as usize, frame.height as usize), (side, side));
        for y in 0..side {
            for x in 0..side {
                let is_light = image[y * frame.line_size + x / 8] & (0x80 >> (x % 8)) != 0;
                assert_eq!(is_light, !code.is_dark(x / PIXELS_PER_MODULE, y / PIXELS_PER_MODULE), "{x}, {y}");
            }
        }
    }
}
