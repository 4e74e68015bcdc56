//! The command `signpost places`: resolves a text to a place.

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};
use signpost_atm::catalogue::country_of;
use signpost_atm::places::geocoder::{GeocodeResult, GeocodedPlace};
use signpost_locator::gazetteer::{
    ExplainedStep, Explanation, Gazetteer, Place, PlacePreference, Resolved, Unresolved,
};
use signpost_locator::{Country, Division, Point, Region};

use super::{Session, table};

#[derive(Debug, Args)]
pub(super) struct PlacesCommand {
    /// Place, such as "paris", "Austin, TX", 78701, "M5V 2T6", "30.27,-97.74"
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// Prefer places of this country, by its ISO 3166-1 code, such as DE
    #[arg(long, value_name = "CODE", value_parser = country)]
    country: Option<Country>,
    /// Show every step of the resolution, with its result
    #[arg(long)]
    explain: bool,
}

impl PlacesCommand {
    /// Prints the resolved place and its alternatives.
    ///
    /// # Errors
    /// Returns an error if the text resolves to no place.
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let text = self.text.trim();
        let gazetteer = session.places()?.now();
        if self.explain {
            let explanation = explain(&gazetteer, text, self.country);
            return session.print(&explained(&explanation), || readable_steps(&explanation));
        }
        let unresolved = match gazetteer.resolve_preferring(text, &preference(self.country)) {
            Ok(resolved) => return session.print(&document(&resolved), || readable(&resolved)),
            Err(unresolved) => unresolved,
        };
        if let Some(geocoder) = session.geocoder() {
            geocoder.ask(text).await;
            if let Some(found) = geocoder.cached_result(text) {
                let document = geocoded(geocoder.name(), &found);
                return session.print(&document, || format!("{document:#}"));
            }
        }
        not_found(session, text, &unresolved)
    }
}

/// Parses an ISO 3166-1 alpha-2 code, in any case.
fn country(text: &str) -> Result<Country, String> {
    let country = if text.len() == 2 { Country::parse(text) } else { None };
    country.ok_or_else(|| "a country is a two-letter code of ISO 3166-1, such as DE".to_owned())
}

/// Returns a preference for places in a country. Unlike in searches, ATMs have no effect, because
/// the command does not read them.
fn preference(country: Option<Country>) -> PlacePreference<'static> {
    // The places of a territory are in the United States.
    let country = country_of(None, country);
    PlacePreference { country, likely_country: None, has_atms_near: &|_| true }
}

/// Returns the steps, with the choice of a place in the country as the last one.
fn explain(gazetteer: &Gazetteer, text: &str, country: Option<Country>) -> Explanation {
    let explanation = gazetteer.explain(text);
    if country.is_none() || explanation.answer.is_err() {
        return explanation;
    }
    let answer = gazetteer.resolve_preferring(text, &preference(country));
    let is_other = answer != explanation.answer;
    let chosen = answer.as_ref().ok().filter(|_| is_other);
    let gave = chosen.map(|resolved| format!("{}, confidence {}", resolved.label(), resolved.confidence));
    let mut steps = explanation.steps;
    steps.push(ExplainedStep { name: "a place of this name in the country", gave });
    Explanation { steps, answer }
}

fn document(resolved: &Resolved) -> Value {
    let mut document = place(&resolved.name, resolved.region, resolved.country, resolved.point);
    document["division"] = resolved.division.map(Division::name).into();
    document["county"] = resolved.county.as_deref().into();
    document["source"] = resolved.source.name().into();
    document["confidence"] = resolved.confidence.into();
    document["alternatives"] = resolved.alternatives.iter().map(named).collect();
    document["dropped"] = resolved.dropped.clone().into();
    document["notes"] = resolved.notes.iter().map(ToString::to_string).collect();
    document
}

fn explained(explanation: &Explanation) -> Value {
    let steps = explanation.steps.iter().map(|step| json!({ "step": step.name, "gave": step.gave }));
    let answer = match &explanation.answer {
        Ok(resolved) => document(resolved),
        Err(unresolved) => unanswered(unresolved),
    };
    json!({ "steps": steps.collect::<Vec<_>>(), "answer": answer })
}

fn unanswered(unresolved: &Unresolved) -> Value {
    let suggestions: Vec<Value> = unresolved.suggestions.iter().map(named).collect();
    json!({ "reason": unresolved.reason, "suggestions": suggestions })
}

fn readable_steps(explanation: &Explanation) -> String {
    let rows = explanation.steps.iter();
    let rows = rows.map(|step| [step.name.to_owned(), step.gave.clone().unwrap_or_else(|| "-".to_owned())]);
    let steps = table(["STEP", "GAVE"], rows);
    let answer = match &explanation.answer {
        Ok(resolved) => readable(resolved),
        Err(unresolved) => sentence(unresolved),
    };
    format!("{steps}\n\n{answer}")
}

fn geocoded(source: &str, found: &GeocodeResult) -> Value {
    let mut document = geocoded_place(&found.place);
    document["source"] = source.into();
    document["confidence"] = found.confidence.into();
    document["alternatives"] = found.alternatives.iter().map(geocoded_place).collect();
    document
}

fn geocoded_place(found: &GeocodedPlace) -> Value {
    place(&found.name, found.region, found.country, found.point)
}

/// Describes a place of the gazetteer.
fn named(found: &Place) -> Value {
    let mut document = place(&found.name, found.region, Some(found.country), found.point);
    document["division"] = found.division.map(Division::name).into();
    document["county"] = found.county.as_deref().into();
    document["population"] = found.population.into();
    document["timeZone"] = found.time_zone.as_str().into();
    document
}

fn place(name: &str, region: Option<Region>, country: Option<Country>, point: Point) -> Value {
    json!({
        "name": name,
        "region": region.map(Region::code),
        "country": country,
        "lat": point.lat(),
        "lon": point.lon(),
    })
}

fn readable(resolved: &Resolved) -> String {
    let area = resolved.region.map(Region::name).or_else(|| resolved.country.map(Country::name));
    let name = area.map_or_else(|| resolved.name.clone(), |area| format!("{}, {area}", resolved.name));
    let point = coordinates(resolved.point);
    let source = resolved.source.name();
    let mut lines = vec![format!("{name}  {point}  ({source}, confidence {})", resolved.confidence)];
    if !resolved.alternatives.is_empty() {
        lines.push(format!("\nother places of that name:\n{}", listed(&resolved.alternatives)));
    }
    lines.extend(resolved.notes.iter().map(|note| format!("\n{note}")));
    lines.join("\n")
}

fn listed(places: &[Place]) -> String {
    let rows = places.iter().map(|place| {
        let county = place.county.as_ref().map_or_else(String::new, |county| format!(" ({county})"));
        [place.label() + &county, place.population.to_string(), coordinates(place.point)]
    });
    table(["PLACE", "POPULATION", "COORDINATES"], rows)
}

fn coordinates(point: Point) -> String {
    format!("{:.5}, {:.5}", point.lat(), point.lon())
}

fn not_found(session: &Session, text: &str, unresolved: &Unresolved) -> Result<()> {
    if session.json {
        let mut document = unanswered(unresolved);
        document["text"] = text.into();
        session.print(&document, String::new)?;
    }
    bail!("{}", sentence(unresolved))
}

/// Returns the reason why the text does not resolve to a place, and suggestions.
fn sentence(unresolved: &Unresolved) -> String {
    let labels: Vec<_> = unresolved.suggestions.iter().map(Place::label).collect();
    let meant = if labels.is_empty() { String::new() } else { format!("; did you mean {}?", labels.join("; ")) };
    format!("{}{meant}", unresolved.reason)
}
