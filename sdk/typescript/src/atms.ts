import { SignpostError, invalidArgument } from './error.js';
import type { SignpostOptions, Transport } from './transport.js';

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

/** An operator's ATMs, in the format that operators push to directories. Only coordinates are required. */
export interface Submission {
  locations: Record<string, unknown>[];
}

/** A list that is cut off after its first entries. */
interface FirstOf<T> {
  total: number;
  first: T[];
}

/** The result of a submission; `item` is a position in `locations`, from 1. */
export interface ImportOutcome {
  source: string;
  /** true in the sandbox, which stores nothing. */
  dry_run: boolean;
  added: number;
  changed: number;
  unchanged: number;
  removed: number;
  /** Locations that are not Bitcoin ATMs. */
  filtered: number;
  skipped: FirstOf<{ item: number; reason: string }>;
  /** Fields that could not be parsed, and are stored as unknown. */
  doubts: FirstOf<{ item: number; field: string; value: string; reason: string }>;
  dates?: { newest?: string; oldest?: string; undated: number };
  columns: Record<string, string>;
  unused_columns: FirstOf<string>;
  /** Members with dates that were not used, if there are any. */
  unused_dates?: string[];
}

export type Finding = 'there' | 'gone' | 'broken' | 'wrong_place' | 'wrong_hours' | 'other';
export type FindingSource = 'used' | 'saw' | 'asked' | 'phoned';

/** A finding at an ATM; `other` requires a `text`. */
export interface NewReport {
  seen: Finding;
  how?: FindingSource | null;
  /** Time of the finding, RFC 3339, within the last 90 days. Default: now. */
  at?: string | null;
  /** A note for the moderator, at most 280 characters. */
  text?: string | null;
  /** A proof of work; see the API reference. */
  pow?: string | null;
}

export interface MachineReport {
  id: string;
  atm_id: number;
  seen: Finding;
  how?: FindingSource;
  at: string;
  state: 'new' | 'shown' | 'accepted' | 'rejected' | 'duplicate' | 'expired';
  weight: 1 | 3;
  created_at: string;
  dry_run?: boolean;
}

/** The ATM locator, by the tools of its MCP endpoint. Searches need no API key. */
export class Atms {
  /** The MCP URL for AI assistants. */
  readonly mcpUrl: string;
  readonly #api: Transport;
  readonly #headers: Record<string, string>;

  /** @internal */
  constructor(api: Transport, { mcpUrl, mcpToken }: SignpostOptions) {
    if (mcpToken === '') throw invalidArgument('mcpToken is empty: leave the option out for a server without tokens');
    this.#api = api;
    this.mcpUrl = mcpUrl === undefined ? `${new URL(api.baseUrl).origin}/mcp` : readMcpUrl(mcpUrl);
    // The API key of the login API is never sent to the locator.
    this.#headers = { accept: 'application/json, text/event-stream', ...(mcpToken !== undefined && { authorization: `Bearer ${mcpToken}` }) };
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

  /** Submits an operator's ATMs. Requires an API key with the scope `atms`. */
  async submit(submission: Submission): Promise<ImportOutcome> {
    return this.#api.writeOnce('POST', '/atms/submissions', submission);
  }

  /**
   * Reports the state of an ATM, without the API key. With `asOperator`, the report is sent with a key with the scope `atms`
   * and takes effect at once, if the account has submitted the ATM.
   */
  async report(atmId: number, report: NewReport, { asOperator = false }: { asOperator?: boolean } = {}): Promise<MachineReport> {
    const path = `/atms/${encodeURIComponent(atmId)}/reports`;
    return this.#api.send({ method: 'POST', path, body: report, anonymous: !asOperator, repeatable: false, reply: 'json' });
  }

  async #call<T>(name: string, args: object): Promise<T> {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
    const reply = await this.#api.write<ToolReply>('POST', this.mcpUrl, body, this.#headers);
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

function readMcpUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url && /^https?:$/.test(url.protocol) && !text.includes('#') && !url.username && !url.password;
  if (!isPlain) throw invalidArgument('mcpUrl is http(s)://host/mcp, without user name and fragment');
  return url.href;
}
