import { type Glob, parseGlob } from '../lib/glob.ts';
import { GlobSet } from '../lib/glob-set.ts';
import { BadManifest, type Manifest } from './lanes.ts';

/** A package as its own manifest describes it. */
export interface PackageDraft {
  readonly name: string;
  readonly folder: string;
  readonly needs: readonly Need[];
}

/** Another package, by its name or by its folder. */
export type Need = { readonly name: string } | { readonly folder: string };

/** The manifests of a commit, by their names and folders. */
export class ManifestFiles {
  readonly #byName: ReadonlyMap<string, ReadonlyMap<string, Manifest>>;
  readonly #parsed = new Map<Manifest, unknown>();

  constructor(manifests: readonly Manifest[]) {
    const own = manifests.filter(({ path }) => !/(?:^|\/)node_modules\//.test(path));
    const groups = Map.groupBy(own, ({ path }) => path.slice(path.lastIndexOf('/') + 1));
    this.#byName = new Map(
      [...groups].map(([name, list]) => [name, new Map(list.map((each) => [folderOf(each.path), each]))]),
    );
  }

  folders(name: string): readonly string[] {
    return [...(this.#byName.get(name)?.keys() ?? [])];
  }

  has(name: string, folder: string): boolean {
    return this.#byName.get(name)?.has(folder) === true;
  }

  /** Throws a sentence if the file is too large or `parse` fails. Files of one name have one way to be parsed. */
  read<Value>(name: string, folder: string, parse: (text: string) => Value): Value | undefined {
    const manifest = this.#byName.get(name)?.get(folder);
    if (manifest === undefined) return undefined;
    if (manifest.text === undefined) throw new BadManifest(`${manifest.path} is too large to be read`);
    try {
      const value = (this.#parsed.get(manifest) as Value | undefined) ?? parse(manifest.text);
      this.#parsed.set(manifest, value);
      return value;
    } catch (error) {
      if (error instanceof BadManifest) throw error;
      throw new BadManifest(`${manifest.path} cannot be read`);
    }
  }

  /** Undefined also where the file is too large or malformed: it is of no workspace that is known. */
  find<Value>(name: string, folder: string, parse: (text: string) => Value): Value | undefined {
    try {
      return this.read(name, folder, parse);
    } catch (error) {
      if (error instanceof BadManifest && folder !== '') return undefined;
      throw error;
    }
  }
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** The folders beneath `root` that the patterns choose. A pattern with `!` takes out. */
export function chooseFolders(
  folders: readonly string[],
  { root, patterns, at }: { readonly root: string; readonly patterns: readonly string[]; readonly at: string },
): readonly string[] {
  const set = new GlobSet<'in' | 'out'>();
  for (const pattern of patterns) {
    const isOut = pattern.startsWith('!');
    set.add(globOf(isOut ? pattern.slice(1) : pattern, at), isOut ? 'out' : 'in');
  }
  const start = root === '' ? '' : `${root}/`;
  return folders.filter((folder) => {
    if (!folder.startsWith(start) || folder === root) return false;
    const hits = set.match(folder.slice(start.length));
    return hits.includes('in') && !hits.includes('out');
  });
}

function globOf(pattern: string, at: string): Glob {
  const glob = parseGlob(pattern.replace(/^(?:\.\/)+/, '').replace(/\/+$/, ''));
  if (typeof glob === 'string') throw new BadManifest(`${at}: ${JSON.stringify(pattern.slice(0, 100))} ${glob}`);
  return glob;
}

/** Undefined: it leads out of the repository. */
export function resolveFolder(folder: string, relative: string): string | undefined {
  const segments = folder === '' ? [] : folder.split('/');
  for (const segment of relative.split('/')) {
    if (segment === '..' && segments.pop() === undefined) return undefined;
    if (segment !== '..' && segment !== '.' && segment !== '') segments.push(segment);
  }
  return segments.join('/');
}

export function needsAt(folder: string, relative: string): readonly Need[] {
  const found = resolveFolder(folder, relative);
  return found === undefined ? [] : [{ folder: found }];
}

export function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
