//! Renders the texts that the wallet's script shows: the outcomes of codes and answers, and the
//! errors of fields.

use maud::{Markup, html};

use super::screens::place;
use super::words::{OutcomeText, Sentence, WalletWords};

pub(super) fn texts(words: &WalletWords) -> Markup {
    html! {
        template #texts {
            @for (name, outcome) in words.outcomes { (render_outcome(name, outcome)) }
            (hint("two-digits", &html! { (words.two_digits) }))
            (hint("other-number", &html! { (words.wrong_number) }))
            (hint("not-pasted", &html! { (words.not_pasted) }))
            (hint("other-word", &(words.wrong_word)(&place("position"))))
            (hint("count", &(words.wrong_count)(&place("count"))))
            (hint("checksum", &html! { (words.wrong_checksum) }))
            (hint("unknown", &(words.unknown_word)(&place("position"), &place("word"))))
            (hint("unknown-meant", &html! {
                ((words.unknown_word)(&place("position"), &place("word"))) " " ((words.suggested_word)(&place("meant")))
            }))
            li.card data-text="site" {
                h2.domain { bdi data-place="domain" {} }
                p.sm.soft { ((words.site)(&place("end"), &place("first"), &place("last"))) }
            }
        }
    }
}

fn hint(name: &str, text: &Markup) -> Markup {
    html! { span data-text=(name) { (text) } }
}

fn render_outcome(name: &str, outcome: &OutcomeText) -> Markup {
    html! {
        div.stack-sm data-text=(name) { h1 { (sentence(&outcome.head)) } p { (sentence(&outcome.text)) } }
    }
}

fn sentence(sentence: &Sentence) -> Markup {
    match sentence {
        Sentence::Plain(text) => html! { (text) },
        Sentence::WithDomain(text) => text(&place("domain")),
        Sentence::WithDuration(text) => text(&place("amount")),
        Sentence::WithHosts(text) => text(&place("there"), &place("host")),
    }
}
