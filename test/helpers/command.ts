// Shared by the commands of the tests.

interface Command<Values extends { readonly isHelp: boolean }> {
  readonly help: string;
  /** Throws a sentence for invalid arguments. */
  parse(args: readonly string[]): Values;
  run(values: Values): Promise<number>;
}

/** Returns the exit code. */
export async function runCommand<Values extends { readonly isHelp: boolean }>(
  args: readonly string[],
  { help, parse, run }: Command<Values>,
): Promise<number> {
  let values: Values;
  try {
    values = parse(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${help}`);
    return 2;
  }
  if (!values.isHelp) return run(values);
  say(help);
  return 0;
}

export function toNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 0) throw new TypeError(`--${name} must be a whole number`);
  return number;
}

export function say(text: string): void {
  process.stdout.write(text);
}
