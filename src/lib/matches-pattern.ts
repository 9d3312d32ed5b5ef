/** `*` in a pattern stands for any text, also for none. The time is linear, because anybody may choose the name. */
export function matchesPattern(pattern: string, name: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first)) return false;
  let end = first.length;
  for (const part of parts) {
    const at = name.indexOf(part, end);
    if (at === -1) return false;
    end = at + part.length;
  }
  return name.length >= end + last.length && name.endsWith(last);
}
