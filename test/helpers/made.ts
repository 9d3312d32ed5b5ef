import { after, afterEach, before, beforeEach } from 'node:test';

type Make<T> = () => T | Promise<T>;

/** Made before the first test and closed after the last one, if it has a `close`. */
export function madeOnce<T extends object>(make: Make<T>): T {
  return presentOne(make, before, after);
}

/** Made anew for each test. */
export function madeForEach<T extends object>(make: Make<T>): T {
  return presentOne(make, beforeEach, afterEach);
}

/** Each access goes to the one that was made last. */
function presentOne<T extends object>(make: Make<T>, begin: typeof before, end: typeof after): T {
  let present: T | undefined;
  begin(async () => {
    present = await make();
  });
  end(async () => {
    await (present as { close?(): unknown } | undefined)?.close?.();
  });
  const get = (): T => {
    if (present === undefined) throw new Error('It is made when the tests begin.');
    return present;
  };
  return new Proxy({} as T, {
    get: (_, key) => {
      const value: unknown = Reflect.get(get(), key);
      return typeof value === 'function' ? value.bind(present) : value;
    },
    set: (_, key, value) => Reflect.set(get(), key, value),
    has: (_, key) => key in get(),
  });
}
