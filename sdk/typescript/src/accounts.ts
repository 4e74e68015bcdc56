// The users of hosted domains, with the member names of the API.

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
  /** The generated name: unique in the domain, and never changed, such as `amber-otter-4821`. */
  petname: string;
  /** The username that you set, or else the petname. Unique in the domain. */
  username: string;
  /** The ID of the user in your own database. */
  external_id?: string;
  /** In lower case. The service does not verify it. */
  email?: string;
  metadata?: Record<string, unknown>;
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

/** A search for users; the filters are combined. */
export interface UserSearch {
  /** Only the user with this ID of your own. */
  external_id?: string;
  username?: string;
  /** A part of the username, petname, name, e-mail address or external ID, or a whole user ID. */
  q?: string;
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
  last_used_at: string;
  user_agent?: string;
}

export interface SignInList {
  sign_ins: SignIn[];
  next_cursor?: string;
}

/** null removes a member. */
export interface UserChange {
  /** To change or remove an existing one requires a key with the scope `manage`. */
  external_id?: string | null;
  /** null restores the petname. Requires a key with the scope `manage`. */
  username?: string | null;
  /** Requires a key with the scope `manage`. */
  email?: string | null;
  /** Replaces all earlier data. */
  metadata?: Record<string, unknown> | null;
  name?: string | null;
  groups?: string[] | null;
}
