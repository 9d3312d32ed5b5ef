import { parseGlob } from '../lib/glob.ts';
import { GlobSet } from '../lib/glob-set.ts';
import {
  type AllCause,
  CONFIGURATION,
  type Hit,
  type Lanes,
  MANIFESTS,
  type Package,
  type Placed,
  type PlacedFile,
  type PlaceInput,
} from './lanes.ts';

/** A barrier, or a target by its name. */
type Rule = { readonly barrier: string } | Required<Pick<Hit, 'target' | 'pattern'>>;

/** The targets of a diff: of each file, and of everything that depends on the packages it is in. */
// SPEC T10
export function placeFiles({ lanes, paths, shown }: PlaceInput): Placed {
  const finder = new FileFinder(lanes);
  const direct = new Set<string>();
  const placed: PlacedFile[] = [];
  const all: PlacedFile[] = [];
  for (const path of paths) {
    const file = finder.find(path);
    const list = file.all === undefined ? placed : all;
    if (list.length < shown || list.length === 0) list.push(file);
    for (const { target } of file.hits) direct.add(target);
    if (file.hits.length === 0 && file.all === undefined) for (const target of finder.otherwise) direct.add(target);
  }
  const dependents = [...direct].flatMap((target) => {
    const names = finder.dependentsOf(target);
    return names.length === 0 ? [] : [{ target, names }];
  });
  const cause = all[0]?.all;
  const targets = [...new Set([...direct, ...dependents.flatMap(({ names }) => names)])].sort();
  return {
    ...(cause === undefined ? { targets } : { all: cause, targets: [] }),
    fileCount: paths.length,
    files: [...all, ...placed].slice(0, shown),
    dependents: dependents.slice(0, shown).map(({ target, names }) => ({ target, names: names.slice(0, shown) })),
  };
}

class FileFinder {
  readonly otherwise: readonly string[];
  readonly #lanes: Lanes;
  readonly #globs = new GlobSet<Rule>();
  readonly #byFolder: ReadonlyMap<string, readonly Package[]>;
  readonly #byName: ReadonlyMap<string, readonly Package[]>;
  readonly #packagesIn = new Map<string, readonly Package[]>();

  constructor(lanes: Lanes) {
    const { rules, packages } = lanes;
    this.#lanes = lanes;
    this.otherwise = rules.otherwise === 'ALL' ? [] : rules.otherwise;
    for (const { target, patterns } of rules.paths) {
      for (const pattern of patterns) this.#add(pattern, { target, pattern });
    }
    for (const barrier of rules.barriers) this.#add(barrier, { barrier });
    this.#byFolder = Map.groupBy(packages, ({ folder }) => folder);
    this.#byName = Map.groupBy(packages, ({ name }) => name);
  }

  #add(pattern: string, rule: Rule): void {
    const glob = parseGlob(pattern);
    if (typeof glob !== 'string') this.#globs.add(glob, rule);
  }

  find(path: string): PlacedFile {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (this.#isManifest(path, name)) return { path, all: { code: 'MANIFEST', name: path }, hits: [] };
    const hits: Hit[] = [];
    let all: AllCause | undefined;
    for (const rule of this.#globs.match(path)) {
      if ('target' in rule) hits.push(rule);
      else all ??= { code: 'BARRIER', name: rule.barrier };
    }
    const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    for (const each of this.#packagesOf(folder)) hits.push({ target: each.name, folder: each.folder });
    if (hits.length === 0 && this.#lanes.rules.otherwise === 'ALL') all ??= { code: 'OTHERWISE', name: path };
    return all === undefined ? { path, hits } : { path, all, hits };
  }

  /** The target branch does not know what such a file will say. */
  // SPEC T11
  #isManifest(path: string, name: string): boolean {
    if (path === CONFIGURATION) return true;
    return this.#lanes.rules.readsWorkspaces && (MANIFESTS as readonly string[]).includes(name);
  }

  /** Those of the nearest folder that has any. A package of the root folder would take every file: it takes none. */
  #packagesOf(folder: string): readonly Package[] {
    const passed: string[] = [];
    let found: readonly Package[] = [];
    for (let at = folder; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
      const known = this.#packagesIn.get(at) ?? this.#byFolder.get(at);
      passed.push(at);
      if (known === undefined) continue;
      found = known;
      break;
    }
    for (const each of passed) this.#packagesIn.set(each, found);
    return found;
  }

  /** Names of the packages that need those of this name, also over others. Circles end where they began. */
  dependentsOf(target: string): readonly string[] {
    const { packages } = this.#lanes;
    const seen = new Set<Package>(this.#byName.get(target));
    // A set that grows is visited to its end.
    for (const each of seen) for (const index of each.dependents) seen.add(packages[index] as Package);
    const names = new Set([...seen].map(({ name }) => name));
    names.delete(target);
    return [...names];
  }
}
