import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { anUpload } from '../../test/helpers/an-upload.ts';
import type { RepositoryId } from '../storage/repositories.ts';
import type { Upload } from '../storage/uploads.ts';
import type { ReadItem, ReadSummary } from './read/read-run.ts';
import { ReadAhead } from './read-ahead.ts';
import type { Reading } from './upload-parts.ts';

const UPLOAD = anUpload('repository' as RepositoryId);
const SUMMARY: ReadSummary = { files: 1, issues: [], isWhole: true, problem: null, isRefused: false };
const ITEM: ReadItem = { kind: 'runs', runs: [] };

/** Notes how far it was read, and that it was closed. */
async function* readingOf(noted: string[], end: () => ReadSummary = () => SUMMARY): Reading {
  try {
    for (const word of ['one', 'two']) {
      noted.push(word);
      yield ITEM;
    }
    return end();
  } finally {
    noted.push('closed');
  }
}

async function begun(reading: Reading, upload: Upload | undefined = UPLOAD): Promise<ReadAhead> {
  const ahead = new ReadAhead();
  ahead.begin(Promise.resolve(upload), () => reading);
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  return ahead;
}

describe('reading the next upload ahead', () => {
  it('reads before it is taken, and gives all of it', async () => {
    const noted: string[] = [];
    const ahead = await begun(readingOf(noted));
    assert.deepEqual(noted, ['one', 'two', 'closed']);
    const reading = (await ahead.take(UPLOAD)) as Reading;
    assert.deepEqual(await reading.next(), { done: false, value: ITEM });
    assert.deepEqual(await reading.next(), { done: false, value: ITEM });
    assert.deepEqual(await reading.next(), { done: true, value: SUMMARY });
    assert.equal(await ahead.take(UPLOAD), undefined);
  });

  it('is not taken for another upload, nor behind another part', async () => {
    const ahead = await begun(readingOf([]));
    assert.equal(await ahead.take({ ...UPLOAD, id: 'other' }), undefined);
    assert.equal(await ahead.take({ ...UPLOAD, partsDone: 1 }), undefined);
    assert.notEqual(await ahead.take(UPLOAD), undefined);
  });

  it('throws an error of reading where it is read', async () => {
    const failing = readingOf([], () => {
      throw new Error('the store is away');
    });
    const ahead = await begun(failing);
    const reading = (await ahead.take(UPLOAD)) as Reading;
    await assert.rejects(reading.next(), /the store is away/);
  });

  it('closes what is dropped, or taken and not read to its end', async () => {
    const dropped: string[] = [];
    const ahead = new ReadAhead();
    ahead.begin(Promise.resolve(UPLOAD), () => readingOf(dropped));
    await ahead.drop();
    assert.equal(await ahead.take(UPLOAD), undefined);
    assert.equal(dropped.at(-1), dropped.length === 0 ? undefined : 'closed');
    const noted: string[] = [];
    const reading = (await (await begun(readingOf(noted))).take(UPLOAD)) as Reading;
    await reading.next();
    await reading.return(undefined as never);
    assert.equal(noted.at(-1), 'closed');
  });
});
