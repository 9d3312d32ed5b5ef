/** A schema without the keywords that are only for us, for code that knows JSON Schema and nothing else. */
export function publicSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(publicSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => !key.startsWith('x-sluice-'))
      .map(([key, value]) => [key, publicSchema(value)]),
  );
}
