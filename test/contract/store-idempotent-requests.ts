import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { NewIdempotentRequest } from '../../src/storage/idempotent-requests.ts';
import type { StoreTests } from './store-fixture.ts';

function aRequest(values: Partial<NewIdempotentRequest> = {}): NewIdempotentRequest {
  return { tokenId: randomUUID(), key: 'k', digest: 'd', startedAt: 1_000, ...values };
}

const LIMITS = { expiredBefore: 500, abandonedBefore: 900 };

export function idempotentRequestPromises({ inStore }: StoreTests): void {
  inStore('a key is that of its first request, and then of its answer', async ({ idempotentRequests: requests }) => {
    const first = aRequest();
    assert.equal(await requests.begin(first, LIMITS), undefined);
    const second = { ...first, digest: 'other', startedAt: 1_001 };
    assert.deepEqual(await requests.begin(second, LIMITS), { ...first, answer: null });
    await requests.finish(first, '{"é":1}');
    assert.deepEqual(await requests.begin(second, LIMITS), { ...first, answer: '{"é":1}' });
    await requests.finish(first, '{}');
    await requests.release(first);
    assert.deepEqual(await requests.begin(second, LIMITS), { ...first, answer: '{"é":1}' });
  });

  inStore('tokens and keys are apart', async ({ idempotentRequests: requests }) => {
    const first = aRequest();
    assert.equal(await requests.begin(first, LIMITS), undefined);
    assert.equal(await requests.begin({ ...first, key: 'K' }, LIMITS), undefined);
    assert.equal(await requests.begin({ ...first, tokenId: randomUUID() }, LIMITS), undefined);
  });

  inStore('of many at once one begins', async ({ idempotentRequests: requests }) => {
    const first = aRequest();
    const answers = await Promise.all(Array.from({ length: 8 }, () => requests.begin(first, LIMITS)));
    assert.equal(answers.filter((answer) => answer === undefined).length, 1);
  });

  inStore('a released key is free', async ({ idempotentRequests: requests }) => {
    const first = aRequest();
    await requests.begin(first, LIMITS);
    await requests.release({ ...first, startedAt: 999 });
    assert.notEqual(await requests.begin(first, LIMITS), undefined);
    await requests.release(first);
    assert.equal(await requests.begin(first, LIMITS), undefined);
  });

  inStore('an abandoned request, and an expired answer, make room', async ({ idempotentRequests: requests }) => {
    const [abandoned, answered, expired] = [700, 700, 400].map((startedAt) => aRequest({ startedAt })) as [
      NewIdempotentRequest,
      NewIdempotentRequest,
      NewIdempotentRequest,
    ];
    for (const request of [abandoned, answered, expired]) await requests.begin(request, LIMITS);
    for (const request of [answered, expired]) await requests.finish(request, '{}');
    const again = (request: NewIdempotentRequest) => requests.begin({ ...request, startedAt: 1_000 }, LIMITS);
    assert.equal(await again(abandoned), undefined);
    assert.deepEqual(await again(answered), { ...answered, answer: '{}' });
    assert.equal(await again(expired), undefined);
    // The server that was slow comes too late.
    await requests.finish(abandoned, '{"late":true}');
    assert.equal((await again(abandoned))?.answer, null);
  });

  inStore('old requests are removed', async ({ idempotentRequests: requests }) => {
    const [old, young] = [aRequest({ startedAt: 10 }), aRequest({ startedAt: 20 })];
    for (const request of [old, young]) await requests.begin(request, { expiredBefore: 0, abandonedBefore: 0 });
    assert.ok((await requests.tidy(20)) >= 1);
    const limits = { expiredBefore: 0, abandonedBefore: 0 };
    assert.equal(await requests.begin(old, limits), undefined);
    assert.notEqual(await requests.begin(young, limits), undefined);
  });
}
