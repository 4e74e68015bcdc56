//! Which column holds which field.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use super::text::RawRow;
use super::{Broken, ColumnList, Options};

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
}

/// A text is not the name of a [`Field`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a field; the fields are: lat, lon, name, ref, address, street, city, region, postcode, country, \
     operator, status, hours, phone, website"
)]
pub struct UnknownField(pub String);

/// The field, its name, and the columns that are taken for it, the best first: in lower case, letters and digits only.
const FIELDS: [(Field, &str, &[&str]); 15] = [
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
];

/// The columns of a file as they are to be read.
pub(super) struct Columns {
    header: Vec<String>,
    fields: Vec<(Field, usize)>,
    only: Vec<(usize, String)>,
}

impl Columns {
    pub(super) fn new(header: &[Cow<'_, str>], options: &Options) -> Result<Self, Broken> {
        let mut columns =
            Self { header: header.iter().map(ToString::to_string).collect(), fields: vec![], only: vec![] };
        for (field, name) in &options.map {
            if !name.is_empty() {
                let column = columns.named(name)?;
                columns.fields.retain(|(known, _)| known != field);
                columns.fields.push((*field, column));
            }
        }
        let named: Vec<Field> = options.map.iter().map(|(field, _)| *field).collect();
        columns.guess(&named);
        for (name, value) in &options.only {
            columns.only.push((columns.named(name)?, value.trim().to_owned()));
        }
        for field in [Field::Lat, Field::Lon] {
            if columns.of(field).is_none() {
                return Err(Broken::NoCoordinates { field, columns: columns.list() });
            }
        }
        columns.fields.sort_unstable();
        Ok(columns)
    }

    /// Finds columns for the fields that were not `named`, by the header alone.
    fn guess(&mut self, named: &[Field]) {
        let bare =
            |name: &String| name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        let bare: Vec<String> = self.header.iter().map(bare).collect();
        for (field, _, names) in FIELDS.iter().filter(|(field, ..)| !named.contains(field)) {
            let free = |column: &usize| self.fields.iter().all(|(_, taken)| taken != column);
            let columns = |name: &&str| (0..bare.len()).filter(|&column| bare[column] == *name).find(free);
            if let Some(column) = names.iter().find_map(columns) {
                self.fields.push((*field, column));
            }
        }
    }

    /// The cells of a row, or why it is not read. Of a row with too many nobody can tell which ones are the coordinates;
    /// empty ones at the end do not count. A row with too few has what it has.
    pub(super) fn fit<'a, 'b>(&self, row: &'a RawRow<'b>) -> Result<&'a [Cow<'b, str>], String> {
        let all = row.cells.as_deref().map_err(String::clone)?;
        let width = self.header.len();
        let (cells, more) = all.split_at_checked(width).unwrap_or((all, &[]));
        if more.iter().all(|cell| cell.is_empty()) {
            Ok(cells)
        } else {
            Err(format!("the row has {} cells and the header {width}", all.len()))
        }
    }

    /// The fields whose columns a row ends before.
    pub(super) fn missing(&self, cells: &[Cow<'_, str>]) -> impl Iterator<Item = Field> {
        self.fields.iter().filter(|(_, column)| *column >= cells.len()).map(|(field, _)| *field)
    }

    /// Whether [`Options::only`] leaves a row in.
    pub(super) fn keep(&self, cells: &[Cow<'_, str>]) -> bool {
        self.only.iter().all(|(column, value)| cells.get(*column).is_some_and(|cell| cell.trim() == value))
    }

    /// What a row says of a field; empty where there is no column for it.
    pub(super) fn cell<'a>(&self, cells: &'a [Cow<'_, str>], field: Field) -> &'a str {
        self.of(field).and_then(|column| cells.get(column)).map_or("", |cell| cell)
    }

    /// Which column each field is read from.
    pub(super) fn used(&self) -> Vec<(Field, String)> {
        self.fields.iter().map(|&(field, column)| (field, self.header[column].clone())).collect()
    }

    fn of(&self, field: Field) -> Option<usize> {
        self.fields.iter().find(|(known, _)| *known == field).map(|(_, column)| *column)
    }

    /// The column with this name: as it is written in the header, else in another case.
    fn named(&self, name: &str) -> Result<usize, Broken> {
        let name = name.trim();
        let find = |same: &dyn Fn(&String) -> bool| self.header.iter().position(same);
        find(&|column| column == name)
            .or_else(|| find(&|column| column.eq_ignore_ascii_case(name)))
            .ok_or_else(|| Broken::NoSuchColumn { column: name.to_owned(), columns: self.list() })
    }

    fn list(&self) -> ColumnList {
        ColumnList(self.header.clone())
    }
}

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
