import { SignpostError } from './error.js';
import type { Transport } from './transport.js';

export type AtmStatus = 'open' | 'closed' | 'temporarily_closed' | 'permanently_closed' | 'out_of_service' | 'unknown';

/** A legal or fraud notice for a place, to be shown to users. */
export interface Advisory {
  id: string;
  kind: string;
  text: string;
  effective?: string;
  checked: string;
  sourceUrl: string;
}

/** The interpretation of `location`. */
export interface ResolvedLocation {
  name: string;
  county?: string;
  region?: string;
  country?: string;
  lat: number;
  lon: number;
  source: string;
  /** From 0 to 1. */
  confidence: number;
  /** The parts of the text that were not used. */
  dropped?: string[];
  alternatives: unknown[];
}

export interface AtmItem {
  id: number;
  name: string;
  /** With its unit, such as `1.2 miles`. */
  distance: string;
  distanceMeters: number;
  status: AtmStatus;
  address: string;
  lat: number;
  lon: number;
  /** The page of the ATM. */
  url?: string;
  /** The URL of a map service with directions, in the first ten ATMs. */
  directions?: string;
  /** When a source or a report last confirmed the ATM. */
  lastConfirmed?: string;
  phone?: string;
  /** `buyPercent`, `buyFixed`, `sellPercent`, `sellFixed`, `currency`. */
  fees?: Record<string, string>;
  /** `min`, `max`, `maxDay`, `kycAbove`, `currency`. */
  limits?: Record<string, string>;
  hours?: string;
  opensAt?: string;
  closesAt?: string;
  /** A summary of users' reports, in a sentence. */
  reports?: string;
  operator?: string;
  statusAsOf?: string;
  statusReason?: string;
}

export interface AtmList {
  atms: AtmItem[];
  /** The number of matches, including those that are not listed. */
  total: number;
  truncated: boolean;
  attribution: string[];
  advisories?: Advisory[];
  /** The date of the newest listed ATM. */
  dataAsOf?: string;
  /** Set if the oldest listed ATM is more than a year older. */
  oldestDataAsOf?: string;
  /** Must be shown before the list. */
  notice?: string;
  /** How people report an ATM that is gone or wrong. */
  howToReport?: string;
}

export interface NearestAtms extends AtmList {
  resolvedLocation?: ResolvedLocation;
}

export interface AtmStatuses extends NearestAtms {
  /** The number of ATMs by status. */
  counts: Record<string, number>;
  asOf: string;
}

export interface CityAtms extends AtmList {
  nextCursor?: string;
}

export interface Atm {
  id: number;
  name: string;
  status: AtmStatus;
  statusReason: string;
  freshness: 'live' | 'recent' | 'aging' | 'stale' | 'never';
  address: string;
  lat: number;
  lon: number;
  sources: { atmId?: number; name?: string; parts?: string[] }[];
  attribution: string[];
  addressParts?: Record<string, string>;
  advisories?: Advisory[];
  brand?: string;
  brandWikidata?: string;
  buy?: 'yes' | 'no';
  closesAt?: string;
  coins?: Record<string, 'yes' | 'no'>;
  email?: string;
  fees?: Record<string, string>;
  fiat?: string[];
  hours?: string;
  images?: string[];
  kyc?: 'none' | 'phone' | 'id';
  limits?: Record<string, string>;
  /** The page of the ATM. */
  url?: string;
  /** The URL of a map service with directions. */
  directions?: string;
  /** When a source or a report last confirmed the ATM. */
  lastConfirmed?: string;
  /** False if its source removed the ATM in the last 90 days. */
  listed?: boolean;
  /** How people report that the ATM is gone or wrong. */
  howToReport?: string;
  locatedIn?: string;
  machine?: Record<string, string>;
  network?: string;
  notice?: string;
  opensAt?: string;
  operator?: string;
  operatorNotice?: string;
  phone?: string;
  placement?: Record<string, string>;
  sell?: 'yes' | 'no';
  statusAsOf?: string;
  supportHours?: string;
  timeZone?: string;
  trades?: Record<string, unknown>;
  verifiedAt?: string;
  /** The day on which it closes permanently, if its source announces one. */
  endDate?: string;
  verifiedBy?: string;
  reports?: Record<string, unknown>;
  website?: string;
  wheelchair?: 'yes' | 'no';
}

/** The details of several ATMs. */
export interface SeveralAtms {
  atms: Atm[];
  /** The unknown IDs. */
  notFound: number[];
  /** Must be shown before the ATMs. */
  notice?: string;
  advisories?: Advisory[];
  /** How people report an ATM that is gone or wrong. */
  howToReport?: string;
}

/** A place: either `location`, as free text, or `lat` and `lon`. */
export interface AtmPlace {
  location?: string;
  lat?: number;
  lon?: number;
  /** The country whose places are preferred, by its ISO 3166-1 alpha-2 code. */
  country?: string;
  /** Maximum number of results, 1 to 50. Default: 10. */
  limit?: number;
  /** Unit of distances in texts. Default: `miles`. */
  units?: 'miles' | 'km';
}

export interface NearestQuery extends AtmPlace {
  /** Maximum distance in miles, 1 to 100. Default: 25. */
  maxDistance?: number;
  coin?: string;
  service?: 'buy' | 'sell';
  openNow?: boolean;
}

export interface StatusQuery extends AtmPlace {
  /** Radius in miles, 1 to 100. Default: 10. */
  radius?: number;
}

export interface CityQuery {
  city: string;
  /** Two-letter code. */
  state: string;
  cursor?: string;
  units?: 'miles' | 'km';
}

/** The ATM locator, by the tools of its MCP endpoint. It needs no API key. */
export class Atms {
  /** The MCP URL for AI assistants. */
  readonly mcpUrl: string;
  readonly #api: Transport;

  /** @internal */
  constructor(api: Transport) {
    this.#api = api;
    this.mcpUrl = `${new URL(api.baseUrl).origin}/mcp`;
  }

  /** Returns the ATMs nearest to a place. Fails with `tool_error`, which explains why, if the place is not understood. */
  async nearest(query: NearestQuery): Promise<NearestAtms> {
    return this.#call('find_nearest_bitcoin_atm', query);
  }

  /** Returns the details of an ATM. */
  async get(atmId: number): Promise<Atm> {
    return this.#call('get_atm_details', { atmId });
  }

  /** Returns the details of 1 to 20 ATMs. Fails with `tool_error` if all IDs are unknown. */
  async getMany(atmIds: number[]): Promise<SeveralAtms> {
    return this.#call('get_atm_details', { atmIds });
  }

  /** Counts the ATMs near a place by status. */
  async status(query: StatusQuery): Promise<AtmStatuses> {
    return this.#call('check_atm_status', query);
  }

  /** Returns the ATMs of a city, 50 per page. */
  async listByCity(query: CityQuery): Promise<CityAtms> {
    return this.#call('list_atms_by_city', query);
  }

  async #call<T>(name: string, args: object): Promise<T> {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
    const headers = { accept: 'application/json, text/event-stream' };
    const reply = await this.#api.write<ToolReply>('POST', this.mcpUrl, body, headers);
    if (reply.error) {
      throw new SignpostError('mcp_error', reply.error.message, { status: 200, details: { code: reply.error.code } });
    }
    const { isError, content, structuredContent } = reply.result ?? {};
    if (isError) throw new SignpostError('tool_error', content?.[0]?.text ?? 'the tool failed', { status: 200 });
    if (!structuredContent) throw new SignpostError('invalid_response', 'the tool returned no structured content', { status: 200 });
    return structuredContent as T;
  }
}

interface ToolReply {
  error?: { code: number; message: string };
  result?: { isError?: boolean; content?: { text?: string }[]; structuredContent?: object };
}
