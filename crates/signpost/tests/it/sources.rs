//! Data of several sources: merge, split, check and export.

use serde_json::json;

use crate::program::{command, document};

#[tokio::test]
async fn rows_of_one_atm_are_merged_until_split() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let csv = |name: &str, row: &str| {
        std::fs::write(folder.join(name), format!("ref,lat,lon,name,phone,hours\n{row}\n")).unwrap();
    };
    csv("first.csv", "1,30.2672,-97.7431,Corner Shop,,24/7");
    csv("second.csv", "77,30.26725,-97.7431,,+1 512 555 0100,");
    for file in ["first.csv", "second.csv"] {
        document(folder, &["atms", "import", file]);
    }
    let near = document(folder, &["atms", "near", "30.2672,-97.7431"]);
    assert_eq!((&near["total"], near["attribution"].as_array().unwrap().len()), (&json!(1), 2), "{near}");
    let id = near["atms"][0]["id"].as_u64().unwrap();
    let shown = document(folder, &["atms", "show", &id.to_string()]);
    assert_eq!((&shown["name"], &shown["phone"]), (&json!("Corner Shop"), &json!("+1 512 555 0100")));
    let rows: Vec<u64> =
        shown["sources"].as_array().unwrap().iter().map(|row| row["atmId"].as_u64().unwrap()).collect();
    let other = rows.iter().find(|row| **row != id).unwrap().to_string();
    assert_eq!(
        document(folder, &["atms", "show", &other])["id"],
        id,
        "the number of a merged row leads to the machine"
    );

    document(folder, &["atms", "split", &id.to_string()]);
    assert_eq!(document(folder, &["atms", "near", "30.2672,-97.7431"])["total"], 2);
    for row in &rows {
        document(folder, &["atms", "join", &row.to_string()]);
    }
    assert_eq!(document(folder, &["atms", "near", "30.2672,-97.7431"])["total"], 1);
    command(folder, &["atms", "split", "999"]).run().failed(1);
}

#[test]
fn exported_atms_can_be_imported() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows = "ref,lat,lon,name,city,state,country,hours,status,reported_at\n\
                1,30.2672,-97.7431,\"Shop, \"\"A\"\"\",Austin,TX,US,Mo-Fr 09:00-17:00,online,2026-11-01T00:00:00Z\n\
                2,-80.1918,25.7617,Swapped,Miami,FL,US,ask inside,,\n";
    std::fs::write(folder.join("machines.csv"), rows).unwrap();
    document(folder, &["atms", "import", "machines.csv"]);
    let checked = document(folder, &["atms", "check"]);
    assert_eq!(
        checked["counts"],
        json!({ "swapped_coordinates": 1, "hours_not_understood": 1, "undated": 1 }),
        "{checked}"
    );
    for file in ["out.csv", "out.geojson"] {
        assert_eq!(document(folder, &["atms", "export", file])["machines"], 2);
        let again = document(folder, &["atms", "import", file, "--source", "machines", "--dry-run"]);
        assert_eq!(
            ["added", "changed", "unchanged", "removed"].map(|name| again[name].as_u64().unwrap()),
            [0, 0, 2, 0],
            "{again}"
        );
    }
    let printed = command(folder, &["atms", "export", "--format", "csv", "--source", "machines"]).run();
    assert_eq!(printed.out.lines().count(), 3);
    command(folder, &["atms", "export", "--source", "unknown"]).run().failed(1);
}
