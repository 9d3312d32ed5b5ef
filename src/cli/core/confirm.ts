import { createInterface } from 'node:readline/promises';
import { CliError, EXIT, usageError } from './exit.ts';

export interface Confirmation {
  /** Sentences that describe the effect. */
  readonly warning: string;
  readonly question: string;
}

/** Returns only if the user typed yes. */
export async function confirm({ warning, question }: Confirmation): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw usageError(`${warning} There is no terminal to ask at: add --yes if that is wanted.`);
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // Ctrl-C and Ctrl-D count as no.
    const answer = await prompt.question(`${warning}\n${question} Type yes: `).catch(() => '');
    if (answer.trim().toLowerCase() !== 'yes') throw new CliError(EXIT.refused, 'Nothing was changed.');
  } finally {
    prompt.close();
  }
}
