import { createInterface } from 'node:readline/promises';
import { CliError, EXIT, usageError } from './exit.ts';

export interface Confirmation {
  /** Sentences that describe the effect. */
  readonly warning: string;
  readonly question: string;
}

/** Returns only if the user typed yes. */
export async function confirm({ warning, question }: Confirmation): Promise<void> {
  const answer = await ask(`${warning}\n${question} Type yes: `);
  if (answer === undefined) throw usageError(`${warning} There is no terminal to ask at: add --yes if that is wanted.`);
  if (answer !== 'yes') throw new CliError(EXIT.refused, 'Nothing was changed.');
}

/** The answer in lower case, empty after Ctrl-C and Ctrl-D; undefined if there is no terminal. */
export async function ask(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await prompt.question(question).catch(() => '')).trim().toLowerCase();
  } finally {
    prompt.close();
  }
}
