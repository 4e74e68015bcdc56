#!/bin/sh
# Rebuilds the embedded table of airports, byte for byte, from a pinned package and the names in this folder: see
# NOTICE.md. Requires python3 with pip and sha256sum. Usage: data/airports.sh [--check]
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
table=$root/crates/locator/data/airports.tsv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m pip download --quiet --no-deps --only-binary :all: airportsdata==20260905
sha256sum --check --quiet <<'SUMS'
d7eaa9a57d373b0adaaae0d52da2af0bb0edf73f7baa170f7c415d3342bf4868  airportsdata-20260905-py3-none-any.whl
SUMS
python3 -m zipfile -e airportsdata-20260905-py3-none-any.whl airportsdata

python3 - "$root/data/airport_names.tsv" airportsdata/airportsdata/airports.csv <<'SCRIPT' >airports.tsv
import csv
import re
import sys

IN_THE_UNITED_STATES = {"PR", "VI", "GU", "AS", "MP"}
REGIONS = dict(row.split("=") for row in (
    "Alabama=AL|Alaska=AK|Arizona=AZ|Arkansas=AR|California=CA|Colorado=CO|Connecticut=CT|Delaware=DE|"
    "District of Columbia=DC|Florida=FL|Georgia=GA|Hawaii=HI|Idaho=ID|Illinois=IL|Indiana=IN|Iowa=IA|Kansas=KS|"
    "Kentucky=KY|Louisiana=LA|Maine=ME|Maryland=MD|Massachusetts=MA|Michigan=MI|Minnesota=MN|Mississippi=MS|"
    "Missouri=MO|Montana=MT|Nebraska=NE|Nevada=NV|New Hampshire=NH|New Jersey=NJ|New Mexico=NM|New York=NY|"
    "North Carolina=NC|North Dakota=ND|Ohio=OH|Oklahoma=OK|Oregon=OR|Pennsylvania=PA|Rhode Island=RI|"
    "South Carolina=SC|South Dakota=SD|Tennessee=TN|Texas=TX|Utah=UT|Vermont=VT|Virginia=VA|Washington=WA|"
    "West Virginia=WV|Wisconsin=WI|Wyoming=WY|Alberta=AB|British Columbia=BC|Manitoba=MB|New Brunswick=NB|"
    "Newfoundland and Labrador=NL|Nova Scotia=NS|Northwest Territories=NT|Nunavut=NU|Ontario=ON|"
    "Prince Edward Island=PE|Quebec=QC|Saskatchewan=SK|Yukon=YT|Puerto Rico=PR|Virgin Islands=VI").split("|"))
# Airports that the package assigns to the region across the border.
MOVED = {"DCA": "VA", "IAD": "VA", "YCC": "ON"}
LARGE = re.compile("International|Regional|Metro|Jetport")
OF_ANOTHER_KIND = re.compile("Air Force|Army|Coast Guard|Heliport|Naval|Seaplane|Afb|Arb")

with open(sys.argv[1], encoding="utf-8") as file:
    named = {row["iata"]: row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}
with open(sys.argv[2], encoding="utf-8") as file:
    airports = {row["iata"]: row for row in csv.DictReader(file) if row["iata"]}


def area(airport):
    country, division = airport["country"], airport["subd"]
    if country in IN_THE_UNITED_STATES:
        return country, "US"
    if country in ("US", "CA"):
        return MOVED.get(airport["iata"]) or REGIONS[division.replace("Québec", "Quebec")], country
    return "", country


def plain(name):
    return re.sub(r"\bMc (?=[A-Z])", "Mc", " ".join(name.split()))


def chosen(airport):
    code, name = airport["icao"], airport["name"]
    known = airport["country"] in IN_THE_UNITED_STATES | {"US", "CA"}
    return known and code.isalpha() and len(code) == 4 and LARGE.search(name) and not OF_ANOTHER_KIND.search(name)


missing = [code for code in named if code not in airports]
if missing:
    sys.exit(f"airport_names.tsv names codes that the package has not: {missing}")
others = sorted(code for code, airport in airports.items() if chosen(airport) and code not in named)
print("iata", "icao", "name", "alone", "before", "cities", "region", "country", "lat", "lon", sep="\t")
for code in [*named, *others]:
    airport, ours = airports[code], named.get(code, {})
    # The second name of some airports, the name of the airfield, is not in use.
    name = re.sub("(Regional|International|Jetport)\\b(?! Airport).* Field$", "\\1 Airport", plain(airport["name"]))
    name = ours.get("name") or name
    served = [part.strip() for part in re.split("[/(),]", plain(airport["city"]))]
    cities = ours.get("cities") or "|".join(city for city in served if city)
    print(code, airport["icao"], name, ours.get("alone", ""), ours.get("before", ""), cities, *area(airport),
          f'{float(airport["lat"]):.4f}', f'{float(airport["lon"]):.4f}', sep="\t")
SCRIPT

if [ "${1-}" = --check ]; then
    cmp airports.tsv "$table" && echo "the table of airports is the one this package makes"
else
    cp airports.tsv "$table"
    sha256sum airports.tsv
fi
