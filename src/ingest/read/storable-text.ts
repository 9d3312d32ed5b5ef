/** Makes text storable: PostgreSQL refuses U+0000, and a lone surrogate is not valid UTF-8. */
// SPEC U25
export function storableText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes('\0') ? whole.replaceAll('\0', '') : whole;
}

/** V8 copies shorter substrings. A longer one points into its parent text, and keeps all of it in memory. */
const SHORTEST_SLICE = 13;

/** Returns a copy, for text that outlives the block of the report it was read from. */
export function ownText(text: string): string {
  const storable = storableText(text);
  return storable.length < SHORTEST_SLICE ? storable : Buffer.from(storable, 'utf8').toString('utf8');
}
