import type { Files } from './git-model.ts';

/** A file with this line is red by itself, for one check or (`*`) for every check. */
export function redLine(check: string): string {
  return `red: ${check}`;
}

export type PairSide = 'left' | 'right';

/** Either side of a pair is green; a tree with both is red. */
export function pairPath(pair: string, side: PairSide): string {
  return `${pair}.${side}`;
}

/** What CI thinks of a tree, always. */
export function isGreen(files: Files, check: string): boolean {
  for (const [path, content] of files) {
    if (path.endsWith('.left') && files.has(pairPath(path.slice(0, -'.left'.length), 'right'))) return false;
    if (content.includes('red: ') && content.split('\n').some((l) => l === redLine('*') || l === redLine(check))) {
      return false;
    }
  }
  return true;
}
