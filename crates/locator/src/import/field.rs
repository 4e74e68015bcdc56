//! The fields of an ATM, with the names of their columns.

use std::fmt;
use std::str::FromStr;

/// The field of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// Latitude in degrees.
    Lat,
    /// Longitude in degrees.
    Lon,
    /// Latitude and longitude in one column.
    Coordinates,
    /// Name of the ATM or of its location.
    Name,
    /// The source's identifier.
    Ref,
    /// The complete address on one line.
    Address,
    /// House number and street.
    Street,
    /// House number, if [`Field::Street`] is only the street.
    HouseNumber,
    /// The second line of the street, such as a suite.
    Street2,
    /// City.
    City,
    /// State or province.
    Region,
    /// Postcode.
    Postcode,
    /// Country.
    Country,
    /// Operator.
    Operator,
    /// Operational state.
    Status,
    /// Opening hours.
    Hours,
    /// Telephone number.
    Phone,
    /// Web page.
    Website,
    /// Brand on the ATM.
    Brand,
    /// Network.
    Network,
    /// Business in which it is located.
    LocatedIn,
    /// Whether it sells coins for cash: yes or no.
    Buy,
    /// Whether it pays out cash for coins: yes or no.
    Sell,
    /// Both services, such as `two way` or `buy only`.
    Services,
    /// Coins, such as `BTC, LTC`.
    Coins,
    /// Fiat currencies, such as `USD`.
    Fiat,
    /// Percentage of a purchase.
    BuyFee,
    /// Fixed amount for each purchase.
    BuyFeeFixed,
    /// Percentage of a sale.
    SellFee,
    /// Fixed amount for each sale.
    SellFeeFixed,
    /// Currency of fees and limits.
    Currency,
    /// Minimum amount of a transaction.
    Min,
    /// Maximum amount of a transaction.
    Max,
    /// Maximum amount in a day.
    MaxDay,
    /// Amount above which identification is required.
    KycAbove,
    /// Required identification: none, phone or id.
    Kyc,
    /// Manufacturer.
    Manufacturer,
    /// Model name of the manufacturer.
    Model,
    /// Email address.
    Email,
    /// Hours of telephone support.
    SupportHours,
    /// Whether it is wheelchair accessible.
    Wheelchair,
    /// Whether it is indoors.
    Indoor,
    /// Floor.
    Level,
    /// Directions to it.
    Note,
    /// Notice of the operator.
    Notice,
    /// Picture of it.
    Image,
    /// IANA name of its time zone.
    TimeZone,
    /// Time of the report of the operational state.
    ReportedAt,
    /// Time of the last verification.
    VerifiedAt,
    /// Time of the last change of the record.
    UpdatedAt,
    /// Time at which the record was created.
    CreatedAt,
    /// Day on which it closes permanently, or `yes`.
    EndDate,
    /// URL of the ATM's page at the source.
    SourceUrl,
    /// Operator's number of the ATM.
    MachineRef,
    /// Wikidata item of the brand.
    BrandWikidata,
}

/// The error of an unknown [`Field`] name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a field; the fields are: {fields}", fields = Field::all().map(Field::name).collect::<Vec<_>>().join(", ")
)]
pub struct UnknownField(pub String);

/// Each field with its name and the English names of its columns, the best first: in lower case, letters and digits
/// only.
pub(super) const FIELDS: [(Field, &str, &[&str]); 55] = [
    (
        Field::Lat,
        "lat",
        &[
            "latitude",
            "lat",
            "y",
            "geolat",
            "ycoordinate",
            "locationlat",
            "locationlatitude",
            "gpslat",
            "gpslatitude",
            "latitudegps",
            "decimallatitude",
        ],
    ),
    (
        Field::Lon,
        "lon",
        &[
            "longitude",
            "lon",
            "lng",
            "long",
            "x",
            "geolon",
            "geolng",
            "xcoordinate",
            "locationlng",
            "locationlon",
            "locationlongitude",
            "gpslon",
            "gpslng",
            "gpslongitude",
            "longitudegps",
            "decimallongitude",
        ],
    ),
    (
        Field::Ref,
        "ref",
        &[
            "ref",
            "id",
            "externalid",
            "sourceid",
            "atmid",
            "machineid",
            "terminalid",
            "locationid",
            "uid",
            "uuid",
            "guid",
        ],
    ),
    (
        Field::Name,
        "name",
        &["name", "locationname", "businessname", "storename", "title", "business", "store", "venue"],
    ),
    (Field::Street, "street", &["street", "streetaddress", "address1", "addressline1", "addrstreet"]),
    (Field::HouseNumber, "house_number", &["housenumber", "housenum", "streetnumber", "streetno", "addrhousenumber"]),
    (Field::Street2, "street2", &["street2", "address2", "addressline2", "streetaddress2", "suite"]),
    (Field::City, "city", &["city", "town", "locality", "municipality", "addrcity", "addresscity"]),
    (
        Field::Region,
        "region",
        &["region", "state", "province", "stateprovince", "statecode", "addrstate", "addressstate", "admin1"],
    ),
    (
        Field::Postcode,
        "postcode",
        &[
            "postcode",
            "zip",
            "zipcode",
            "postalcode",
            "addrpostcode",
            "addresszip",
            "addresszipcode",
            "addresspostalcode",
        ],
    ),
    (Field::Country, "country", &["country", "countrycode", "addrcountry", "addresscountry"]),
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
    (
        Field::VerifiedAt,
        "verified_at",
        &[
            "verifiedat",
            "verified",
            "lastverified",
            "checkdate",
            "surveydate",
            "lastchecked",
            "checkedat",
            "confirmedat",
        ],
    ),
    (
        Field::UpdatedAt,
        "updated_at",
        &[
            "updatedat",
            "updated",
            "updatedon",
            "lastupdated",
            "lastupdate",
            "lastupdatedat",
            "lastmodified",
            "modifiedat",
            "modified",
            "modifiedon",
            "dateupdated",
            "timestamp",
        ],
    ),
    (
        Field::CreatedAt,
        "created_at",
        &[
            "createdat",
            "created",
            "createdon",
            "datecreated",
            "creationdate",
            "dateadded",
            "addedat",
            "addedon",
            "added",
        ],
    ),
    (Field::EndDate, "end_date", &["enddate", "closingdate", "closeson", "closedon"]),
    (Field::SourceUrl, "source_url", &["sourceurl", "permalink"]),
    (Field::MachineRef, "machine_ref", &["machineref", "serial", "serialnumber", "terminalnumber"]),
    (Field::BrandWikidata, "brand_wikidata", &["brandwikidata"]),
    // Its columns are guessed only if there are none for latitude and longitude.
    (Field::Coordinates, "coordinates", &[]),
];

impl Field {
    /// Returns all fields.
    pub fn all() -> impl Iterator<Item = Self> {
        FIELDS.iter().map(|(field, ..)| *field)
    }

    /// Returns the name in options and reports.
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
