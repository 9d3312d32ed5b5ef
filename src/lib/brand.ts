declare const brand: unique symbol;

/** A value that only its own parser produces, so that ids of different things cannot be mixed up. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
