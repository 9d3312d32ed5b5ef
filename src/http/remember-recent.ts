/** Remembers what was made for the last few keys. Keys come from strangers (a Host header), so there is an end to it. */
export function rememberRecent<T>(limit: number, make: (key: string) => T): (key: string) => T {
  const made = new Map<string, T>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    // Putting it at the end keeps the one used longest ago at the front.
    made.delete(key);
    made.set(key, value);
    const [oldest] = made.keys();
    if (made.size > limit && oldest !== undefined) made.delete(oldest);
    return value;
  };
}
