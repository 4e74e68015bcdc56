// Who is logged in; a real site has this in its database, and lets it end.
const people = (globalThis.people ??= new Map()); // pages and routes may be loaded apart
const secure = process.env.SITE?.startsWith('https:') ? '; Secure' : '';

/** Logs a browser in, with a value that is new. */
export function signIn({ user }) {
  const value = crypto.randomUUID();
  people.set(value, user);
  return [`site_login=${value}; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax${secure}`];
}

/** The ID of a user by the cookie, as in `whoIs((await cookies()).get('site_login')?.value)`. */
export const whoIs = (value) => people.get(value);
