/** Once for an object, and again when other facts changed: by default the other arguments. Only the latest is kept. */
export function memo<Key extends object, Rest extends readonly unknown[], Value>(
  make: (key: Key, ...rest: Rest) => Value,
  factsOf: (key: Key, ...rest: Rest) => readonly unknown[] = (_key, ...rest) => rest,
): (key: Key, ...rest: Rest) => Value {
  const known = new WeakMap<Key, { readonly facts: readonly unknown[]; readonly value: Value }>();
  return (key, ...rest) => {
    const facts = factsOf(key, ...rest);
    const before = known.get(key);
    const isSame = before?.facts.length === facts.length && before.facts.every((fact, at) => fact === facts[at]);
    if (before !== undefined && isSame) return before.value;
    const value = make(key, ...rest);
    known.set(key, { facts, value });
    return value;
  };
}
