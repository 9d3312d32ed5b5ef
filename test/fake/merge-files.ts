import type { Files } from './git-model.ts';

export interface MergedFiles {
  readonly files: Files;
  /** Paths with conflicting changes. */
  readonly conflicts: readonly string[];
}

interface Sides<T> {
  readonly base: T;
  readonly ours: T;
  readonly theirs: T;
}

/** Merges three-way by path, and by line when the number of lines is unchanged. */
export function mergeFiles({ base, ours, theirs }: Sides<Files>): MergedFiles {
  const files = new Map(ours);
  const conflicts: string[] = [];
  for (const path of new Set([...theirs.keys(), ...base.keys()])) {
    const sides = { base: base.get(path), ours: ours.get(path), theirs: theirs.get(path) };
    if (sides.theirs === sides.base || sides.theirs === sides.ours) continue;
    const merged = sides.ours === sides.base ? { content: sides.theirs } : mergeContents(sides);
    if (merged === undefined) conflicts.push(path);
    else if (merged.content === undefined) files.delete(path);
    else files.set(path, merged.content);
  }
  return { files, conflicts };
}

function mergeContents({ base, ours, theirs }: Sides<string | undefined>): { readonly content: string } | undefined {
  if (base === undefined || ours === undefined || theirs === undefined) return undefined;
  const lines = { base: base.split('\n'), ours: ours.split('\n'), theirs: theirs.split('\n') };
  const { length } = lines.base;
  if (lines.ours.length !== length || lines.theirs.length !== length) return undefined;
  const merged: string[] = [];
  for (const [index, line] of lines.base.entries()) {
    const [mine, other] = [lines.ours[index] as string, lines.theirs[index] as string];
    if (mine !== line && other !== line && mine !== other) return undefined;
    merged.push(mine === line ? other : mine);
  }
  return { content: merged.join('\n') };
}
