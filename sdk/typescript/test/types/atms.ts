// The types of the locator are those of the server's tools. Their schemas describe advisories, places and reports only as
// objects; docs/locator.md describes the members.
import type * as sdk from '@signpost/sdk';
import type { components } from '../made/tools.js';
import type { All, Equal } from './equal.js';

type Schemas = components['schemas'];
type Loose = 'advisories' | 'reports' | 'resolvedLocation' | 'trades';

export type Compared = All<{
  nearest: Equal<Omit<sdk.NearestAtms, Loose>, Omit<Schemas['find_nearest_bitcoin_atm_out'], Loose>>;
  status: Equal<Omit<sdk.AtmStatuses, Loose>, Omit<Schemas['check_atm_status_out'], Loose>>;
  city: Equal<Omit<sdk.CityAtms, Loose>, Omit<Schemas['list_atms_by_city_out'], Loose>>;
  atm: Equal<Omit<sdk.Atm, Loose>, Omit<Schemas['get_atm_details_out'], Loose>>;
  members: Equal<keyof sdk.NearestAtms, keyof Schemas['find_nearest_bitcoin_atm_out']>;
  details: Equal<keyof sdk.Atm, keyof Schemas['get_atm_details_out']>;
  nearestQuery: Equal<sdk.NearestQuery, Schemas['find_nearest_bitcoin_atm_in']>;
  statusQuery: Equal<sdk.StatusQuery, Schemas['check_atm_status_in']>;
  cityQuery: Equal<sdk.CityQuery, Schemas['list_atms_by_city_in']>;
  atmId: Equal<Parameters<sdk.Atms['get']>[0], Schemas['get_atm_details_in']['atmId']>;
}>;
