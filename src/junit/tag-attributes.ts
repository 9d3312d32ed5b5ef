/** All attributes that any element uses, the most frequent first. */
const NAMES = [
  'name',
  'classname',
  'time',
  'file',
  'message',
  'type',
  'timestamp',
  'id',
  'filepath',
  'status',
  'result',
  'value',
  'attempt',
  'attempt_number',
  'retry',
  'rerun',
  'tests',
  'failures',
  'errors',
  'skipped',
  'skip',
  'disabled',
] as const;

export type Attributes = Readonly<Record<(typeof NAMES)[number], string | undefined>>;

/** Collects the attributes of one tag after another. Unused ones, and those after the first `limit`, are dropped. */
export interface TagAttributes {
  /** Returns true if it was present before; the last one counts. */
  add(name: string, value: string): boolean;
  count(): number;
  take(): Attributes;
}

export function createTagAttributes(limit: number): TagAttributes {
  const values: (string | undefined)[] = NAMES.map(() => undefined);
  let count = 0;
  return {
    add(name, value) {
      count += 1;
      if (count > limit) return false;
      const index = indexOf(name);
      if (index === -1) return false;
      const isRepeated = values[index] !== undefined;
      values[index] = value;
      return isRepeated;
    },
    count: () => count,
    take() {
      count = 0;
      const taken = toAttributes(values);
      values.fill(undefined);
      return taken;
    },
  };
}

/** Comparing is cheaper than hashing a fresh name. */
function indexOf(name: string): number {
  for (let index = 0; index < NAMES.length; index += 1) if (name === NAMES[index]) return index;
  return -1;
}

/**
 * A fixed shape for all tags: an object that grows field by field becomes a hash table, several times slower to make
 * and to read.
 */
function toAttributes(values: readonly (string | undefined)[]): Attributes {
  return {
    name: values[0],
    classname: values[1],
    time: values[2],
    file: values[3],
    message: values[4],
    type: values[5],
    timestamp: values[6],
    id: values[7],
    filepath: values[8],
    status: values[9],
    result: values[10],
    value: values[11],
    attempt: values[12],
    attempt_number: values[13],
    retry: values[14],
    rerun: values[15],
    tests: values[16],
    failures: values[17],
    errors: values[18],
    skipped: values[19],
    skip: values[20],
    disabled: values[21],
  };
}
