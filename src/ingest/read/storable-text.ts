/** What a store takes: PostgreSQL refuses U+0000, and half a surrogate pair is no character. */
export function storableText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes('\0') ? whole.replaceAll('\0', '') : whole;
}

/** V8 copies parts that are shorter; longer ones point into the text they are a part of, and keep all of it alive. */
const SHORTEST_SLICE = 13;

/** The same as a string of its own, for what outlives the block of the report that it was read from. */
export function ownText(text: string): string {
  const storable = storableText(text);
  return storable.length < SHORTEST_SLICE ? storable : Buffer.from(storable, 'utf8').toString('utf8');
}
