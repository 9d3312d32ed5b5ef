import { type ManifestFiles, type Need, needsAt, type PackageDraft, resolveFolder } from './package-draft.ts';

/** Modules that a go.work uses. */
export function readGo(files: ManifestFiles): readonly PackageDraft[] {
  const drafts = new Map<string, PackageDraft>();
  for (const root of files.folders('go.work')) {
    const work = files.read('go.work', root, parseLines) ?? [];
    const replaced = replacementsOf(work, root);
    for (const [, relative = ''] of work.filter(([verb]) => verb === 'use')) {
      const folder = resolveFolder(root, relative);
      if (folder === undefined || !files.has('go.mod', folder)) continue;
      const lines = files.read('go.mod', folder, parseLines) ?? [];
      const own = new Map([...replaced, ...replacementsOf(lines, folder)]);
      const required = lines.flatMap(([verb, name]) => (verb === 'require' && name !== undefined ? [name] : []));
      const needs = required.flatMap((name): readonly Need[] => [{ name }, ...(own.get(name) ?? [])]);
      drafts.set(folder, { name: lines.find(([verb]) => verb === 'module')?.[1] ?? '', folder, needs });
    }
  }
  return [...drafts.values()];
}

/** `replace path [version] => ../folder`. */
function replacementsOf(lines: readonly (readonly string[])[], folder: string): ReadonlyMap<string, readonly Need[]> {
  const found = lines.flatMap(([verb, name = '', ...rest]) => {
    const to = verb === 'replace' ? rest[rest.indexOf('=>') + 1] : undefined;
    return to === undefined || !to.startsWith('.') ? [] : [[name, needsAt(folder, to)] as const];
  });
  return new Map(found);
}

/** Each directive as its words. `verb ( ... )` repeats the verb for each line inside. */
function parseLines(text: string): readonly (readonly string[])[] {
  const directives: (readonly string[])[] = [];
  let verb: string | undefined;
  for (const line of text.split('\n')) {
    const words = wordsOf(line);
    if (verb !== undefined && words[0] === ')') verb = undefined;
    else if (verb !== undefined && words.length > 0) directives.push([verb, ...words]);
    else if (words[1] === '(') verb = words[0];
    else if (words.length > 0) directives.push(words);
  }
  return directives;
}

function wordsOf(line: string): readonly string[] {
  const end = line.indexOf('//');
  const words = (end < 0 ? line : line.slice(0, end)).trim().split(/\s+/);
  return words.filter((word) => word !== '').map((word) => word.replace(/^(["`])(.*)\1$/, '$2'));
}
