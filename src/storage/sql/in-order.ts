/** One after the other for each name: on several connections a later write could overtake an earlier one. */
export function inOrder(): (name: string, write: () => Promise<void>) => Promise<void> {
  const latest = new Map<string, Promise<void>>();
  return (name, write) => {
    const before = latest.get(name);
    const written = before === undefined ? write() : before.then(write, write);
    latest.set(name, written);
    const forget = () => {
      if (latest.get(name) === written) latest.delete(name);
    };
    written.then(forget, forget);
    return written;
  };
}
