/** A schema without our own keywords, for code that knows only JSON Schema. */
export function publicSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(publicSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => !key.startsWith('x-sluice-'))
      .map(([key, value]) => [key, publicSchema(value)]),
  );
}
