//! Names of columns in other languages than English: German, Spanish, French, Italian, Portuguese, Dutch, Polish, Czech,
//! Hungarian, Swedish, Danish, Turkish, Greek, Russian, Ukrainian, Japanese, Chinese and Korean.
//!
//! A word with several meanings is missing, because a wrong value is worse than a column that is reported as unused:
//! the Spanish `estado` is a state and a status, and the Japanese 番号 is any number.

use super::field::Field;

/// Names of the columns of a field, the best first, in the form of [`normalized`](super::column_name::normalized).
#[rustfmt::skip]
pub(super) const FOREIGN_COLUMNS: [(Field, &[&str]); 22] = [
    (Field::Lat, &[
        "breitengrad", "breite", "geobreite", "geografischebreite", "latitud", "latitudine", "breedtegraad",
        "szerokoscgeograficzna", "szerokosc", "zemepisnasirka", "szelesseg", "breddgrad", "breddegrad", "enlem",
        "γεωγραφικοπλατος", "широта", "緯度", "纬度", "위도",
    ]),
    (Field::Lon, &[
        "langengrad", "laengengrad", "lange", "laenge", "geolange", "geografischelange", "longitud", "longitudine",
        "lengtegraad", "dlugoscgeograficzna", "dlugosc", "zemepisnadelka", "hosszusag", "langdgrad", "laengdegrad",
        "lengdegrad", "boylam", "γεωγραφικομηκος", "долгота", "довгота", "経度", "經度", "经度", "경도",
    ]),
    (Field::Coordinates, &[
        "koordinaten", "gpskoordinaten", "coordenadas", "coordonnees", "coordinategps", "wspolrzedne", "souradnice",
        "koordinatak", "koordinater", "koordinatlar", "συντεταγμενες", "координаты", "координати", "座標", "坐标", "좌표",
    ]),
    (Field::Ref, &[
        "standortid", "automatenid", "gerateid", "geraetenummer", "geratenummer", "standortnummer", "kennung",
        "identificador", "identifiant", "identificativo", "identyfikator", "идентификатор", "ідентифікатор", "編號",
        "编号", "識別子", "식별자",
    ]),
    (Field::Name, &[
        "bezeichnung", "standortname", "geschaft", "nombre", "nom", "nome", "naam", "nazwa", "nazev", "nazov", "nev",
        "namn", "navn", "adi", "isim", "ad", "ονομα", "название", "наименование", "назва", "名称", "名稱", "店舗名", "店名",
        "施設名", "名前", "이름", "명칭", "상호명", "상호",
    ]),
    (Field::Address, &[
        "adresse", "anschrift", "direccion", "indirizzo", "endereco", "adres", "adresa", "cim", "adress", "διευθυνση",
        "адрес", "адреса", "住所", "所在地", "地址", "주소",
    ]),
    (Field::Street, &[
        "strasseundhausnummer", "strassehausnummer", "strasse", "calle", "rue", "via", "rua", "logradouro", "straat",
        "ulica", "ulice", "utca", "gata", "gade", "sokak", "οδος", "улица", "вулиця",
    ]),
    (Field::City, &[
        "ort", "stadt", "ortschaft", "gemeinde", "ciudad", "localidad", "municipio", "poblacion", "ville", "commune",
        "citta", "comune", "cidade", "plaats", "stad", "miasto", "miejscowosc", "mesto", "obec", "varos", "telepules",
        "ilce", "sehir", "πολη", "город", "місто", "市区町村", "市町村", "城市", "도시", "시군구",
    ]),
    (Field::Region, &[
        "bundesland", "comunidadautonoma", "provincia", "departamento", "departement", "uf", "regione", "provincie",
        "wojewodztwo", "megye", "il", "νομος", "область", "都道府県", "省份", "시도",
    ]),
    (Field::Postcode, &[
        "plz", "postleitzahl", "codigopostal", "codepostal", "cp", "cap", "codicepostale", "cep", "kodpocztowy", "psc",
        "iranyitoszam", "postnummer", "postakodu", "почтовыииндекс", "поштовииіндекс", "индекс", "індекс", "郵便番号",
        "邮政编码", "邮编", "郵遞區號", "우편번호",
    ]),
    (Field::Country, &[
        "land", "pais", "pays", "paese", "nazione", "kraj", "zeme", "orszag", "ulke", "χωρα", "страна", "краіна", "国名",
        "国家", "國家", "국가",
    ]),
    (Field::Operator, &[
        "betreiber", "anbieter", "operador", "proveedor", "exploitant", "operateur", "gestore", "operatore",
        "provozovatel", "isletmeci", "оператор", "運営会社", "事業者", "运营商", "運營商", "운영사",
    ]),
    (Field::Hours, &[
        "offnungszeiten", "oeffnungszeiten", "horario", "horarios", "horaires", "horairesdouverture", "orario", "orari",
        "orariodiapertura", "openingstijden", "godzinyotwarcia", "otviracidoba", "oteviracidoba", "nyitvatartas",
        "oppettider", "abningstider", "calismasaatleri", "ωραριο", "часыработы", "времяработы", "режимработы",
        "графикработы", "営業時間", "营业时间", "營業時間", "영업시간", "운영시간",
    ]),
    (Field::Phone, &[
        "telefon", "telefonnummer", "telefono", "telefone", "telefoon", "τηλεφωνο", "телефон", "電話番号", "電話", "电话",
        "전화번호", "전화",
    ]),
    (Field::Website, &[
        "webseite", "internetseite", "sitioweb", "paginaweb", "siteweb", "sitoweb", "stronawww", "stronainternetowa",
        "webadresi", "саит", "ウェフサイト", "网站", "網站", "홈페이지",
    ]),
    (Field::Email, &["emailadresse", "correoelectronico", "correo", "courriel", "eposta", "电子邮件", "メールアトレス", "이메일"]),
    (Field::Coins, &[
        "kryptowahrungen", "kryptowaehrungen", "criptomonedas", "cryptomonnaies", "criptovalute", "criptomoedas",
        "kryptowaluty", "криптовалюты", "暗号通貨", "加密货币",
    ]),
    (Field::Note, &[
        "bemerkung", "bemerkungen", "hinweis", "kommentar", "notas", "remarques", "примечание", "備考", "备注", "備註", "비고",
    ]),
    (Field::VerifiedAt, &[
        "zuletztgepruft", "letzteprufung", "gepruftam", "ultimaverificacion", "dernierverification",
        "dateverification", "ultimaverifica", "sonkontrol", "датапроверки", "最終確認日", "確認日",
    ]),
    (Field::UpdatedAt, &[
        "aktualisiert", "aktualisiertam", "zuletztaktualisiert", "letzteaktualisierung", "letzteanderung", "geandertam",
        "actualizado", "ultimaactualizacion", "fechadeactualizacion", "derniermiseajour", "dernieremiseajour",
        "datedemiseajour", "aggiornato", "ultimoaggiornamento", "atualizado", "ultimaatualizacao", "dataaktualizacji",
        "aktualizace", "bijgewerkt", "guncellemetarihi", "songuncelleme", "датаобновления", "обновлено", "更新日", "更新日時",
        "最終更新日", "更新时间", "更新時間", "수정일",
    ]),
    (Field::HouseNumber, &[
        "hausnummer", "hausnr", "numerodecalle", "numerodevoie", "numerocivico", "huisnummer", "numerdomu", "hazszam",
        "номердома",
    ]),
    (Field::Street2, &["adresszusatz", "zusatz", "complemento", "complementdadresse"]),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::column_name::normalized;
    use super::super::field::FIELDS;
    use super::*;

    #[test]
    fn names_are_normalized_and_unique() {
        let mut fields = BTreeMap::new();
        let english = FIELDS.iter().flat_map(|(field, _, names)| names.iter().map(|name| (*name, *field)));
        // `brand` and `network` are also the names of the operator.
        let english: BTreeMap<&str, Field> = english.collect();
        for (field, names) in FOREIGN_COLUMNS {
            for name in names {
                assert_eq!(normalized(name), *name);
                assert_eq!(fields.insert(*name, field), None, "{name} is listed twice");
                assert_eq!(english.get(name), None, "{name} is listed for English");
            }
        }
    }
}
