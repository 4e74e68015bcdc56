//! `/sessions`.

pub mod answer;
pub mod create;
pub mod list;
pub mod one;
pub mod page_access;
pub mod qr_image;
pub mod replies;
pub mod simulate;
pub mod watch;
