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

describe('the house', () => {
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
