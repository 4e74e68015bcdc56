import { siteCookie } from '@signpost/sdk/login';

// The logged-in users by cookie; a real site stores them in its database, with an expiry.
const people = (globalThis.people ??= new Map()); // pages and routes may be loaded apart
const cookie = () => siteCookie(process.env.SITE ?? 'http://localhost:3000', 'site_login', 86_400); // over https no other host can set it

/** Logs a browser in, with a value that is new. */
export function signIn({ user }) {
  const value = crypto.randomUUID();
  people.set(value, user.id);
  return [cookie().set(value)];
}

/** Logs a browser out. */
export function signOut(header) {
  people.delete(cookie().read(header));
  return [cookie().clear()];
}

/** The ID of a user by the header `Cookie`, as in `whoIs((await headers()).get('cookie'))`. */
export const whoIs = (header) => people.get(cookie().read(header));
