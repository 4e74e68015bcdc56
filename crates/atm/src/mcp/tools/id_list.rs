//! A list of ATM IDs as an argument.

use serde_json::{Value, json};
use signpost_locator::AtmId;

use super::kinds::{ArgumentKind, Integer};

/// The ID of an ATM.
pub(super) const ID: Integer = Integer { min: 1, max: AtmId::MAX.get() };

/// A list of 1 to `max` IDs of ATMs.
#[derive(Debug)]
pub(super) struct IdList {
    pub(super) max: usize,
}

impl ArgumentKind for IdList {
    type Value = Vec<AtmId>;

    fn schema(&self) -> Value {
        json!({ "type": "array", "items": { "type": "integer", "minimum": 1 }, "minItems": 1, "maxItems": self.max })
    }

    fn allowed(&self) -> String {
        format!("a list of 1 to {} ids, each {}", self.max, ID.allowed())
    }

    fn read(&self, sent: &Value) -> Option<Vec<AtmId>> {
        let sent = sent.as_array()?;
        if !(1..=self.max).contains(&sent.len()) {
            return None;
        }
        sent.iter().map(|id| AtmId::new(ID.read(id)?)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_has_1_to_20_ids() {
        let list = IdList { max: 20 };
        let ids = |count: u64| Value::from((1..=count).collect::<Vec<_>>());
        for (sent, length) in [
            (ids(1), Some(1)),
            (ids(20), Some(20)),
            (json!([7.0, 9_007_199_254_740_992_u64]), Some(2)),
            (json!([]), None),
            (ids(21), None),
            (json!([0]), None),
            (json!([1.5]), None),
            (json!([9_007_199_254_740_993_u64]), None),
            (json!([1, null]), None),
            (json!([1, [2]]), None),
            (json!(["1"]), None),
            (json!(1), None),
            (json!({ "0": 1 }), None),
            (json!("[1]"), None),
        ] {
            assert_eq!(list.read(&sent).map(|ids| ids.len()), length, "{sent}");
        }
    }
}
