import { spawn } from 'node:child_process';
import { formatRepo, type RepoRef } from './arguments.ts';
import { CliError, EXIT } from './exit.ts';
import { write } from './terminal.ts';

export const WEB_TEXT = 'Print the address of its page, and open it in a browser.';

/** The page of a repository on its forge; plain git has none. */
export function pageOf(repo: RepoRef, path: string): string {
  if (repo.host !== 'local') return `https://${formatRepo(repo)}/${path}`;
  throw new CliError(
    EXIT.refused,
    `${formatRepo(repo)} is plain git, which has no pages. Leave out --web to see it here.`,
  );
}

/** Prints the address, and opens it: with BROWSER, or on a terminal with the opener of the system, if there is one. */
// SPEC W36
export function openPage(url: string): void {
  write(url);
  const [program, ...args] = findOpener(url);
  if (program === undefined) return;
  const child = spawn(program, args, { stdio: 'ignore', detached: true });
  // Without an opener the printed address remains.
  child.on('error', () => undefined);
  child.unref();
}

function findOpener(url: string): readonly string[] {
  const browser = process.env['BROWSER'];
  if (browser) return [browser, url];
  if (!process.stdout.isTTY) return [];
  if (process.platform === 'darwin') return ['open', url];
  return process.platform === 'win32' ? ['explorer', url] : ['xdg-open', url];
}
