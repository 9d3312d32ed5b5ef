declare const brand: unique symbol;

/** A value that only its own parser or maker produces: two ids of different things never mix. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
