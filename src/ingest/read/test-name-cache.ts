import { createTestIds, type TestNames, type TestScope } from '../../flaky/identity/test-id.ts';
import { ownText } from './read-limits.ts';

/** A test as uploads name it: all uploads with the same names share one object. */
export interface KnownName {
  readonly testId: string;
  /** In storable form; the id is made of the raw names. */
  readonly names: TestNames;
}

export type IdentifyTest = (names: TestNames) => KnownName;

/**
 * Caches ids by names. The uploads of a repository have nearly the same tests, and an id costs a hash of all its names.
 */
export interface TestNameCache {
  /** Fixes the scope for one upload, so that lookups need the names only. */
  of(scope: TestScope): IdentifyTest;
}

export interface TestNameLimits {
  /** Per generation; there are two. */
  readonly maxNames: number;
  readonly maxChars: number;
}

/** About 25 MB per generation. */
const LIMITS: TestNameLimits = { maxNames: 60_000, maxChars: 12_000_000 };

/** Tests that differ only in name and id: reports list them together. */
interface Group {
  readonly parent: string;
  readonly classname: string;
  readonly file: string;
  readonly byName: Map<string, KnownName>;
  byNameAndId: Map<string, KnownName> | undefined;
}

/**
 * Two generations: names found since the last switch, and before it. Names not used for a whole generation are dropped.
 */
interface Generations {
  young: Map<string, Group>;
  old: Map<string, Group>;
  no: number;
  names: number;
  chars: number;
}

export function createTestNameCache(limits: TestNameLimits = LIMITS): TestNameCache {
  const all: Generations = { young: new Map(), old: new Map(), no: 0, names: 0, chars: 0 };
  return { of: (scope) => identifyFor(scope, all, limits) };
}

function identifyFor(scope: TestScope, all: Generations, limits: TestNameLimits): IdentifyTest {
  const createId = createTestIds(scope);
  const { host, owner, name } = scope.repository;
  const prefix = JSON.stringify([scope.org, host, owner, name, scope.variant]);
  let last: Pick<TestNames, 'parent' | 'classname' | 'file'> = { parent: '', classname: '', file: '' };
  let group: Group = openGroup(last);
  let before: Group | undefined;
  let no = -1;
  let added = 0;

  function enter({ parent, classname, file }: TestNames): void {
    if (all.names >= limits.maxNames || all.chars >= limits.maxChars) turn(all);
    const key = `${prefix}${parent.length}:${classname.length}:${parent}${classname}${file}`;
    const known = all.young.get(key);
    last = { parent, classname, file };
    group = known ?? openGroup(last);
    if (known === undefined && added <= limits.maxNames) {
      all.young.set(copyOf(key), group);
      all.chars += 2 * key.length;
    }
    before = all.old.get(key);
    no = all.no;
  }

  return (names) => {
    if (
      no !== all.no ||
      names.parent !== last.parent ||
      names.file !== last.file ||
      names.classname !== last.classname ||
      all.names >= limits.maxNames ||
      all.chars >= limits.maxChars
    ) {
      enter(names);
    }
    const found = find(group, names);
    if (found !== undefined) return found;
    const known = (before === undefined ? undefined : find(before, names)) ?? createName(group, names, createId(names));
    added += 1;
    // An upload with more tests than fit would push out all others, and still miss on its own.
    if (added > limits.maxNames) return known;
    keep(group, names, known);
    all.names += 1;
    all.chars += names.name.length + names.infoId.length + 100;
    return known;
  };
}

function turn(all: Generations): void {
  all.old = all.young;
  all.young = new Map();
  all.no += 1;
  all.names = 0;
  all.chars = 0;
}

function openGroup({ parent, classname, file }: Pick<TestNames, 'parent' | 'classname' | 'file'>): Group {
  return {
    parent: ownText(parent),
    classname: ownText(classname),
    file: ownText(file),
    byName: new Map(),
    byNameAndId: undefined,
  };
}

function find(group: Group, { name, infoId }: TestNames): KnownName | undefined {
  return infoId === '' ? group.byName.get(name) : group.byNameAndId?.get(nameAndId(name, infoId));
}

function keep(group: Group, { name, infoId }: TestNames, known: KnownName): void {
  if (infoId === '') {
    group.byName.set(known.names.name === name ? known.names.name : copyOf(name), known);
  } else {
    group.byNameAndId ??= new Map();
    group.byNameAndId.set(copyOf(nameAndId(name, infoId)), known);
  }
}

function nameAndId(name: string, infoId: string): string {
  return `${name.length}:${name}${infoId}`;
}

function createName(group: Group, { name, infoId }: TestNames, testId: string): KnownName {
  const { parent, classname, file } = group;
  return {
    testId: ownText(testId),
    names: { file, classname, parent, name: ownText(name), infoId: ownText(infoId) },
  };
}

/** A copy. Text with lone surrogates never matches its cached copy, so such names are made anew each time. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}
