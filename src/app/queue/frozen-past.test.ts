import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { act, perform } from '../../../test/worlds/engine/random-acts.ts';
import { Scenario } from '../../../test/worlds/engine/scenario.ts';
import { PastWorld } from '../../../test/worlds/shell/past-world.ts';
import type { CandidateNumber } from '../../engine/model/candidate.ts';
import type { QueueSettings } from '../../engine/model/settings.ts';
import { openSqliteStore } from '../../storage/sqlite/open-sqlite-store.ts';
import { candidateIdOf } from '../core/entry-id.ts';

/**
 * Stores that servers of older versions wrote, and what they answered. `FREEZE_PAST=<name>` adds one by this version.
 * A store is never written again. A change of the words, and nothing else, may change answers: `UPDATE_GOLDEN=1`.
 */
const FOLDER = join(import.meta.dirname, '../../../test/fixtures/past');
const PRS = [1, 2, 3];
const RUNS = [1, 2];

interface Frozen {
  readonly now: number;
  readonly answers: readonly { readonly at: number; readonly said: readonly unknown[] }[];
}

async function openFrozen(t: TestContext, name: string, now: number): Promise<PastWorld> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-frozen-'));
  t.after(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, 'sluice.db'), zstdDecompressSync(readFileSync(join(FOLDER, `${name}.db.zst`))));
  const store = await openSqliteStore({ directory });
  t.after(() => store.close());
  return PastWorld.reopen(store, now);
}

function runIdsOf({ queueId }: PastWorld) {
  return [undefined, ...RUNS.map((number) => candidateIdOf(queueId, number as CandidateNumber))];
}

const SETTINGS: Partial<QueueSettings> = { mode: 'PARALLEL', batch: true, batchingMinSize: 2, concurrency: 3 };

/** The second half happens in another mode. */
async function freeze(name: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-freeze-'));
  const store = await openSqliteStore({ directory });
  const world = await PastWorld.create(store, SETTINGS);
  const story = new Scenario(SETTINGS);
  const [acts = []] = fc.sample(fc.array(act, { minLength: 80, maxLength: 80, size: 'max' }), { seed: 7, numRuns: 1 });
  for (const [index, each] of acts.entries()) perform(story, index === 40 ? { kind: 'mode', pr: 1, pick: 0 } : each);
  for (const [index, event] of story.events.entries()) {
    await world.happen([{ ...event, at: event.at + index }]);
    if (index % 5 === 0) await world.settleEffect('retry');
    if (index % 9 === 0) await world.pack({ bytes: 1, before: 0, now: world.now });
    if (index % Math.ceil(story.events.length / 6) === 3) await world.remember(PRS, runIdsOf(world));
  }
  const answers = world.given.map(({ at, texts }) => ({ at, said: texts.map((text) => JSON.parse(text) as unknown) }));
  await store.snapshots?.backup(join(directory, 'frozen.db'));
  await store.close();
  writeFileSync(join(FOLDER, `${name}.db.zst`), zstdCompressSync(readFileSync(join(directory, 'frozen.db'))));
  write(name, { now: world.now, answers });
  rmSync(directory, { recursive: true });
}

function write(name: string, frozen: Frozen): void {
  writeFileSync(join(FOLDER, `${name}.json`), `${JSON.stringify(frozen, undefined, 1)}\n`);
}

if (process.env['FREEZE_PAST'] !== undefined) await freeze(process.env['FREEZE_PAST']);

describe('a past that an older version wrote', () => {
  const names = readdirSync(FOLDER).flatMap((file) => /^(.*)\.json$/.exec(file)?.[1] ?? []);
  for (const name of names) {
    it(`is answered as that version answered: ${name} [Y1]`, async (t) => {
      const frozen = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as Frozen;
      const world = await openFrozen(t, name, frozen.now);
      const answers: Frozen['answers'][number][] = [];
      for (const { at } of frozen.answers) {
        const texts = await world.answer(PRS, runIdsOf(world), at);
        answers.push({ at, said: texts.map((text) => JSON.parse(text) as unknown) });
      }
      if (process.env['UPDATE_GOLDEN'] === '1') write(name, { ...frozen, answers });
      else assert.deepEqual(answers, frozen.answers);
    });
  }
  it('is in the folder of frozen data', () => assert.ok(names.length > 0));
});
