//! The texts of the frame in English.

use maud::html;

use super::FrameWords;

pub(super) const FRAME: FrameWords =
    FrameWords { skip: "Skip to content", language: "Language", who_runs: |host| html! { (host) " runs Signpost." } };
