// The types of the locator are those of the server's tools. Their schemas describe advisories, places, reports, fees, limits
// and parts of records only as objects; docs/locator.md describes the members. The schema of the details is for one ATM and
// for several, so it requires no member.
import type * as sdk from '@signpost/sdk';
import type { components } from '../made/tools.js';
import type { All, Equal } from './equal.js';

type Schemas = components['schemas'];
type Loose = 'advisories' | 'resolvedLocation';
type LooseOfAtm = 'fees' | 'limits';
type LooseOfDetails = LooseOfAtm | 'advisories' | 'reports' | 'trades' | 'addressParts' | 'placement' | 'machine';
type Several = 'atms' | 'notFound';
/** A list without the members that its schema describes only as objects. */
type Strict<T extends { atms: object[] }> = Omit<T, Loose | 'atms'> & { atms: Omit<T['atms'][number], LooseOfAtm>[] };
type Details = Schemas['get_atm_details_out'];

export type Compared = All<{
  nearest: Equal<Strict<sdk.NearestAtms>, Strict<Schemas['find_nearest_bitcoin_atm_out']>>;
  status: Equal<Strict<sdk.AtmStatuses>, Strict<Schemas['check_atm_status_out']>>;
  city: Equal<Strict<sdk.CityAtms>, Strict<Schemas['list_atms_by_city_out']>>;
  row: Equal<keyof sdk.AtmItem, keyof Schemas['find_nearest_bitcoin_atm_out']['atms'][number]>;
  atm: Equal<Partial<Omit<sdk.Atm, LooseOfDetails>>, Omit<Details, LooseOfDetails | Several>>;
  several: Equal<Exclude<keyof sdk.SeveralAtms, keyof Details>, never>;
  members: Equal<keyof sdk.NearestAtms, keyof Schemas['find_nearest_bitcoin_atm_out']>;
  details: Equal<keyof sdk.Atm, Exclude<keyof Details, Several>>;
  nearestQuery: Equal<sdk.NearestQuery, Schemas['find_nearest_bitcoin_atm_in']>;
  statusQuery: Equal<sdk.StatusQuery, Schemas['check_atm_status_in']>;
  cityQuery: Equal<sdk.CityQuery, Schemas['list_atms_by_city_in']>;
  atmId: Equal<Parameters<sdk.Atms['get']>[0], Schemas['get_atm_details_in']['atmId']>;
  atmIds: Equal<Parameters<sdk.Atms['getMany']>[0], NonNullable<Schemas['get_atm_details_in']['atmIds']>>;
}>;
