//! Infrastructure that all services share: time, accounts and API keys, rate limits, outbound
//! requests, HTML pages and HTTP.

pub mod accounts;
pub mod bounded_file;
pub mod cache;
pub mod clock;
pub mod interval;
pub mod limits;
pub mod observe;
pub mod origin;
pub mod outbound;
pub mod pages;
pub mod parsed_rows;
pub mod redis;
pub mod setting;
pub mod shared;
pub mod web;

pub use shared::{Platform, PlatformParts};
