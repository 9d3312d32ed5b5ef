import { after, afterEach, before, beforeEach } from 'node:test';

type Make<T> = () => T | Promise<T>;

/** Made before the first test and ended after the last one, if it has a `close` or a `stop`. */
export function madeOnce<T extends object>(make: Make<T>): T {
  return presentOne(make, before, after);
}

/** Made anew for each test. */
export function madeForEach<T extends object>(make: Make<T>): T {
  return presentOne(make, beforeEach, afterEach);
}

/** Makes as many as a test asks for. They end after it, the last one first. */
export function maker<Given extends unknown[], T extends object>(make: (...given: Given) => Promise<T>) {
  const end = ender();
  return async (...given: Given): Promise<T> => {
    const one = await make(...given);
    end(one);
    return one;
  };
}

/** Ends after each test what the test gave it, the last one first. */
export function ender(): (...made: readonly object[]) => void {
  const made: object[] = [];
  afterEach(async () => {
    for (const each of made.splice(0).reverse()) await endOf(each);
  });
  return (...more) => void made.push(...more);
}

function endOf(made: object): unknown {
  const { close, stop } = made as Partial<Record<'close' | 'stop', () => unknown>>;
  return (close ?? stop)?.call(made);
}

/** Each access goes to the one that was made last. */
function presentOne<T extends object>(make: Make<T>, begin: typeof before, end: typeof after): T {
  let present: T | undefined;
  begin(async () => {
    present = await make();
  });
  end(async () => {
    if (present !== undefined) await endOf(present);
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
