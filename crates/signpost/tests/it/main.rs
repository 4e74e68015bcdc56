//! The locator and the structure of the code: the server on a free port, over HTTP with the actors of the [`harness`]
//! and an [`assistant`].

mod advisories;
mod ages;
mod answers;
mod architecture;
mod argument_reading;
mod assistant;
mod bursts;
mod card;
mod catalogue;
mod disk;
mod equal_rows;
mod examples;
mod feed_files;
mod feed_presets;
mod feed_races;
mod feeds;
#[path = "../harness/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the rest is for the other binary")]
mod harness;
mod install_page;
mod installing;
mod language;
mod links;
mod listed;
mod long_lists;
mod map;
mod mcp;
mod pages;
mod places;
mod places_abroad;
mod program;
mod published_addresses;
mod report_queue;
mod reported_pages;
mod reports;
mod rows;
mod schemas;
mod several_details;
mod source_rules;
mod sources;
mod spanish_pages;
mod submissions;
mod tools;
mod towns_abroad;
mod transport;
mod untrusted_text;
mod unusable_files;
mod visitor_pages;
mod words;
