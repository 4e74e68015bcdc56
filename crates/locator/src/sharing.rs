//! Interning of record values. Most records share a few operators, cities, hours and sets of coins, so these are stored
//! only once.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use arcstr::ArcStr;

use crate::atm::{Coin, MoreFields, Record};
use crate::hours::Hours;
use crate::tri::Tri;

/// An interner for texts and sets of coins in records. Drop it after all records are read.
#[derive(Debug, Default)]
pub struct RecordInterner {
    texts: HashSet<ArcStr>,
    /// The interned sets of coins, at most [`MAX_COIN_SETS`]. A linear search is faster than hashing a map.
    coins: Vec<Arc<BTreeMap<Coin, Tri>>>,
}

/// Maximum number of interned sets of coins. It bounds the time for a file in which each ATM has a different set.
const MAX_COIN_SETS: usize = 64;

impl RecordInterner {
    /// Replaces values of the record by shared references to equal values of earlier records.
    ///
    /// ```
    /// # use signpost_locator::{ArcStr, Point, Record, RecordInterner};
    /// let mut records = [1.0, 2.0].map(|lat| Record::at(Point::new(lat, 0.0).unwrap()));
    /// let mut parts = RecordInterner::default();
    /// for record in &mut records {
    ///     record.operator = Some("Example Coins".into());
    ///     parts.intern(record);
    /// }
    /// let [one, other] = records.map(|record| record.operator.unwrap());
    /// assert!(ArcStr::ptr_eq(&one, &other));
    /// ```
    pub fn intern(&mut self, record: &mut Record) {
        // Identifiers, names, streets and telephone numbers are rarely shared.
        let address = &mut record.address;
        let texts = [
            &mut record.operator,
            &mut record.brand,
            &mut record.time_zone,
            &mut address.city,
            &mut address.region,
            &mut address.postcode,
        ];
        texts.into_iter().flatten().for_each(|text| self.share_text(text));
        if let Some(Hours::Text(text)) = &mut record.hours {
            self.share_text(text);
        }
        self.share_coins(&mut record.coins);
        if let Some(more) = &mut record.more {
            self.share_more(more);
        }
    }

    fn share_more(&mut self, more: &mut MoreFields) {
        let fees = &mut more.fees;
        let limits = &mut more.limits;
        let amounts = [
            &mut fees.buy_percent,
            &mut fees.buy_fixed,
            &mut fees.sell_percent,
            &mut fees.sell_fixed,
            &mut limits.min,
            &mut limits.max,
            &mut limits.max_day,
            &mut limits.kyc_above,
        ];
        amounts.into_iter().flatten().for_each(|amount| self.share_text(amount.text_mut()));
        let texts = [
            &mut more.brand_wikidata,
            &mut more.network,
            &mut more.located_in,
            &mut more.level,
            &mut more.note,
            &mut more.manufacturer,
            &mut more.model,
            &mut more.email,
            &mut more.support_hours,
            &mut more.notice,
        ];
        texts.into_iter().flatten().for_each(|text| self.share_text(text));
    }

    fn share_text(&mut self, text: &mut ArcStr) {
        if let Some(known) = self.texts.get(text.as_str()) {
            text.clone_from(known);
        } else {
            self.texts.insert(text.clone());
        }
    }

    fn share_coins(&mut self, coins: &mut Arc<BTreeMap<Coin, Tri>>) {
        match self.coins.iter().find(|known| **known == *coins) {
            Some(known) => coins.clone_from(known),
            None if self.coins.len() < MAX_COIN_SETS => self.coins.push(Arc::clone(coins)),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record with every field, in the stored form of versions before interning.
    const STORED: &str = concat!(
        r#"{"source_ref":"A-17","name":"Corner Shop","operator":"Coins","brand":"Coins","#,
        r#""point":{"lat":25.7617,"lon":-80.1918},"#,
        r#""address":{"street":"1 Main St","city":"Miami","region":"FL","postcode":"33101","country":"US","#,
        r#""formatted":"1 Main St, Miami, FL 33101"},"hours":"Mo-Fr 09:00-17:00","time_zone":"America/New_York","#,
        r#""reported":"in_service","reported_at":"2026-11-20T12:00:00Z","verified_at":"2026-11-21T12:00:00Z","#,
        r#""buy":"yes","sell":"no","coins":{"BTC":"yes","LTC":"no"},"phone":"+1 305 555 0100","#,
        r#""website":"https://example.com/17","more":{"#,
        r#""fees":{"buy_percent":"12.5","buy_fixed":"1","sell_percent":"9","sell_fixed":"2","currency":"USD"},"#,
        r#""limits":{"min":"20","max":"900","max_day":"9000","kyc_above":"100","currency":"USD"},"kyc":"phone","#,
        r#""trades":{"BTC":{"buy":"yes","sell":"unknown","lightning":"no"}},"fiat":["USD"],"#,
        r#""brand_wikidata":"Q42","network":"Net","located_in":"Mall","indoor":"yes","level":"1","#,
        r#""note":"beside the entrance","wheelchair":"unknown","manufacturer":"Maker","model":"M1","#,
        r#""email":"atm@example.com","support_hours":"9-5","notice":"Hello","#,
        r#""images":["https://example.com/17.png"],"machine_ref":"M-17","source_url":"https://example.com/atm/17"}}"#,
    );

    fn read(stored: &str) -> Record {
        serde_json::from_str(stored).expect("a stored record")
    }

    #[test]
    fn stored_values_round_trip() {
        assert_eq!(serde_json::to_string(&read(STORED)).unwrap(), STORED);
    }

    #[test]
    fn equal_values_are_shared_unchanged() {
        let mut parts = RecordInterner::default();
        let [one, other] = [(); 2].map(|()| {
            let mut record = read(STORED);
            parts.intern(&mut record);
            assert_eq!(record, read(STORED));
            record
        });
        let same = |one: &Option<ArcStr>, other: &Option<ArcStr>| {
            one.as_ref().zip(other.as_ref()).is_some_and(|(one, other)| ArcStr::ptr_eq(one, other))
        };
        assert!(same(&one.operator, &other.operator) && same(&one.operator, &one.brand));
        assert!(same(&one.address.city, &other.address.city));
        assert!(Arc::ptr_eq(&one.coins, &other.coins));
        let [one, other] = [one, other].map(|record| record.more.expect("rare fields"));
        assert!(same(&one.model, &other.model));
        assert!(!same(&one.machine_ref, &other.machine_ref), "of one machine only");
    }

    #[test]
    fn excess_coin_sets_are_not_shared() {
        let mut parts = RecordInterner::default();
        for number in 0..=MAX_COIN_SETS {
            let mut record = read(STORED);
            let coin = Coin::parse(&format!("C{number}")).expect("a code");
            record.coins = Arc::new([(coin, Tri::Yes)].into());
            let before = record.clone();
            parts.intern(&mut record);
            assert_eq!(record, before);
        }
        assert_eq!(parts.coins.len(), MAX_COIN_SETS);
    }
}
