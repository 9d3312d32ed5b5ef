// The README and the pages in docs/, and the commands that they show.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Every page that people read, by its path in the clone. */
export function listPages(): string[] {
  const pages = globSync('{README.md,bench/README.md,docs/**/*.md}', { cwd: ROOT });
  return pages.map((page) => page.replaceAll('\\', '/')).sort();
}

export function readPage(page: string): string {
  return readFileSync(`${ROOT}${page}`, 'utf8');
}

/** The shell blocks below one heading, in order; without a heading, of the whole page. */
export function shellBlocks(page: string, heading?: string): string {
  const isMeant = (part: string) => heading === undefined || part.replace('# ', '').startsWith(heading);
  const text = readPage(page).split(/^## /m).filter(isMeant).join('');
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```/gms)].map((match) => match[1]).join('');
  assert.notEqual(blocks, '', `${page} has commands below "${heading}"`);
  return blocks;
}

const WITHOUT_ARGUMENTS =
  /^sluice (?:ci exec|pr status|queue (?:create|update)|upload(?: --wait)?|tests (?:quarantine|show)|restore|.*(?: ID|…|HOST|COMMAND).*)$/;

/** Commands that stand in a sentence or a table. Those without their arguments are only named there. */
export function inlineCommands(page: string): string {
  const prose = readPage(page)
    .replaceAll(/^```.*?^```/gms, '')
    .replaceAll('\n', ' ');
  const commands = [...prose.matchAll(/`(sluice [^`]+)`/g)].map((match) => match[1] as string);
  assert.notEqual(commands.length, 0);
  const complete = (command: string) =>
    WITHOUT_ARGUMENTS.test(command) ? `${/^sluice[a-z ]*(?= |$)/.exec(command)?.[0]} --help` : command;
  return commands.map(complete).join('\n');
}
