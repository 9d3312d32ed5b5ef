import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Circles between folders: a folder whose files import, directly or through other folders, files that import it back.
 *
 * @param {readonly { source: string, dependencies: readonly { resolved: string }[] }[]} modules
 * @returns {readonly (readonly string[])[]}
 */
export function findFolderCircles(modules) {
  const imports = new Map();
  for (const { source, dependencies } of modules) {
    if (!isCounted(source)) continue;
    const from = dirname(source);
    const into = imports.get(from) ?? new Set();
    imports.set(from, into);
    for (const { resolved } of dependencies) {
      if (isCounted(resolved) && dirname(resolved) !== from) into.add(dirname(resolved));
    }
  }
  return [...imports.keys()].flatMap((folder) => {
    const path = findWayBack(imports, folder);
    // Each circle is found from every folder in it: the first by name reports it.
    return path?.every((each) => folder <= each) ? [path] : [];
  });
}

function isCounted(file) {
  return file.startsWith('src/') && !file.endsWith('.test.ts');
}

/** The shortest way from a folder back to itself. */
function findWayBack(imports, start) {
  const before = new Map();
  const queue = [start];
  for (const folder of queue) {
    for (const next of imports.get(folder) ?? []) {
      if (next === start) return wayTo(before, folder, start);
      if (before.has(next)) continue;
      before.set(next, folder);
      queue.push(next);
    }
  }
  return undefined;
}

function wayTo(before, folder, start) {
  const way = [start];
  for (let each = folder; each !== start; each = before.get(each)) way.unshift(each);
  return [start, ...way];
}

/**
 * Files with the files that they import by a relative path.
 *
 * @param {readonly string[]} files
 */
export function readImports(files) {
  return files.map((source) => ({
    source,
    dependencies: [...readFileSync(source, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(
      ([, path]) => ({
        resolved: join(dirname(source), path),
      }),
    ),
  }));
}
