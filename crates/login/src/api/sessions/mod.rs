//! Handlers of `/sessions`: creating, reading, answering and cancelling login sessions.

pub mod answer;
pub mod by_id;
mod completed;
pub mod create;
pub mod list;
pub mod page_access;
pub mod qr_image;
pub mod replies;
pub mod simulate;
pub mod watch;
