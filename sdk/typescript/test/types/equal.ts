/** A type as its members alone, so that intersections and interfaces compare. */
export type Plain<T> = T extends readonly (infer I)[] ? Plain<I>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** As the document has it, what an event requires stands outside of its kinds, where the generator does not look. */
type Marked<T> = T extends readonly (infer I)[]
  ? Marked<I>[]
  : T extends { id: string; timestamp: string; event?: unknown; session_id?: unknown }
    ? 'an event'
    : T extends object
      ? { [K in keyof T]: Marked<T[K]> }
      : T;

/** true if two types have the same members with the same types, and are optional in the same places. */
export type Equal<A, B> = Same<Marked<A>, Marked<B>>;

export type EqualEvents<A, B> = Same<Plain<A>, Plain<B>>;

/** Fails to compile for what is not true. */
export type All<T extends Record<string, true>> = T;
