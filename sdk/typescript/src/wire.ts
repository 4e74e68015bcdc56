// The types of the API, with its member names.
export type * from './accounts.js';

/** The purpose of a session: to log in, to create an account, or to add a key to an account. */
export type Mode = 'login' | 'register' | 'link';
export type SessionStatus = 'pending' | 'authenticated' | 'expired' | 'cancelled';
/** The kind of proof that authenticated a session. */
export type LoginMethod = 'scan' | 'browser' | 'lightning' | 'passkey';
export type DeliveryState = 'pending' | 'delivered' | 'failed';

/** Returned unchanged with the session. */
export interface Metadata {
  /** The URL that the browser returns to: a path, or an https URL on the domain or below it; at most 2048 characters. */
  return_url?: string;
  /** At most 4096 characters. */
  custom_data?: string;
  [member: string]: unknown;
}

/** The requesting browser, shown by wallets. */
export interface Requester {
  ip?: string;
  /** Country code, two capital letters. */
  country?: string;
  user_agent?: string;
}

export interface NewSession {
  /** A domain of your account. */
  domain: string;
  mode?: Mode | 'registration';
  /** With `mode: "link"`, the user to add a key to; with `mode: "login"` and `flow: "page"`, the only user who can log in. */
  user?: string;
  /** The URL that wallets post to. Default: the webhook URL of the domain. */
  webhook_url?: string;
  metadata?: Metadata;
  /** Number matching: the wallet must send the number that the page shows. */
  confirm?: 'code';
  /** `page`: the service shows the login on its page, at `page_url`. */
  flow?: 'cross_device' | 'same_device' | 'page';
  requester?: Requester;
  /** With `flow: "page"`: base64url of the SHA-256 of a secret in a cookie of the browser. */
  browser_hash?: string;
}

export interface RefreshedSession {
  id: string;
  domain_id: string;
  challenge: string;
  /** The content of the QR code, `svc://auth?…`. */
  qr_data: string;
  /** RFC 3339 in UTC, like all times. */
  expires_at: string;
}

export interface CreatedSession extends RefreshedSession {
  status: 'pending';
  created_at: string;
  /** Permits a page to read this session's status; only in this reply. */
  client_secret?: string;
  /** The number to show on the page. */
  confirm_code?: string;
  /** With `flow: "page"`: the URL to redirect the browser to. */
  page_url?: string;
  metadata?: Metadata;
}

export interface Device {
  platform?: string | null;
  version?: string | null;
  device_id?: string | null;
}

/** The user or key that authenticated a session. */
export interface SessionUser {
  /** `usr_…`; only for hosted domains. */
  id?: string;
  /** In the wallet's encoding. */
  public_key: string;
  device_info: Device;
  /** The account of a user of a hosted domain, at the time of the reply: absent in lists. */
  username?: string;
  name?: string;
  groups?: string[];
  /** The ID of the user in your own database. */
  external_id?: string;
  metadata?: Record<string, unknown>;
  /** The number of credentials. */
  credential_count?: number;
  /** Whether this session created the user. */
  is_new?: boolean;
}

export interface Session {
  id: string;
  domain_id?: string;
  status: SessionStatus;
  mode?: Mode;
  expires_at?: string;
  authenticated_at?: string;
  user?: SessionUser;
  method?: LoginMethod;
  metadata?: Metadata;
  /** The URL that the wallet opens, in the same-device flow. */
  redirect?: string;
}

export interface ListedSession extends Session {
  domain: string;
  mode: Mode;
  created_at: string;
}

export interface SessionList {
  sessions: ListedSession[];
  next_cursor?: string;
}

/** A wallet's answer. */
export interface Answer {
  public_key: string;
  signature: string;
  /** The signed text. */
  challenge: string;
  /** Unix seconds. */
  timestamp: number;
  device_info?: Device | null;
  confirm_code?: string | null;
}

export interface Completion {
  code: string;
  browser_secret?: string;
}

/** The behaviour of the simulated wallet. */
export interface Simulated {
  /** 1 to 100; each wallet has a separate key. */
  wallet?: number;
  /** The fault of the answer. */
  fault?: 'signature' | 'timestamp' | 'challenge' | 'confirm_code';
}

export interface Simulation {
  public_key: string;
  posted_to: string;
  payload: Answer;
  status?: number;
  body?: string;
  error?: string;
}

export interface Signed {
  public_key: string;
  signature: string;
  message: string;
}

export interface Verification {
  valid: boolean;
  public_key: string;
  message_hash: string;
}

/** A kind of event that a domain can select. Test events are always sent. */
export type EventKind = Mode | UserEventKind;

/** A kind of event about a change of a user. */
export type UserEventKind = 'user.updated' | 'user.deleted' | 'credential.added' | 'credential.removed' | 'user.signed_out';

export interface NewDomain {
  domain: string;
  webhook_url: string;
  /** Default: `login`, `register`. */
  events?: EventKind[];
}

export interface DomainChange {
  webhook_url?: string;
  /** The URL for events; null removes it. */
  event_url?: string | null;
  handler?: 'direct' | 'hosted';
  methods?: LoginMethod[];
  registration?: 'open' | 'closed';
  display_name?: string | null;
  /** The kinds of events to send; null restores the default. */
  events?: EventKind[] | null;
}

export interface ListedDomain {
  id: string;
  domain: string;
  verified: boolean;
  webhook_url: string;
  created_at: string;
}

export interface DomainList {
  domains: ListedDomain[];
  next_cursor?: string;
}

export interface Domain extends ListedDomain {
  verification_token: string;
  handler: 'direct' | 'hosted';
  methods: LoginMethod[];
  registration: 'open' | 'closed';
  display_name?: string;
  events: EventKind[];
  event_url?: string;
  verified_at?: string;
  last_checked_at?: string;
  failing_since?: string;
}

export interface RegisteredDomain extends Domain {
  /** `whsec_…`, the key of event signatures; only in this reply. */
  webhook_secret: string;
}

export interface ProvedDomain {
  id: string;
  domain: string;
  verified: true;
  verified_at: string;
}

/** The data that a passkey signed, both members in base64url. */
export interface WebauthnProof {
  authenticator_data: string;
  client_data_json: string;
}

export interface EventData {
  public_key: string;
  signature: string;
  challenge: string;
  signed_message?: string;
  signed_at: number;
  device_info: Device;
  /** `usr_…`; only for hosted domains. */
  user_id?: string;
  method?: LoginMethod;
  webauthn?: WebauthnProof;
}

/** A user logged in, registered or added a key. */
export interface UserEvent {
  id: string;
  event: Mode;
  timestamp: string;
  session_id: string;
  data: EventData;
}

/** The old and the new value of a member of a user; null if there is none. */
export interface ValueChange {
  old: unknown;
  new: unknown;
}

export interface UserEventData {
  /** `usr_…`. */
  user_id: string;
  /** Your ID of the user. */
  external_id?: string;
  /** In `user.updated`: the changed members of the user. */
  changes?: Record<string, ValueChange>;
  /** `cred_…`, in `credential.added` and `credential.removed`, with `kind` and `public_key`. */
  credential_id?: string;
  kind?: 'wallet' | 'lightning' | 'passkey';
  public_key?: string;
  /** In `user.signed_out`: whether all browsers and applications were signed out. */
  everywhere?: boolean;
  /** In `user.signed_out`: `sgn_…`, if a single sign-in ended. */
  sign_in_id?: string;
  /** In `user.signed_out`: `cli_…`, if a single application was signed out. */
  client_id?: string;
}

/** A user changed. A domain receives only the kinds that it has selected. */
export interface UserChangeEvent {
  id: string;
  event: UserEventKind;
  timestamp: string;
  /** Empty unless a session made the change. */
  session_id: string;
  data: UserEventData;
}

/** A test of event delivery, without meaning. */
export interface TestEvent {
  id: string;
  event: 'test';
  timestamp: string;
  session_id: '';
  data: Record<string, unknown>;
}

/** Kinds that are newer than this package are passed on unchanged: ignore unknown kinds. */
export type SignpostEvent = UserEvent | UserChangeEvent | TestEvent;

export interface Delivery {
  id: string;
  domain_id: string;
  url: string;
  state: DeliveryState;
  attempts: number;
  created_at: string;
  next_attempt_at: string;
  ended_at?: string;
  last_status?: number;
  last_error?: string;
  last_answer?: string;
  endpoint_disabled_at?: string;
  /** Only in the reply for a single delivery. */
  body?: SignpostEvent;
}

export interface DeliveryList {
  deliveries: Delivery[];
  next_cursor?: string;
}

export interface Retried {
  retried: number;
}

/** Selects a page of a list; `limit` is 1 to 100. */
export interface Page {
  limit?: number;
  cursor?: string;
}
