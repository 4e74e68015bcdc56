//! A session's code as a picture.

use anyhow::{Context, Result};
use signpost_auth::QrCode;

/// How many pixels a module is wide and high: a usual code is then as large as a page shows it.
const PIXELS_PER_MODULE: usize = 8;

/// The code as a PNG (ISO/IEC 15948) of one bit a pixel.
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

/// The rows from the top, each of whole bytes; a light pixel is a one.
fn bits(code: &QrCode, side: usize) -> Vec<u8> {
    let byte = |x: usize, y: usize| {
        let light = |bit: &usize| x + bit < side && !code.is_dark((x + bit) / PIXELS_PER_MODULE, y / PIXELS_PER_MODULE);
        (0..8).filter(light).fold(0, |byte, bit| byte | (0x80_u8 >> bit))
    };
    (0..side).flat_map(|y| (0..side).step_by(8).map(move |x| (x, y))).map(|(x, y)| byte(x, y)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_the_modules_of_its_code() {
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
