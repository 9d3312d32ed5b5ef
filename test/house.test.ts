// The words and rooms of the house: ARCHITECTURE.md has the glossary, CONTRIBUTING.md the style.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const load = (name: string) => import(new URL(`../scripts/lib/${name}`, import.meta.url).href);
const { findFolderCircles } = await load('folder-circles.mjs');
const { findRiddles } = (await load('read-comments.mjs')) as {
  findRiddles(source: string, name: string): readonly { readonly line: number; readonly text: string }[];
};
const { measureFile, PARTS } = (await load('measure-code.mjs')) as {
  readonly PARTS: Readonly<Record<string, () => readonly string[]>>;
  measureFile(file: string): Measured;
};
const known = new Map<string, Measured>();

/** Each file is parsed once. */
function measure(file: string): Measured {
  const measured = known.get(file) ?? measureFile(file);
  known.set(file, measured);
  return measured;
}

interface Measured {
  readonly file: string;
  readonly nodes: number;
  readonly lines: number;
  readonly functions: readonly Part[];
  readonly ports: readonly Part[];
  readonly titles: readonly Part[];
}

interface Part {
  readonly name: string;
  readonly line: number;
  readonly size: number;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const code = globSync('{src,test,bench,examples}/**/*.{ts,tsx}', { cwd: root }).concat(
  globSync('scripts/**/*.mjs', { cwd: root }),
);
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

/** Words that had a second meaning or none in the field, and what took their place. */
const REPLACED = {
  'Lookout|Watched|WorkPoller|WorkSource|createLooker|nextLookAt':
    'LeasedWorker, WorkKind, createGithubPoller, nextHeadTestAt',
  'lookAround|createLookAround|lookAgainSoon|lookAroundSoon': 'poll, createForgePoller, request…Poll',
  'Notice|NoticeBell|NoticeRow|concernsQueue': 'WebhookHint, WakeSignal, HintRow, isRelevant',
  'Talk|Talkers|Pen|Overtaken|TellLater': 'PageWrite, WriteSlots, PairedWriter, ConcurrentWrite, RetryAfter',
  'obeyComment|obeyLabel|Obeyed': 'runCommentCommand, runLabelCommand, CommandOutcome',
  'whileStill|callOff|giveWay|createBreath': 'withWritesPaused, cancel, settlementFor, createYielder',
  'QueueRunner|lookAtTarget|isNotDone|findOddity': 'QueueHost, readTargetBranch, isKnownNotApplied, rejectMalformed',
  'UNTOUCHED|setAside|clearedIn|crowdedOut|barred':
    'NEW_ENTRY, conflictsWith, clearedBySearch, nameTaken, blockedReason',
};

/**
 * The most syntax nodes that each part may have. A figure falls with what is deleted. It rises in the commit of a
 * feature alone, by no more than the feature was granted.
 */
const BUDGET: Readonly<Record<string, number>> = {
  'src without the page, bench, scripts and examples': 813_000,
  'the page': 60_850,
  tests: 852_100,
};

/** Below its budget by more than this share, a part has shrunk, and the budget follows. */
const SLACK = 0.005;

const MAX_FUNCTION_LINES = 70;
const MAX_PORT_METHODS = 14;

/** Functions that are longer. The list only gets shorter. */
const LONG_FUNCTIONS: readonly string[] = [
  'src/web/pages/settings/settings.tsx Form',
  'src/web/pages/pull-request/pull-request.tsx Shown',
  'src/web/pages/health/health.tsx Shown',
  'src/junit/xml-reader.ts createXmlReader',
];

/** Interfaces with more methods. The list only gets shorter. */
const LARGE_PORTS: readonly string[] = ['src/storage/tests.ts TestStore'];

describe('the house', () => {
  for (const [part, list] of Object.entries(PARTS)) {
    it(`keeps ${part} within its budget`, () => {
      const nodes = list().reduce((sum, file) => sum + measure(file).nodes, 0);
      const most = BUDGET[part] ?? 0;
      assert.ok(
        nodes <= most,
        `${part}: ${nodes} syntax nodes, ${nodes - most} more than the budget. Simplify or delete something of it; ` +
          '`npm run figures` shows the rooms by size. The budget in test/house.test.ts rises only with a granted feature.',
      );
      assert.ok(
        nodes > most * (1 - SLACK),
        `${part}: ${nodes} syntax nodes of ${most}. It has shrunk: set its budget in test/house.test.ts to ${nodes}.`,
      );
    });
  }
  it('has no function of more than 70 lines', () => {
    assertListed(
      partsOf('functions', MAX_FUNCTION_LINES),
      LONG_FUNCTIONS,
      `A function has at most ${MAX_FUNCTION_LINES} lines: take the part out of it that has a name of its own.`,
    );
  });

  it('has no port of more than 14 methods', () => {
    assertListed(
      partsOf('ports', MAX_PORT_METHODS),
      LARGE_PORTS,
      `An interface has at most ${MAX_PORT_METHODS} methods: split it by who calls them.`,
    );
  });

  it('begins no comment with a riddle', () => {
    const riddles = code.flatMap((file) =>
      findRiddles(textOf(file), file).map(({ line, text }) => `${file}:${line} ${text}`),
    );
    assert.deepEqual(riddles, []);
  });

  it('begins no log line with a riddle', () => {
    const call = /\blog\.(?:debug|info|warn|error)\([^'"`]*['"`](?:what|whatever|whoever|nobody)\b[^'"`]*/gi;
    const product = code.filter((file) => !file.endsWith('.test.ts'));
    const riddles = product.flatMap((file) => [...textOf(file).matchAll(call)].map(([text]) => `${file}: ${text}`));
    assert.deepEqual(riddles, []);
  });

  for (const [old, better] of Object.entries(REPLACED)) {
    it(`says ${better} for ${old.replaceAll('|', ', ')}`, () => {
      const word = new RegExp(`\\b(?:${old})\\b`);
      const left = globSync('src/**/*.{ts,tsx}', { cwd: root }).filter((file) => word.test(textOf(file)));
      assert.deepEqual(left, []);
    });
  }

  it('has every file of src/app in a room', () => {
    assert.deepEqual(globSync('src/app/*.ts', { cwd: root }), []);
  });

  it('finds circles between folders, each once', () => {
    const module = (source: string, ...imports: string[]) => ({
      source,
      dependencies: imports.map((resolved) => ({ resolved })),
    });
    const modules = [
      module('src/a/one.ts', 'src/b/two.ts', 'src/a/other.ts'),
      module('src/b/two.ts', 'src/c/three.ts'),
      module('src/c/three.ts', 'src/a/other.ts', 'src/d/four.ts'),
      module('src/d/four.ts'),
      module('src/d/four.test.ts', 'src/a/one.ts'),
    ];
    assert.deepEqual(findFolderCircles(modules), [['src/a', 'src/b', 'src/c', 'src/a']]);
    assert.deepEqual(findFolderCircles(modules.slice(1)), []);
  });

  it('names only files that exist in ARCHITECTURE.md', () => {
    const named = [...textOf('ARCHITECTURE.md').matchAll(/`((?:[\w-]+\/)+[\w-]+\.ts)`/g)].map(([, path = '']) => path);
    const isThere = (path: string) => globSync([`src/${path}`, `src/app/${path}`], { cwd: root }).length > 0;
    assert.deepEqual(
      named.filter((path) => !isThere(path)),
      [],
    );
    assert.ok(named.length > 10);
  });
});

/** Of src: the functions or interfaces that are larger than `most`. */
function partsOf(kind: 'functions' | 'ports', most: number): readonly string[] {
  const files = globSync('src/**/*.{ts,tsx}').filter((file) => !file.endsWith('.test.ts'));
  return files.flatMap((file) =>
    measure(file)[kind].flatMap(({ name, size }) => (size > most ? [`${file} ${name}`] : [])),
  );
}

function assertListed(found: readonly string[], listed: readonly string[], advice: string): void {
  const fresh = found.filter((each) => !listed.includes(each));
  assert.deepEqual(fresh, [], advice);
  const gone = listed.filter((each) => !found.includes(each));
  assert.deepEqual(gone, [], 'These are mended: take them off the list.');
}
