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

export interface NewDomain {
  domain: string;
  webhook_url: string;
}

export interface DomainChange {
  webhook_url?: string;
  /** The URL for events; null removes it. */
  event_url?: string | null;
  handler?: 'direct' | 'hosted';
  methods?: LoginMethod[];
  registration?: 'open' | 'closed';
  display_name?: string | null;
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

export interface Credential {
  id: string;
  kind: 'wallet' | 'lightning' | 'passkey';
  public_key: string;
  name: string;
  added_at: string;
  last_used_at?: string;
}

export interface HostedUser {
  id: string;
  /** Unique in the domain, such as `amber-otter-4821`. */
  petname: string;
  name?: string;
  groups?: string[];
  created_at: string;
  last_login_at?: string;
  public_key?: string;
  credentials: Credential[];
}

export interface UserList {
  users: HostedUser[];
  next_cursor?: string;
}

/** A user without keys, who gets the first key through a link. */
export interface NewUser {
  /** The ID of the user in your own database: unique in the domain, at most 128 characters. */
  external_id?: string;
  /** 2 to 32 characters, never used by another user. Requires a key with the scope `manage`. */
  username?: string;
  /** Requires a key with the scope `manage`. */
  email?: string;
  name?: string;
  groups?: string[];
  /** At most 4 kB of JSON, with a depth of at most 4. */
  metadata?: Record<string, unknown>;
}

/** A place where a user is signed in: a browser at the login page, or an application. */
export interface SignIn {
  /** `sgn_…` */
  id: string;
  kind: 'browser' | 'grant';
  /** The application; only for a grant. */
  client_id?: string;
  created_at: string;
  last_used_at?: string;
  user_agent?: string;
}

export interface SignInList {
  sign_ins: SignIn[];
  next_cursor?: string;
}

/** null removes a member. */
export interface UserChange {
  name?: string | null;
  groups?: string[] | null;
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

/** A test of event delivery, without meaning. */
export interface TestEvent {
  id: string;
  event: 'test';
  timestamp: string;
  session_id: '';
  data: Record<string, unknown>;
}

/** Kinds that are newer than this package are passed on unchanged: ignore unknown kinds. */
export type SignpostEvent = UserEvent | TestEvent;

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
