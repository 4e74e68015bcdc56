//! What can be read of a machine, and by which names.

use std::fmt;
use std::str::FromStr;

/// What a column can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// Latitude in degrees.
    Lat,
    /// Longitude in degrees.
    Lon,
    /// Name of the machine or of the place it stands in.
    Name,
    /// The source's identifier.
    Ref,
    /// The whole address on one line.
    Address,
    /// House number and street.
    Street,
    /// City.
    City,
    /// State or province.
    Region,
    /// Postcode.
    Postcode,
    /// Country.
    Country,
    /// Who runs the machine.
    Operator,
    /// Operational state.
    Status,
    /// Opening hours.
    Hours,
    /// Telephone number.
    Phone,
    /// Web page.
    Website,
    /// The name that stands on the machine.
    Brand,
    /// The network it belongs to.
    Network,
    /// The business it stands in.
    LocatedIn,
    /// Whether it sells coins for cash: yes or no.
    Buy,
    /// Whether it pays out cash for coins: yes or no.
    Sell,
    /// Which ways it trades, such as `two way` or `buy only`.
    Services,
    /// The coins it deals in, such as `BTC, LTC`.
    Coins,
    /// The currencies of its cash, such as `USD`.
    Fiat,
    /// Per cent on what is bought.
    BuyFee,
    /// An amount for every purchase.
    BuyFeeFixed,
    /// Per cent on what is sold.
    SellFee,
    /// An amount for every sale.
    SellFeeFixed,
    /// The currency of fees and limits.
    Currency,
    /// Least amount at a time.
    Min,
    /// Most at a time.
    Max,
    /// Most in a day.
    MaxDay,
    /// From which amount people must identify themselves.
    KycAbove,
    /// What it wants to know of people: none, phone or id.
    Kyc,
    /// Who made the machine.
    Manufacturer,
    /// What its maker calls it.
    Model,
    /// Where to write to.
    Email,
    /// When somebody answers the telephone.
    SupportHours,
    /// Whether it can be reached in a wheelchair.
    Wheelchair,
    /// Whether it stands indoors.
    Indoor,
    /// The floor it stands on.
    Level,
    /// How to find it.
    Note,
    /// What the operator wants to be said.
    Notice,
    /// A picture of it.
    Image,
    /// The IANA name of its time zone.
    TimeZone,
    /// When the source learned of the operational state.
    ReportedAt,
    /// When somebody last checked what the source says.
    VerifiedAt,
    /// The machine's page at the source.
    SourceUrl,
    /// The number that the operator gives the machine.
    MachineRef,
    /// The Wikidata item of the brand.
    BrandWikidata,
}

/// A text is not the name of a [`Field`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a field; the fields are: {fields}", fields = Field::all().map(Field::name).collect::<Vec<_>>().join(", ")
)]
pub struct UnknownField(pub String);

/// The field, its name, and the columns that are taken for it, the best first: in lower case, letters and digits only.
pub(super) const FIELDS: [(Field, &str, &[&str]); 49] = [
    (Field::Lat, "lat", &["latitude", "lat", "y", "geolat", "ycoordinate", "locationlat", "locationlatitude"]),
    (
        Field::Lon,
        "lon",
        &["longitude", "lon", "lng", "long", "x", "geolon", "geolng", "xcoordinate", "locationlongitude"],
    ),
    (
        Field::Ref,
        "ref",
        &["ref", "id", "externalid", "sourceid", "atmid", "machineid", "terminalid", "locationid", "uid"],
    ),
    (
        Field::Name,
        "name",
        &["name", "locationname", "businessname", "storename", "title", "business", "store", "venue"],
    ),
    (Field::Street, "street", &["street", "streetaddress", "address1", "addressline1", "addrstreet"]),
    (Field::City, "city", &["city", "town", "locality", "municipality", "addrcity"]),
    (Field::Region, "region", &["region", "state", "province", "stateprovince", "statecode", "addrstate", "admin1"]),
    (Field::Postcode, "postcode", &["postcode", "zip", "zipcode", "postalcode", "addrpostcode"]),
    (Field::Country, "country", &["country", "countrycode", "addrcountry"]),
    (Field::Address, "address", &["address", "fulladdress", "formattedaddress", "addr"]),
    (Field::Operator, "operator", &["operator", "brand", "provider", "company", "network"]),
    (Field::Status, "status", &["status", "operationalstatus", "operationalstate", "operatingstatus", "condition"]),
    (Field::Hours, "hours", &["hours", "openinghours", "openhours", "businesshours"]),
    (Field::Phone, "phone", &["phone", "telephone", "phonenumber", "tel"]),
    (Field::Website, "website", &["website", "url", "web", "homepage", "link"]),
    (Field::Brand, "brand", &["brand", "brandname"]),
    (Field::Network, "network", &["network", "networkname"]),
    (Field::LocatedIn, "located_in", &["locatedin", "hostname", "locatedat"]),
    (Field::Buy, "buy", &["buy", "cashin", "canbuy", "buyenabled", "cashinenabled"]),
    (Field::Sell, "sell", &["sell", "cashout", "cansell", "sellenabled", "cashoutenabled"]),
    (Field::Services, "services", &["services", "service", "direction", "transactions"]),
    (Field::Coins, "coins", &["coins", "cryptocurrencies", "currencies", "cryptos", "coin"]),
    (Field::Fiat, "fiat", &["fiat", "fiatcurrency", "fiatcurrencies"]),
    (Field::BuyFee, "buy_fee", &["buyfee", "buyfeeperc", "buyfeepercent", "cashinfee"]),
    (Field::BuyFeeFixed, "buy_fee_fixed", &["buyfeefixed", "buyfeeamt", "cashinfeefixed"]),
    (Field::SellFee, "sell_fee", &["sellfee", "sellfeeperc", "sellfeepercent", "cashoutfee"]),
    (Field::SellFeeFixed, "sell_fee_fixed", &["sellfeefixed", "sellfeeamt", "cashoutfeefixed"]),
    (Field::Currency, "currency", &["currency", "feecurrency"]),
    (Field::Min, "min", &["min", "minimum", "minamount", "purchaseminimum"]),
    (Field::Max, "max", &["max", "maximum", "maxamount", "limit", "transactionlimit"]),
    (Field::MaxDay, "max_day", &["maxday", "dailylimit", "maxperday"]),
    (Field::KycAbove, "kyc_above", &["kycabove", "idabove"]),
    (Field::Kyc, "kyc", &["kyc", "identification", "verification"]),
    (Field::Manufacturer, "manufacturer", &["manufacturer", "make", "vendor"]),
    (Field::Model, "model", &["model", "machinemodel", "machinetype"]),
    (Field::Email, "email", &["email", "mail", "contactemail"]),
    (Field::SupportHours, "support_hours", &["supporthours"]),
    (Field::Wheelchair, "wheelchair", &["wheelchair", "accessible"]),
    (Field::Indoor, "indoor", &["indoor", "indoors"]),
    (Field::Level, "level", &["level", "floor"]),
    (Field::Note, "note", &["note", "notes", "description", "directions"]),
    (Field::Notice, "notice", &["notice", "warning"]),
    (Field::Image, "image", &["image", "imageurl", "photo", "photourl"]),
    (Field::TimeZone, "time_zone", &["timezone", "tz"]),
    (
        Field::ReportedAt,
        "reported_at",
        &["reportedat", "lastreported", "lastreportedtime", "lastseen", "updatedonline", "statusasof"],
    ),
    (Field::VerifiedAt, "verified_at", &["verifiedat", "verified", "lastverified", "checkdate", "surveydate"]),
    (Field::SourceUrl, "source_url", &["sourceurl", "permalink"]),
    (Field::MachineRef, "machine_ref", &["machineref", "serial", "serialnumber", "terminalnumber"]),
    (Field::BrandWikidata, "brand_wikidata", &["brandwikidata"]),
];

impl Field {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        FIELDS.iter().map(|(field, ..)| *field)
    }

    /// Its name in options and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        FIELDS.iter().find(|(field, ..)| *field == self).map_or("", |(_, name, _)| name)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Field {
    type Err = UnknownField;

    fn from_str(text: &str) -> Result<Self, UnknownField> {
        let name = text.trim();
        let known = FIELDS.iter().find(|(_, known, _)| known.eq_ignore_ascii_case(name));
        known.map(|(field, ..)| *field).ok_or_else(|| UnknownField(name.to_owned()))
    }
}
