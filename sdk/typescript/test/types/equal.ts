/** A type with its members only, so that intersections and interfaces compare. */
export type Plain<T> = T extends readonly (infer I)[] ? Plain<I>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Adds the required members of an event, which the document declares outside of its kinds and the generator ignores. */
type Marked<T> = T extends readonly (infer I)[]
  ? Marked<I>[]
  : T extends { id: string; timestamp: string; event?: unknown; session_id?: unknown }
    ? 'an event'
    : T extends object
      ? { [K in keyof T]: Marked<T[K]> }
      : T;

/** true if two types have equal members, types and optional markers. */
export type Equal<A, B> = Same<Marked<A>, Marked<B>>;

export type EqualEvents<A, B> = Same<Plain<A>, Plain<B>>;

/** Fails to compile unless all members are true. */
export type All<T extends Record<string, true>> = T;
