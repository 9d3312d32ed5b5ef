/** The fields that have a value, neither undefined nor null. A reply leaves out what is not known. */
export function present<T extends object>(fields: T): { [Key in keyof T]?: NonNullable<T[Key]> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(entries) as { [Key in keyof T]?: NonNullable<T[Key]> };
}
