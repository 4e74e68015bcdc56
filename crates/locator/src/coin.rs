//! The names of common coins.

use crate::atm::Coin;

/// The codes of coins that ATMs commonly trade, each with a name in lower case.
const NAMES: [(&str, &str); 34] = [
    ("ADA", "cardano"),
    ("AVAX", "avalanche"),
    ("BCH", "bitcoin cash"),
    ("BNB", "binance coin"),
    ("BSV", "bitcoin sv"),
    ("BTC", "bitcoin"),
    ("BTC", "bitcoins"),
    ("DAI", "dai"),
    ("DASH", "dash"),
    ("DGB", "digibyte"),
    ("DOGE", "doge coin"),
    ("DOGE", "dogecoin"),
    ("DOT", "polkadot"),
    ("ETC", "ethereum classic"),
    ("ETH", "ether"),
    ("ETH", "ethereum"),
    ("LINK", "chainlink"),
    ("LTC", "lite coin"),
    ("LTC", "litecoin"),
    ("POL", "polygon"),
    ("SHIB", "shiba"),
    ("SHIB", "shiba inu"),
    ("SOL", "solana"),
    ("TON", "toncoin"),
    ("TRX", "tron"),
    ("USDC", "usd coin"),
    ("USDT", "tether"),
    ("USDT", "tether usd"),
    ("XLM", "stellar"),
    ("XMR", "monero"),
    ("XRP", "ripple"),
    ("XRP", "xrp"),
    ("XTZ", "tezos"),
    ("ZEC", "zcash"),
];

impl Coin {
    /// Parses the name or code of a coin, in any case. The names of the coins in [`Coin::common`] are known; any text
    /// in the form of a code is accepted.
    ///
    /// ```
    /// # use signpost_locator::Coin;
    /// assert_eq!(Coin::named("Bitcoin Cash"), Coin::parse("BCH"));
    /// assert_eq!(Coin::named("xbt"), Some(Coin::bitcoin()));
    /// ```
    #[must_use]
    pub fn named(text: &str) -> Option<Self> {
        let name = text.trim().to_lowercase();
        let code = NAMES.iter().find(|(_, known)| *known == name).map_or(text, |(code, _)| code);
        Self::parse(code)
    }

    /// Returns the coins with a known name, sorted by code, without duplicates.
    pub fn common() -> impl Iterator<Item = Self> {
        let codes = NAMES.iter().map(|(code, _)| *code);
        let mut before = "";
        codes.filter(move |code| std::mem::replace(&mut before, code) != *code).filter_map(Self::parse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coin_is_parsed_from_any_of_its_names() {
        for (texts, code) in [
            (&["bitcoin", " Bitcoin ", "BTC", "btc", "xbt", "BITCOINS"][..], "BTC"),
            (&["Ether", "ethereum", "eth"], "ETH"),
            (&["doge", "Dogecoin"], "DOGE"),
            (&["tether", "usdt"], "USDT"),
            (&["bitcoin cash", "bch"], "BCH"),
        ] {
            assert!(texts.iter().all(|text| Coin::named(text).is_some_and(|coin| coin.code() == code)), "{texts:?}");
        }
        assert_eq!(Coin::named("some coin"), None);
    }

    #[test]
    fn common_coins_are_sorted_and_unique() {
        let codes: Vec<_> = Coin::common().map(|coin| coin.code().to_owned()).collect();
        assert!(codes.is_sorted() && codes.windows(2).all(|pair| pair[0] != pair[1]), "{codes:?}");
        assert!(codes.len() >= 25 && NAMES.iter().all(|(_, name)| *name == name.to_lowercase()));
    }
}
