import type { Files } from './git-model.ts';

/** A file with this line is red by itself, for one check or (`*`) for all. */
export function redLine(check: string): string {
  return `red: ${check}`;
}

export type PairSide = 'left' | 'right';

/** Each side alone is green; a tree with both is red. */
export function pairPath(pair: string, side: PairSide): string {
  return `${pair}.${side}`;
}

/** The true result of a check on a tree. */
export function isGreen(files: Files, check: string): boolean {
  return findCause(files, check).next().done === true;
}

/** The paths of each file, or pair of files, that makes the tree red. */
export function redCauses(files: Files, check: string): readonly (readonly string[])[] {
  return [...findCause(files, check)];
}

function* findCause(files: Files, check: string): Generator<readonly string[], undefined> {
  for (const [path, content] of files) {
    if (path.endsWith('.left')) {
      const other = pairPath(path.slice(0, -'.left'.length), 'right');
      if (files.has(other)) yield [path, other];
    }
    if (content.includes('red: ') && content.split('\n').some((l) => l === redLine('*') || l === redLine(check))) {
      yield [path];
    }
  }
}
