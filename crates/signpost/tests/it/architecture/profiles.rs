//! The profiles of Cargo.toml.

use super::{assert_none, manifest, root};

/// `dist` inherits the exceptions of `release`, which exist for short builds.
#[test]
fn dist_optimizes_every_package() {
    let manifest = manifest(&root());
    let release = manifest["profile"]["release"]["package"].as_table().unwrap();
    let dist = manifest["profile"]["dist"]["package"].as_table().unwrap();
    let is_slow = |package: &&String| dist.get(*package).and_then(|own| own["opt-level"].as_integer()) != Some(3);
    assert_none(
        "[profile.dist.package] must give opt-level 3 to",
        &release.keys().filter(is_slow).cloned().collect::<Vec<_>>(),
    );
}
