// The README and the pages in docs/, and the commands that they show.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

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
