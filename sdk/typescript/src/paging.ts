// Paths with IDs, and lists with pages.
import { SignpostError, invalidArgument } from './error.js';
import type { Page } from './wire.js';

/** @internal Builds a path in which each ID is a single segment. */
export function at(parts: TemplateStringsArray, ...ids: string[]): string {
  if (ids.some((id) => typeof id !== 'string' || /^\.{0,2}$/.test(id))) throw invalidArgument('an ID is missing, or is no ID');
  // An unpaired surrogate cannot be encoded in UTF-8.
  if (ids.some((id) => /\p{Surrogate}/u.test(id))) throw invalidArgument('an ID has characters that no address can have');
  return String.raw({ raw: parts.raw }, ...ids.map(encodeURIComponent));
}

/** @internal Returns the items of all pages of a list. */
export async function* everything<L extends { next_cursor?: string }, T>(
  list: (page: Page) => Promise<L>,
  items: (list: L) => T[],
): AsyncGenerator<T, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await list({ limit: 100, ...(cursor !== undefined && { cursor }) });
    yield* items(page);
    const next = page.next_cursor ?? undefined;
    if (next !== undefined && next === cursor) throw new SignpostError('invalid_response', 'the service returned the same page twice');
    cursor = next;
  } while (cursor !== undefined);
}
