// The README and the pages in docs/, and the commands that they show.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

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

interface Fence {
  readonly language: string;
  readonly text: string;
}

export function fencesOf(page: string): readonly Fence[] {
  return [...readPage(page).matchAll(/^```(\w*)\n(.*?)^```/gms)].map(([, language = '', text = '']) => ({
    language,
    text,
  }));
}

/** Scripts that a CI runs: the shell blocks of a page, `run` and `script` of its YAML, `sh` of its Groovy; of a YAML file the same. */
export function scriptsOf(page: string): readonly string[] {
  if (page.endsWith('.yml')) return scriptsIn(parse(readPage(page)));
  return fencesOf(page).flatMap(({ language, text }) => {
    if (language === 'sh') return [text];
    if (language === 'yaml') return scriptsIn(parse(text));
    if (language !== 'groovy') return [];
    const found = [...text.matchAll(/\bsh (?:'''(.*?)'''|'([^'\n]+)')/gs)];
    return found.map(([, long, short = '']) => (long ?? short).replaceAll('\\\\', '\\'));
  });
}

function scriptsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => {
    if (key === 'run' && typeof part === 'string') return [part];
    return key === 'script' && Array.isArray(part) ? [part.join('\n')] : scriptsIn(part);
  });
}
