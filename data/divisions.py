"""Builds crates/locator/data/divisions.tsv: the administrative divisions outside the United States and Canada.

Usage: divisions.py ADMIN1_JSON ADMIN2_JSON CLDR_JSON NAMES_TSV GROUPS_TSV >divisions.tsv

One line for each division, by country and code: country, code of GeoNames, code of ISO 3166-2 without the country (empty
if none is known), displayed name, other names separated by `|`, members. A code with a dot is a division of the second
level. Members are only present in groups, such as West Yorkshire: the codes of the divisions in it, separated by spaces.
"""

import json
import re
import sys
import unicodedata

# Countries with regions of their own in the program.
OWN_REGIONS = {"US", "CA", "AS", "GU", "MP", "PR", "VI"}
# Countries whose second level is what people write in addresses: counties, provinces, departments.
SECOND_LEVEL = {"BE", "ES", "FR", "GB", "IE", "IT", "PH"}
# Generic words around a name, longest first.
BEFORE = [
    "metropolitan borough of ", "city and borough of ", "royal borough of ", "city and county of ",
    "autonomous city of ", "borough of ", "district of ", "province of ", "provincia di ", "provincia de ",
    "provincia autonoma di ", "county of ", "region of ", "state of ", "city of ", "canton of ", "emirate of ",
    "département de la ", "département de l'", "département du ", "département des ", "département de ",
    "departamento de ", "estado de ", "région ", "república ", "county ", "sir ",
    "província de ", "provincie ", "province du ", "province de ", "city and borough of ",
]
AFTER = [
    " metropolitan region", " autonomous region", " autonomous province", " autonomous city", " county borough",
    " municipality", " voivodeship", " department", " governorate", " prefecture", " province",
    " district", " emirate", " council", " canton", " county", " region", " parish", " oblast", " state",
    " krai", " rayon", " city", " (hcmc)", "-do", "-si",
]


# Words that name a division only together with a generic word.
NO_NAMES = {
    "australian capital", "capital", "central", "centre", "east", "eastern", "federal", "north", "northern", "south",
    "southern", "west", "western", "national capital",
}


def folded(name):
    """Returns a name for comparison: lower case, without accents, spaces and punctuation."""
    plain = unicodedata.normalize("NFKD", name.replace("ı", "i").replace("ł", "l").replace("Ł", "L").replace("đ", "d"))
    return "".join(letter for letter in plain.lower() if letter.isalnum())


def bare(name):
    """Returns a name without the generic words around it."""
    lower = name.lower()
    for word in BEFORE:
        if lower.startswith(word) and len(name) > len(word) + 2:
            short = name[len(word):]
            return name if short.lower() in NO_NAMES else short
    for word in AFTER:
        if lower.endswith(word) and len(name) > len(word) + 2:
            short = name[: -len(word)]
            return name if short.lower() in NO_NAMES else short
    return name


def names_by_code(path, level):
    """Returns the names of GeoNames by country and code, of one level."""
    rows = json.load(open(path, encoding="utf-8"))
    found = {}
    for row in rows:
        country, code = row["code"].split(".", 1)
        if country in OWN_REGIONS or (level == 2 and country not in SECOND_LEVEL):
            continue
        found[country, code] = row["name"].strip()
    return found


def iso_codes(path):
    """Returns for each country the codes of ISO 3166-2 by folded name, and the names by code."""
    subdivisions = json.load(open(path, encoding="utf-8"))["subdivisions"]["localeDisplayNames"]["subdivisions"]
    by_name, by_code = {}, {}
    for key, name in subdivisions.items():
        country, code = key[:2].upper(), key[2:].upper()
        by_name.setdefault(country, {}).setdefault(folded(bare(name)), code)
        by_code[country, code] = name
    return by_name, by_code


def own_names(path):
    """Returns the names of our own table by country and displayed name of GeoNames."""
    rows = (line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8"))
    return {(country, name): names.split("|") for country, name, names in rows}


def groups(path, divisions):
    """Returns the lines of the groups: our own table names their divisions."""
    lines = []
    for row in open(path, encoding="utf-8"):
        country, name, names, members = row.rstrip("\n").split("\t")
        unknown = [code for code in members.split() if (country, code) not in divisions]
        if unknown or not members:
            sys.exit(f"{name}: no divisions {unknown}")
        lines.append((country, f"+{name}", "", name, names, members))
    return lines


def main(first_level, second_level, cldr, own, group_table):
    by_name, by_code = iso_codes(cldr)
    own = own_names(own)
    used = set()
    lines = []
    divisions = names_by_code(first_level, 1) | names_by_code(second_level, 2)
    for (country, code), written in sorted(divisions.items()):
        name = bare(written)
        added = own.get((country, written), [])
        used.add((country, written))
        codes = by_name.get(country, {})
        candidates = [name, written, *added]
        iso = next((codes[folded(each)] for each in candidates if folded(each) in codes), "")
        if not iso and country == "IT" and "." in code:
            # GeoNames uses the official letters of provinces.
            iso = code.split(".")[1]
        names = []
        for other in [written, *added, *([by_code[country, iso]] if (country, iso) in by_code else [])]:
            for each in (other, bare(other)):
                if each != name and each not in names:
                    names.append(each)
        iso = iso if re.fullmatch("[A-Z]{2,3}", iso) else ""
        lines.append((country, code, iso, name, "|".join(names), ""))
    unused = sorted(set(own) - used)
    if unused:
        sys.exit(f"no division is called {unused}")
    for line in sorted(lines + groups(group_table, divisions)):
        print(*line, sep="\t")


if __name__ == "__main__":
    main(*sys.argv[1:])
