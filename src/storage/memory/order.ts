/** As the databases sort text: by its bytes in UTF-8, which differs from JavaScript's order beyond the basic plane. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
