import { readFileSync } from 'node:fs';
import type { CheckProgress } from '../contract/try-checks.ts';
import { parseRepo, REPO_TEXT } from './core/arguments.ts';
import { type Given, row } from './core/command.ts';
import type { Context } from './core/context.ts';
import { CliError, EXIT } from './core/exit.ts';
import type { BodyOf } from './core/operations.ts';
import { clean, paint, write } from './core/terminal.ts';

const TAKES = {
  '<repo>': [REPO_TEXT, parseRepo],
  '[branch]': 'The branch whose head is tested. Default: main.',
  '--file <path>': 'Try the checks of this .sluice.yaml instead of those that a queue would run.',
} as const;

export const TRY = row({
  text: 'Run the checks of a repository once, on the head of a branch, and show what they print. Nothing lands.',
  takes: TAKES,
  examples: ['sluice repo try local/acme/app', 'sluice repo try local/acme/app main --file .sluice.yaml'],
  run: async (context, { repo, branch, file }: Given<typeof TAKES>) => {
    const configuration = file === undefined ? {} : { configuration: readFile(file) };
    const hasPassed = await tryChecks(context, { repo, ...(branch && { targetBranch: branch }), ...configuration });
    if (!hasPassed) process.exitCode = EXIT.refused;
  },
});

export function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CliError(EXIT.usage, `${path} cannot be read: ${(error as Error).message}.`);
  }
}

/** True if all of them passed. */
// SPEC W76
export async function tryChecks(context: Context, body: BodyOf<'tryChecks'>): Promise<boolean> {
  let hasPassed: boolean | undefined;
  let isLineOpen = false;
  for await (const line of context.client.lines('tryChecks', body)) {
    if (context.isJson) write(line);
    const progress = JSON.parse(line) as CheckProgress;
    if ('passed' in progress) hasPassed = progress.passed;
    if (context.isJson) continue;
    if ('output' in progress) process.stdout.write(progress.output);
    else write(`${isLineOpen ? '\n' : ''}${verdictOf(progress)}`);
    isLineOpen = 'output' in progress && !progress.output.endsWith('\n');
  }
  if (hasPassed === undefined)
    throw new CliError(EXIT.unavailable, 'The server ended the connection before the checks had ended. Try again.');
  return hasPassed;
}

function verdictOf(progress: Exclude<CheckProgress, { readonly output: string }>): string {
  if ('passed' in progress) return paint('bold', clean(progress.text));
  const mark = progress.conclusion === 'SUCCESS' ? paint('green', '✓') : paint('red', '✗');
  return `${mark} ${paint('bold', clean(progress.check))}: ${clean(progress.text)}\n`;
}
