type Bound<Call> = Call extends (tools: never, ...rest: infer Rest) => infer Answer ? (...rest: Rest) => Answer : never;

/** Functions that all take the same first argument, with that argument given. */
export function bound<Tools, Calls extends Readonly<Record<string, (tools: Tools, ...rest: never[]) => unknown>>>(
  tools: Tools,
  calls: Calls,
): { readonly [Name in keyof Calls]: Bound<Calls[Name]> } {
  const given = Object.entries(calls).map(([name, call]) => [name, (...rest: never[]) => call(tools, ...rest)]);
  return Object.fromEntries(given);
}
