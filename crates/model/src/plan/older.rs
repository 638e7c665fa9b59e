//! Plans in documents and streams, and those that an older latlab has stored.

use super::Plan;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Makes a stored plan of any version one of today.
fn upgrade(plan: &mut Value) {
    // Up to schema 4 the record of the guest said what was measured.
    if let (None, Some(target)) = (plan.get("target"), plan.pointer("/guest/target").cloned()) {
        plan["target"] = target;
    }
}

impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Plan, D::Error> {
        let mut plan = Value::deserialize(deserializer)?;
        upgrade(&mut plan);
        Plan::deserialize(plan).map_err(D::Error::custom)
    }
}

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Plan::serialize(self, serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target;

    #[test]
    fn a_guest_of_schema_4_says_what_was_measured() {
        let mut plan = serde_json::to_value(Plan { seed: u64::MAX, ..Plan::default() }).unwrap();
        plan.as_object_mut().unwrap().remove("target");
        plan["guest"] = serde_json::json!({
            "target": "lab:x86-64/rt-6.1", "seed": 1, "emulator": "QEMU", "accelerator": null,
            "kernel": "linux-image", "kernel_sha256": "", "files_sha256": "",
        });
        let read: Plan = serde_json::from_value(plan.clone()).unwrap();
        assert_eq!(read.target, "lab:x86-64/rt-6.1".parse().unwrap());
        assert_eq!(read.seed, u64::MAX);
        plan["guest"] = Value::Null;
        assert_eq!(serde_json::from_value::<Plan>(plan).unwrap().target, Target::Local);
    }
}
