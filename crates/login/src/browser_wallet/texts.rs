//! The texts that the script puts on the screen: how a code or an answer to it ended, and what is wrong with a field.

use maud::{Markup, html};

use super::screens::place;
use super::words::{OutcomeText, Sentence, WalletWords};

pub(super) fn texts(words: &WalletWords) -> Markup {
    let (domain, amount) = (place("domain"), place("amount"));
    let (there, host) = (place("there"), place("host"));
    html! {
        template #texts {
            @for (name, told) in words.outcomes { (outcome(name, told, [&domain, &there, &host, &amount])) }
            (hint("two-digits", &html! { (words.two_digits) }))
            (hint("other-number", &html! { (words.other_number) }))
            (hint("not-pasted", &html! { (words.not_pasted) }))
            (hint("other-word", &(words.other_word)(&place("position"))))
            (hint("count", &(words.wrong_count)(&place("count"))))
            (hint("checksum", &html! { (words.wrong_checksum) }))
            (hint("unknown", &(words.unknown_word)(&place("position"), &place("word"))))
            (hint("unknown-meant", &html! {
                ((words.unknown_word)(&place("position"), &place("word"))) " " ((words.meant)(&place("meant")))
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

fn outcome(name: &str, told: &OutcomeText, [domain, there, host, amount]: [&Markup; 4]) -> Markup {
    let text = |text: &Sentence| match text {
        Sentence::Plain(text) => html! { (text) },
        Sentence::Of(text) => text(domain),
        Sentence::Lasting(text) => text(amount),
        Sentence::Between(text) => text(there, host),
    };
    html! {
        div.stack-sm data-text=(name) { h1 { (text(&told.head)) } p { (text(&told.text)) } }
    }
}
