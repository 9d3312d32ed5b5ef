import { createTestIds, type TestNames, type TestScope } from '../../flaky/identity/test-id.ts';
import { ownText } from './storable-text.ts';

/** A test as uploads name it: every upload that names it alike gets the same object. */
export interface KnownName {
  readonly testId: string;
  /** As they can be stored; the id is made of the names as they came. */
  readonly names: TestNames;
}

export type IdentifyTest = (names: TestNames) => KnownName;

/**
 * Remembers ids by names. The tests of a repository are nearly the same in each of its uploads, and an id costs a hash
 * of all its names.
 */
export interface TestNameCache {
  /** For one upload; what it needs is found by the names alone then. */
  of(scope: TestScope): IdentifyTest;
}

export interface TestNameLimits {
  /** In each of the two generations. */
  readonly maxNames: number;
  readonly maxChars: number;
}

/** Some 25 MB of each generation. */
const LIMITS: TestNameLimits = { maxNames: 60_000, maxChars: 12_000_000 };

/** Tests that differ only in their name and id: they follow each other in reports. */
interface Group {
  readonly parent: string;
  readonly classname: string;
  readonly file: string;
  readonly byName: Map<string, KnownName>;
  byNameAndId: Map<string, KnownName> | undefined;
}

/** What was found since the last change of generations, and before it: names that nobody used in between are forgotten. */
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
    // One upload with more tests than fit would push out all others, and find none of its own again.
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

/** As it is; what is no character could not be found again, and is made anew each time. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}
