/** The fields that have a value, neither undefined nor null. A reply leaves out what is not known. */
export function present<T extends object>(fields: T): { [Key in keyof T]?: NonNullable<T[Key]> } {
  const known: { [Key in keyof T]?: NonNullable<T[Key]> } = {};
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined && value !== null) known[name] = value;
  }
  return known;
}
