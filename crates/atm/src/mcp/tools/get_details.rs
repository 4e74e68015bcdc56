//! `get_atm_details`

use std::collections::BTreeSet;

use futures_util::FutureExt;
use serde_json::{Map, Value, json};
use signpost_locator::AtmId;
use signpost_mcp::{Annotations, CallError, Handler, Output, Structured, Tool};

use super::advice::{Advice, SearchContext};
use super::declare::{self, Argument, CallArguments, Declared, Required};
use super::id_list::{ID, IdList};
use super::kinds::Integer;
use super::links::PageLinks;
use super::record::{FoundAtm, own_notice, record, remove_unknown};
use super::schema;
use super::units::Units;
use super::view::notice;
use crate::catalogue::{AtmFilter, CatalogueEntry, Moment, UnlistedAtm, find_successor, sql};
use crate::locator::Locator;

const EXAMPLE: &str = r#"{"atmId":17}"#;

/// Maximum size of the ATMs of a reply with several, in bytes. With its other members, a reply has less than 48 kB.
const MAX_ATMS_BYTES: usize = 43 * 1024;

const ATM_ID: Required<Integer> = Argument::new("atmId", "The machine's id, as other tools return it", ID).required();

const ATM_IDS: Argument<IdList> = Argument::new("atmIds", "More ids: one call for several", IdList { max: 20 });

const ARGUMENTS: [&dyn Declared; 2] = [&ATM_ID, &ATM_IDS];

pub(crate) fn tool() -> Tool<Locator> {
    Tool {
        name: "get_atm_details",
        title: "Get the details of a Bitcoin ATM",
        description: "Gives everything known about one Bitcoin ATM, or with atmIds about several: hours, services, \
                      fees, limits, contact, status with its reason and age, sources. Use ids from \
                      find_nearest_bitcoin_atm or list_atms_by_city; do not guess ids. What is left out is not known.",
        input_schema: declare::schema(&ARGUMENTS, EXAMPLE),
        output_schema: Some(schema::details()),
        annotations: Annotations::LOOKUP,
        icons: Vec::new(),
        meta: Map::new(),
        call: Handler::AsyncSilent(|locator, given, _| {
            async move { call(locator, given).await.map(Output::Structured) }.boxed()
        }),
    }
}

/// Returns all details of an ATM, or of several ATMs if the call has a list of IDs, in the tool's form.
///
/// # Errors
/// [`CallError::InvalidArgument`] if an argument is invalid, [`CallError::Failed`] if no ATM has any of the IDs, or
/// [`CallError::Internal`] if the database cannot be read.
pub async fn call(locator: &Locator, given: &Map<String, Value>) -> Result<Structured, CallError> {
    let arguments = CallArguments::declared(given, &ARGUMENTS, EXAMPLE)?;
    let id = arguments.get(ATM_ID.optional())?.and_then(AtmId::new);
    let ids = arguments.get(&ATM_IDS)?;
    let snapshot = locator.catalogue.snapshot();
    let moment = snapshot.at(locator.clock.now());
    let links = PageLinks::of(locator);
    match (id, ids) {
        (None, None) => Err(arguments.bad("atmId is required")),
        (Some(id), None) => match find(locator, &moment, id).await? {
            Some(found) => Structured::render(&details(&moment, &found, links)),
            None => Err(no_such_atm(&[id])),
        },
        (first, Some(more)) => {
            let Batch { found, not_found } = find_all(locator, &moment, first.into_iter().chain(more)).await?;
            if found.is_empty() {
                return Err(no_such_atm(&not_found));
            }
            Structured::render(&details_of_all(&moment, &found, &not_found, links))
        }
    }
}

/// The ATMs of a list of IDs, in its order.
struct Batch<'a> {
    found: Vec<FoundAtm<'a>>,
    not_found: Vec<AtmId>,
}

/// Returns the ATMs with these IDs. An ATM is included once, even if the IDs of several of its records are listed.
async fn find_all<'a>(
    locator: &Locator,
    moment: &Moment<'a>,
    ids: impl Iterator<Item = AtmId> + Send,
) -> Result<Batch<'a>, CallError> {
    let mut batch = Batch { found: Vec::new(), not_found: Vec::new() };
    let mut seen = BTreeSet::new();
    for id in ids {
        if !seen.insert(id) {
            continue;
        }
        match find(locator, moment, id).await? {
            None => batch.not_found.push(id),
            Some(found) if found.id() == id || seen.insert(found.id()) => batch.found.push(found),
            Some(_) => {}
        }
    }
    Ok(batch)
}

/// Returns the ATM with this ID. For an ID that the catalogue does not contain, the database is read: a record that its
/// source removed is part of another ATM, or an unlisted ATM for 90 days.
async fn find<'a>(locator: &Locator, moment: &Moment<'a>, id: AtmId) -> Result<Option<FoundAtm<'a>>, CallError> {
    if let Some(entry) = moment.snapshot().get(id) {
        return Ok(Some(FoundAtm::Listed(entry)));
    }
    let Some(store) = &locator.store else { return Ok(None) };
    let row = sql::find_history(store, id).await.map_err(CallError::internal)?;
    let Some(row) = row.filter(|row| row.removed_at.is_some()) else { return Ok(None) };
    if let Some(successor) = find_successor(moment, &row) {
        return Ok(moment.snapshot().get(successor).map(FoundAtm::Listed));
    }
    Ok(UnlistedAtm::of_row(moment.snapshot(), &row, moment.now()).map(FoundAtm::Unlisted))
}

fn no_such_atm(ids: &[AtmId]) -> CallError {
    let ids: Vec<_> = ids.iter().map(ToString::to_string).collect();
    let (which, ids) = (if ids.len() == 1 { "the id" } else { "one of the ids" }, ids.join(", "));
    CallError::Failed(format!(
        "no Bitcoin ATM has {which} {ids}. Ids come from find_nearest_bitcoin_atm and list_atms_by_city; call one of \
         them, for example find_nearest_bitcoin_atm with {{\"location\":\"Austin, TX\"}}."
    ))
}

/// Returns the details of one ATM.
fn details(moment: &Moment<'_>, found: &FoundAtm<'_>, links: PageLinks<'_>) -> Value {
    let mut details = record(moment, found, links);
    let listed: Vec<_> = listed([found]).collect();
    let advice = advice(moment, &listed);
    details["notice"] = json!(notice(moment.snapshot(), advice.bans, [own_notice(moment, found)]));
    details["advisories"] = json!(advice.advisories);
    details["howToReport"] = json!(listed.first().and_then(|entry| links.how_to_report(entry.atm.id)));
    remove_unknown(&mut details);
    details
}

/// Returns the details of several ATMs. Advice about all of them is included once. If the reply would be too large, the
/// notice has the IDs for another call.
fn details_of_all(moment: &Moment<'_>, found: &[FoundAtm<'_>], not_found: &[AtmId], links: PageLinks<'_>) -> Value {
    let mut atms = Vec::with_capacity(found.len());
    let mut bytes = 0;
    for atm in found {
        let mut details = record(moment, atm, links);
        details["notice"] = json!(own_notice(moment, atm));
        remove_unknown(&mut details);
        bytes += details.to_string().len();
        if bytes > MAX_ATMS_BYTES && !atms.is_empty() {
            break;
        }
        atms.push(details);
    }
    let (shown, left) = found.split_at(atms.len());
    let listed: Vec<_> = listed(shown).collect();
    let advice = advice(moment, &listed);
    let mut reply = json!({
        "atms": atms,
        "notFound": not_found,
        "notice": notice(moment.snapshot(), advice.bans, [rest(left)]),
        "advisories": advice.advisories,
        "howToReport": links.how_to_report_one().filter(|_| !listed.is_empty()),
    });
    if let Some(members) = reply.as_object_mut() {
        members.retain(|name, member| name == "notFound" || !(member.is_null() || *member == json!([])));
    }
    reply
}

/// Returns the sentence about the ATMs that did not fit into the reply.
fn rest(left: &[FoundAtm<'_>]) -> Option<String> {
    if left.is_empty() {
        return None;
    }
    let ids: Vec<_> = left.iter().map(|atm| atm.id().to_string()).collect();
    Some(format!("The reply is full: call get_atm_details again with atmIds [{}].", ids.join(",")))
}

/// Returns the ATMs that are listed.
fn listed<'f, 'a: 'f>(found: impl IntoIterator<Item = &'f FoundAtm<'a>>) -> impl Iterator<Item = &'a CatalogueEntry> {
    found.into_iter().filter_map(|atm| match atm {
        FoundAtm::Listed(entry) => Some(*entry),
        FoundAtm::Unlisted(_) => None,
    })
}

/// Returns the advice about the law and fraud for ATMs that are listed.
fn advice<'a>(moment: &Moment<'a>, listed: &[&CatalogueEntry]) -> Advice<'a> {
    let Some(first) = listed.first() else { return Advice::default() };
    let filter = AtmFilter::default();
    let search = SearchContext { from: first.atm.record.point, filter: &filter, units: Units::Miles, recommends: true };
    Advice::of_atms(moment, listed, &search)
}
