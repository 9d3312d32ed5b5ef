import { spawn } from 'node:child_process';
import { formatRepo, type RepoRef } from './arguments.ts';
import type { Context } from './context.ts';
import { CliError, EXIT } from './exit.ts';
import { write } from './terminal.ts';

export const WEB_TEXT = 'Print the address of its page, and open it in a browser.';

interface Paged {
  readonly repo: RepoRef;
  /** The path of the page within the repository on its forge. */
  readonly forgePath: string;
  /** The rest of the path of the page on the dashboard. */
  readonly parts: readonly string[];
  readonly at?: string | undefined;
}

// SPEC W52
export async function findPage(context: Context, { repo, forgePath, parts, at }: Paged): Promise<string> {
  if (repo.host !== 'local') return `https://${formatRepo(repo)}/${forgePath}`;
  const { caller } = await context.call('getServer', {});
  if (caller === undefined) {
    throw new CliError(EXIT.refused, 'The server is older than its dashboard. Leave out --web to see it here.');
  }
  const path = [caller.organization, repo.host, repo.owner, repo.name, ...parts].map(encodeURIComponent).join('/');
  return `${context.client.url}/${path}${at === undefined ? '' : `?at=${encodeURIComponent(at)}`}`;
}

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
