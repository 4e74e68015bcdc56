//! `signpost atms feeds add` and `signpost atms feeds presets`

use std::time::Duration;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use signpost_atm::feeds::{
    self, AreaCode, Feed, PRESETS, Preset, PresetArguments, PresetPart, SpiderName, add_preset_feeds, check_url,
};
use signpost_locator::import::FormatChoice;
use signpost_store::Store;

use crate::cli::atms::import::{formats, source_name};
use crate::cli::{Session, Usage, table};

#[derive(Debug, Args)]
pub(in crate::cli) struct AddFeed {
    /// Preset, as shown by 'atms feeds presets'; with URL, the source name, shown in responses
    name: String,
    /// URL of a feed without a preset; `{updated_since}` in it becomes the time of the last fetch, less ten minutes, for
    /// servers that return only changes
    url: Option<String>,
    /// Countries of the preset osm: codes of ISO 3166-1, such as US,CA; a feed for each
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    area: Vec<AreaCode>,
    /// Spiders of the preset alltheplaces, such as `coin_flip_us`; a feed for each
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    spider: Vec<SpiderName>,
    /// File format, for a feed with a URL [default: auto]
    #[arg(long, value_parser = formats())]
    format: Option<FormatChoice>,
    /// Attribution that the licence requires in every response, for a feed with a URL [default: the source name]
    #[arg(long, value_name = "TEXT")]
    attribution: Option<String>,
    /// Hours between fetches by a running server [default: the preset's; with a URL only 'atms sync' fetches it]
    #[arg(long, value_name = "HOURS", value_parser = clap::value_parser!(u32).range(1..=8760))]
    every: Option<u32>,
}

impl AddFeed {
    pub(super) async fn run(mut self, session: &Session, store: &Store) -> Result<()> {
        match self.url.take() {
            Some(url) => self.add_url(session, store, url).await,
            None => self.add_preset(session, store).await,
        }
    }

    async fn add_url(self, session: &Session, store: &Store, url: String) -> Result<()> {
        if !self.area.is_empty() || !self.spider.is_empty() {
            let reason = "--area and --spider select parts of a preset: leave them out, or leave out the URL";
            return Err(Usage(reason.to_owned()).into());
        }
        let name = source_name(&self.name)?;
        check_url(&url).map_err(|reason| Usage(format!("the URL {reason}")))?;
        let attribution = self.attribution.unwrap_or_else(|| name.clone());
        let every = self.every.map(|hours| Duration::from_hours(hours.into()));
        let feed = Feed::new(name, url, self.format.unwrap_or_default(), attribution, every);
        feeds::sql::save(store, &feed).await?;
        session.print(&feed, || format!("added {0}\nNext: fetch it with 'signpost atms sync {0}'.", feed.name))
    }

    async fn add_preset(self, session: &Session, store: &Store) -> Result<()> {
        let preset = Preset::find(&self.name).map_err(|error| Usage(error.to_string()))?;
        if self.format.is_some() || self.attribution.is_some() {
            let reason = format!("the preset {} contains the format and the attribution", preset.name);
            return Err(Usage(format!("{reason}: leave out --format and --attribution, or add a URL")).into());
        }
        let sets_interval = self.every.is_some();
        let arguments = PresetArguments { areas: self.area, spiders: self.spider, every_hours: self.every };
        let feeds = preset.feeds(&arguments).map_err(|error| Usage(error.to_string()))?;
        let feeds = add_preset_feeds(store, feeds, sets_interval).await?;
        session.print(&json!({ "feeds": feeds }), || describe_added(preset, &feeds))
    }
}

fn describe_added(preset: &Preset, feeds: &[Feed]) -> String {
    let names: Vec<&str> = feeds.iter().map(|feed| feed.name.as_str()).collect();
    let every = feeds.first().and_then(|feed| feed.every);
    let every = every.map(|every| format!(", every {} h", every.as_secs() / 3600)).unwrap_or_default();
    format!(
        "added {}: {}{every}; {}\nNext: a running server fetches new feeds within 10 seconds; 'signpost atms sync' \
         fetches them now.",
        names.join(", "),
        preset.title,
        preset.attribution,
    )
}

/// Prints the presets.
pub(super) fn list_presets(session: &Session) -> Result<()> {
    let presets: Vec<Value> = PRESETS.iter().map(preset_document).collect();
    session.print(&json!({ "presets": presets }), || {
        let rows = PRESETS.iter().map(|preset| {
            [
                command(preset),
                preset.feed_name(),
                preset.format.to_owned(),
                format!("{} h", preset.every_hours),
                preset.licence.to_owned(),
                preset.attribution.to_owned(),
                preset.url_pattern(),
            ]
        });
        let headings = ["ARGUMENTS", "FEED", "FORMAT", "EVERY", "LICENCE", "ATTRIBUTION", "URL"];
        format!("{}\n\nNext: add one with 'signpost atms feeds add ARGUMENTS'.", table(headings, rows))
    })
}

/// Returns the arguments of `feeds add`, with an example of the part.
fn command(preset: &Preset) -> String {
    match preset.part {
        PresetPart::Whole => preset.name.to_owned(),
        PresetPart::Area => format!("{} --area US,CA", preset.name),
        PresetPart::Spider => format!("{} --spider coin_flip_us", preset.name),
    }
}

fn preset_document(preset: &Preset) -> Value {
    json!({
        "name": preset.name,
        "title": preset.title,
        "part": preset.part,
        "arguments": command(preset),
        "feed": preset.feed_name(),
        "url": preset.url_pattern(),
        "format": preset.format,
        "every_seconds": u64::from(preset.every_hours) * 3600,
        "min_every_seconds": u64::from(preset.min_every_hours) * 3600,
        "licence": preset.licence,
        "attribution": preset.attribution,
        "about": preset.about,
    })
}
