import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { RepositoryId } from '../../src/storage/repositories.ts';
import type { Store } from '../../src/storage/store.ts';
import type { Upload, UploadOutcome } from '../../src/storage/uploads.ts';
import { anUpload, someFields } from '../helpers/an-upload.ts';
import { DAY_MS, NOON, type OpenStore, storeRepository } from '../helpers/store-rows.ts';
import type { StoreTests } from './store-fixture.ts';
import { aChange } from './store-ingest.ts';

const HOUR_MS = 3_600_000;
/** Later than everything. */
const NEVER = NOON * 2;

export function uploadPromises(tests: StoreTests): void {
  bodyPromises(tests);
  acceptPromises(tests);
  outcomePromises(tests);
  listPromises(tests);
}

export function anOutcome(uploadId: string, values: Partial<UploadOutcome> = {}): UploadOutcome {
  const rest = { partsDone: 1, processedAt: NOON + 5, fields: null, testRuns: 3, issues: [] };
  const standing = { flaw: null, counts: null };
  return { uploadId, status: 'PROCESSED', ...rest, ...standing, ...values };
}

async function readText(store: Store, bodyId: string, fileNo: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of store.uploadBodies.read(bodyId, fileNo)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

function bodyPromises({ inStore }: StoreTests): void {
  inStore(
    'bytes come back as they were given, file by file, whatever becomes of the buffer',
    async ({ store, uploadBodies }) => {
      const bodyId = randomUUID();
      const buffer = Buffer.from('one');
      const writing = [uploadBodies.append(bodyId, 0, buffer, NOON), uploadBodies.append(bodyId, 1, buffer, NOON)];
      buffer.write('two');
      writing.push(uploadBodies.append(bodyId, 0, buffer, NOON), uploadBodies.append(bodyId, 0, Buffer.alloc(0), NOON));
      await Promise.all(writing);
      assert.equal(await readText(store, bodyId, 0), 'onetwo');
      assert.equal(await readText(store, bodyId, 1), 'one');
      assert.equal(await readText(store, bodyId, 2), '');
      assert.equal(await readText(store, 'unknown', 0), '');
      await uploadBodies.remove(bodyId);
      assert.equal(await readText(store, bodyId, 0), '');
      await uploadBodies.remove(bodyId);
    },
  );

  inStore('a body of many pieces is kept in order, and removed whole', async ({ store, uploadBodies }) => {
    const bodyId = randomUUID();
    for (let n = 0; n < 70; n++) await uploadBodies.append(bodyId, n % 2, Buffer.from(`${n} `), NOON);
    const expected = Array.from({ length: 35 }, (_, index) => `${2 * index + 1} `).join('');
    assert.equal(await readText(store, bodyId, 1), expected);
    await uploadBodies.remove(bodyId);
    for (const fileNo of [0, 1]) assert.equal(await readText(store, bodyId, fileNo), '');
  });
}

function acceptPromises({ inRepository }: StoreTests): void {
  inRepository('an upload is stored and found', async ({ uploads, id }) => {
    const issues = [{ level: 'warning', file: 'a.xml', line: 3, message: 'm', hint: 'h' }] as const;
    const upload = anUpload(id, { issues, digest: 'd', clientVersion: '1.2', fields: someFields({ prNumber: 7 }) });
    assert.deepEqual(await uploads.create(upload, 0), upload);
    assert.deepEqual(await uploads.find(upload.id), upload);
    assert.equal(await uploads.find('unknown'), undefined);
    await assert.rejects(uploads.create(anUpload('nothing' as RepositoryId), 0));
  });

  inRepository('the same again within the window is answered with the first', async ({ store, uploads, id }) => {
    const other = await storeRepository(store);
    const digest = randomUUID();
    const first = await uploads.create(anUpload(id, { digest }), NOON - 10);
    assert.deepEqual(await uploads.create(anUpload(id, { digest, receivedAt: NOON + 9 }), NOON - 1), first);
    assert.equal(await uploads.getWatermark(id), 1);
    const theirs = anUpload(other.id, { digest });
    assert.equal((await uploads.create(theirs, 0)).id, theirs.id);
    const late = anUpload(id, { digest, receivedAt: NOON + 9 });
    assert.equal((await uploads.create(late, NOON)).id, late.id);
    for (const digests of [null, 'another']) {
      const fresh = anUpload(id, { digest: digests });
      assert.equal((await uploads.create(fresh, 0)).id, fresh.id);
    }
  });

  inRepository('of the same at once one is stored [D13]', async ({ uploads, id }) => {
    const made = await Promise.all(
      Array.from({ length: 8 }, () => uploads.create(anUpload(id, { digest: 'same' }), 0)),
    );
    assert.equal(new Set(made.map((upload) => upload.id)).size, 1);
    assert.equal(await uploads.getWatermark(id), 1);
  });

  inRepository('the body of a pending upload comes once', async ({ uploads, id }) => {
    const pending = anUpload(id, {
      ...{ kind: 'bundle', status: 'PENDING', bodyId: null, files: [], sizeBytes: 0, fields: null },
    });
    await uploads.create(pending, 0);
    const page = { repositoryId: id, watermark: 9, offset: 0, limit: 9 };
    assert.deepEqual(await uploads.list(page), { totalRows: 0, uploads: [] });
    const files = [{ name: 'bundle.tar.zstd', encoding: 'identity' as const, sizeBytes: 5 }];
    const body = { bodyId: randomUUID(), files, sizeBytes: 5, at: NOON + 7 };
    const answers = await Promise.all([
      uploads.accept(pending.id, body),
      uploads.accept(pending.id, { ...body, bodyId: randomUUID() }),
    ]);
    assert.deepEqual(answers.sort(), [false, true]);
    const accepted = await uploads.find(pending.id);
    assert.deepEqual(
      { ...accepted, bodyId: null },
      {
        ...{ ...pending, files, status: 'ACCEPTED', sizeBytes: 5, receivedAt: NOON + 7 },
      },
    );
    assert.equal(await uploads.accept('unknown', body), false);
    assert.deepEqual((await uploads.list(page)).uploads, [accepted]);
  });
}

function outcomePromises({ inRepository }: StoreTests): void {
  inRepository(
    'processing notes how far it got and how it ended, with the results or without',
    async ({ uploads, uploadWork, testIngest, id }) => {
      const upload = await uploads.create(anUpload(id, { fields: null }), 0);
      const fields = someFields({ branch: 'b' });
      const part = anOutcome(upload.id, { status: 'ACCEPTED', processedAt: null, fields });
      const commit = (expectedSeq: number, outcome: UploadOutcome) =>
        testIngest.commit(aChange(id, expectedSeq, { upload: outcome }), NOON);
      await uploadWork.delay(upload.id, { trouble: 'The disk is full.', retryAt: NOON });
      assert.equal((await uploads.find(upload.id))?.trouble, 'The disk is full.');
      assert.equal(await commit(0, part), 1);
      assert.equal(await commit(1, part), undefined);
      const { uploadId: _1, ...ofPart } = part;
      assert.deepEqual(await uploads.find(upload.id), { ...upload, ...ofPart, attempts: 1 });
      const end = anOutcome(upload.id, {
        ...{ partsDone: 2, issues: [{ level: 'info', file: null, line: null, message: 'm', hint: '' }] },
      });
      assert.equal(await commit(1, end), 2);
      const { uploadId: _2, ...ofEnd } = end;
      assert.deepEqual(await uploads.find(upload.id), { ...upload, ...ofEnd, fields, attempts: 1 });
      assert.equal(await commit(2, { ...end, partsDone: 3 }), undefined);
      assert.equal(await commit(2, anOutcome('unknown')), undefined);
      const skipped = await uploads.create(anUpload(id), 0);
      await uploadWork.finish(anOutcome(skipped.id, { status: 'SKIPPED', partsDone: 0 }));
      assert.equal((await uploads.find(skipped.id))?.status, 'SKIPPED');
    },
  );

  inRepository(
    'an upload that another has ended stays as that one left it [D8]',
    async ({ uploads, uploadWork, testIngest, id }) => {
      const upload = await uploads.create(anUpload(id), 0);
      const end = anOutcome(upload.id, { testRuns: 9 });
      assert.equal(await testIngest.commit(aChange(id, 0, { upload: end }), NOON), 1);
      await uploadWork.finish(anOutcome(upload.id, { status: 'FAILED', partsDone: 0, testRuns: 0 }));
      const found = await uploads.find(upload.id);
      assert.deepEqual([found?.status, found?.partsDone, found?.testRuns], ['PROCESSED', 1, 9]);
      await uploadWork.finish(anOutcome('unknown'));
    },
  );

  inRepository('an ended upload is processed again while its body is there', async ({ uploads, uploadWork, id }) => {
    const upload = await uploads.create(anUpload(id), 0);
    assert.equal(await uploads.processAgain(upload.id), false);
    await uploadWork.finish(anOutcome(upload.id, { status: 'FAILED', partsDone: 0 }));
    assert.equal(await uploads.processAgain(upload.id), true);
    const again = await uploads.find(upload.id);
    assert.deepEqual([again?.status, again?.processedAt, again?.attempts], ['ACCEPTED', null, 0]);
    const bare = await uploads.create(anUpload(id, { bodyId: null, status: 'FAILED' }), 0);
    assert.equal(await uploads.processAgain(bare.id), false);
    assert.equal(await uploads.processAgain('unknown'), false);
  });
}

function listPromises({ inRepository }: StoreTests): void {
  inRepository('uploads are listed newest first, as of the watermark', async ({ uploads, id }) => {
    assert.equal(await uploads.getWatermark(id), 0);
    const made: Upload[] = [];
    for (let n = 0; n < 5; n++) made.push(await uploads.create(anUpload(id, { receivedAt: NOON - n }), 0));
    const ids = async (watermark: number, offset: number) => {
      const list = await uploads.list({ repositoryId: id, watermark, offset, limit: 2 });
      return [list.totalRows, ...list.uploads.map((upload) => made.findIndex((other) => other.id === upload.id))];
    };
    assert.equal(await uploads.getWatermark(id), 5);
    assert.deepEqual(await ids(5, 0), [5, 4, 3]);
    assert.deepEqual(await ids(4, 1), [4, 2, 1]);
    assert.deepEqual(await ids(4, 9), [4]);
  });

  inRepository('it is known whether results of a check are still to come', async ({ uploads, uploadWork, id }) => {
    const upload = await uploads.create(anUpload(id, { fields: someFields({ candidateId: 'c', check: 'unit' }) }), 0);
    assert.equal(await uploads.hasWaiting(id, 'c', 'unit'), true);
    assert.equal(await uploads.hasWaiting(id, 'c', 'lint'), false);
    assert.equal(await uploads.hasWaiting(id, 'd', 'unit'), false);
    await uploadWork.finish(anOutcome(upload.id));
    assert.equal(await uploads.hasWaiting(id, 'c', 'unit'), false);
  });

  inRepository('an upload that names no candidate may turn out to be of any [V58]', async ({ uploads, id }) => {
    const { receivedAt } = await uploads.create(anUpload(id, { fields: someFields({ candidateId: null }) }), 0);
    assert.equal(await uploads.hasWaiting(id, 'c', 'unit'), false);
    assert.equal(await uploads.hasWaiting(id, 'c', 'unit', receivedAt - 1), false);
    assert.equal(await uploads.hasWaiting(id, 'c', 'unit', receivedAt), true);
  });
}

/** Over all repositories, so each in a store of its own. */
export function wholeUploadPromises(open: () => Promise<OpenStore>): void {
  test('the repositories of which an upload can be claimed are listed, the one that waits longest first [U41]', async (t) => {
    const { store, close } = await open();
    t.after(close);
    const { uploads, uploadWork } = store;
    const [a, b, c] = [await storeRepository(store), await storeRepository(store), await storeRepository(store)];
    const list = async (holder: string, now = NOON) =>
      (await uploadWork.listClaimable(holder, now, now + 10)).map(({ repositoryId }) => repositoryId);
    assert.deepEqual(await list('x'), []);
    const first = await uploads.create(anUpload(a.id, { receivedAt: NOON - 3 }), 0);
    await uploads.create(anUpload(a.id, { receivedAt: NOON - 9 }), 0);
    const other = await uploads.create(anUpload(b.id, { receivedAt: NOON - 4 }), 0);
    await uploads.create(anUpload(c.id, { receivedAt: NOON - 2, status: 'PENDING' }), 0);
    assert.deepEqual(await uploadWork.listClaimable('x', NOON, NOON + 10), [
      { repositoryId: b.id, organizationId: b.organizationId },
      { repositoryId: a.id, organizationId: a.organizationId },
    ]);
    assert.equal((await uploadWork.claim('x', NOON, NOON + 10, a.id))?.id, first.id);
    assert.deepEqual(await list('x'), [b.id, a.id]);
    assert.deepEqual(await list('y'), [b.id]);
    assert.deepEqual(await list('y', NOON + 10), [b.id, a.id]);
    // One in trouble holds up those behind it.
    await uploadWork.delay(other.id, { trouble: 'Later.', retryAt: NOON + 5 });
    assert.deepEqual(await list('x'), [a.id]);
    assert.equal(await uploadWork.claim('x', NOON, NOON + 10, b.id), undefined);
    assert.deepEqual(await list('x', NOON + 5), [b.id, a.id]);
    await uploadWork.finish(anOutcome(first.id));
    assert.deepEqual(await list('x'), [a.id]);
  });

  test('the oldest waiting upload is claimed, one repository at a time [D8]', async (t) => {
    const { store, close } = await open();
    t.after(close);
    const { uploads, uploadWork } = store;
    const [a, b] = [await storeRepository(store), await storeRepository(store)];
    assert.deepEqual(await uploadWork.measure(), { waiting: 0, oldestAt: null });
    assert.equal(await uploadWork.claim('x', NOON, NOON + 10), undefined);
    const second = await uploads.create(anUpload(a.id, { receivedAt: NOON - 1 }), 0);
    const late = await uploads.create(anUpload(a.id, { receivedAt: NOON - 9 }), 0);
    const first = await uploads.create(anUpload(b.id, { receivedAt: NOON - 2 }), 0);
    assert.deepEqual(await uploadWork.measure(), { waiting: 3, oldestAt: NOON - 9 });
    const waiting = [{ repositoryId: a.id, waiting: 2 }];
    assert.deepEqual(await uploads.countWaiting([a.id, a.id]), waiting);
    assert.equal((await uploadWork.claim('x', NOON, NOON + 10))?.id, first.id);
    assert.equal(await uploadWork.claim('y', NOON, NOON + 10, b.id), undefined);
    assert.equal((await uploadWork.claim('y', NOON, NOON + 10))?.id, second.id);
    assert.equal((await uploadWork.findSecond(a.id))?.id, late.id);
    assert.equal(await uploadWork.findSecond(b.id), undefined);
    assert.equal(await uploadWork.claim('z', NOON, NOON + 10), undefined);
    // Its own, again; and another's once the lease is over.
    assert.equal((await uploadWork.claim('y', NOON, NOON + 20))?.id, second.id);
    assert.equal(await uploadWork.claim('z', NOON + 9, NOON + 30), undefined);
    assert.equal((await uploadWork.claim('z', NOON + 10, NOON + 30))?.id, first.id);
    assert.equal(await uploadWork.renew('x', b.id, NOON + 99), false);
    await uploadWork.release('x', b.id);
    assert.equal(await uploadWork.renew('z', b.id, NOON + 40), true);
    await uploadWork.finish(anOutcome(second.id));
    await uploadWork.release('y', a.id);
    assert.equal((await uploadWork.claim('x', NOON + 11, NOON + 20))?.id, late.id);
    await uploadWork.delay(late.id, { trouble: 'why', retryAt: NOON + 50 });
    await uploads.create(anUpload(a.id), 0);
    assert.equal(await uploadWork.claim('x', NOON + 39, NOON + 41), undefined);
    await uploadWork.release('z', b.id);
    assert.equal((await uploadWork.claim('x', NOON + 39, NOON + 41))?.id, first.id);
    await uploadWork.finish(anOutcome(first.id));
    assert.equal((await uploadWork.claim('x', NOON + 50, NOON + 60))?.id, late.id);
    // One after the other under the same lease, which ends when it was said to at the latest.
    await uploadWork.finish(anOutcome(late.id));
    const next = await uploadWork.claim('x', NOON + 51, NOON + 61);
    assert.equal(next?.fields?.branch, 'main');
    assert.equal(await uploadWork.claim('y', NOON + 59, NOON + 99), undefined);
    assert.equal((await uploadWork.claim('y', NOON + 61, NOON + 99))?.id, next?.id);
  });

  test('a lease of a server whose clock is far ahead holds nobody up [D8]', async (t) => {
    const { store, close } = await open();
    t.after(close);
    const { uploads, uploadWork } = store;
    const { id } = await storeRepository(store);
    const upload = await uploads.create(anUpload(id), 0);
    const tomorrow = NOON + DAY_MS;
    assert.equal((await uploadWork.claim('ahead', tomorrow, tomorrow + 10))?.id, upload.id);
    assert.equal((await uploadWork.claim('x', NOON, NOON + 10))?.id, upload.id);
    assert.equal(await uploadWork.claim('y', NOON, NOON + 10), undefined);
    assert.equal(await uploadWork.renew('ahead', id, tomorrow + 20), false);
  });

  test('bodies and uploads are tidied away when they are old or too large together', async (t) => {
    const { store, close } = await open();
    t.after(close);
    const { uploads, uploadBodies, uploadWork } = store;
    const { id } = await storeRepository(store);
    const make = async (values: Partial<Upload>, bytes: number) => {
      const upload = anUpload(id, values);
      if (upload.bodyId !== null) await uploadBodies.append(upload.bodyId, 0, Buffer.alloc(bytes, 'x'), NOON);
      return uploads.create(upload, 0);
    };
    const old = await make({ status: 'PROCESSED', receivedAt: NOON - 9 * DAY_MS }, 3);
    const waiting = await make({ receivedAt: NOON - 9 * DAY_MS }, 100);
    const ancient = await make({ status: 'FAILED', receivedAt: NOON - 90 * DAY_MS }, 3);
    const [large, small] = [
      await make({ status: 'SKIPPED', receivedAt: NOON - 5 }, 60),
      await make({ status: 'PROCESSED', receivedAt: NOON - 4 }, 50),
    ];
    const asked = await make({ status: 'PENDING', bodyId: null, receivedAt: NOON - DAY_MS - 1 }, 0);
    const justAsked = await make({ status: 'PENDING', bodyId: null, receivedAt: NOON - DAY_MS + 1 }, 0);
    await uploadBodies.append('unnamed-old', 0, Buffer.from('x'), NOON - HOUR_MS - 1);
    await uploadBodies.append('unnamed-new', 0, Buffer.from('xy'), NOON - HOUR_MS + 1);
    const of = { now: NOON, bodiesBefore: NOON - 7 * DAY_MS, uploadsBefore: NOON - 60 * DAY_MS, maxBytes: 155 };
    assert.ok((await uploadWork.tidy(of)) > 0);
    const sizes = async (upload: Upload) => {
      const found = await uploads.find(upload.id);
      return [found?.bodyId != null, (await readText(store, upload.bodyId ?? '', 0)).length];
    };
    assert.deepEqual(await sizes(old), [false, 0]);
    assert.deepEqual(await sizes(waiting), [true, 100]);
    assert.deepEqual(await sizes(large), [false, 0]);
    assert.deepEqual(await sizes(small), [true, 50]);
    assert.equal(await uploads.find(ancient.id), undefined);
    assert.equal(await uploads.find(asked.id), undefined);
    assert.deepEqual(await uploads.find(justAsked.id), justAsked);
    assert.equal(await readText(store, 'unnamed-old', 0), '');
    assert.equal(await readText(store, 'unnamed-new', 0), 'xy');
    assert.equal(await uploadWork.tidy(of), 0);
    assert.equal(await uploadWork.tidy({ ...of, now: NEVER, maxBytes: 0 }), 3);
  });
}
