import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { showProgress } from './backup.ts';

function createStream(isTTY: boolean) {
  const written: string[] = [];
  return { isTTY, written, write: (text: string) => written.push(text) > 0 };
}

describe('the progress of a backup', () => {
  it('is a line of a terminal that is erased at the end [W30]', async () => {
    const stream = createStream(true);
    const { promise, resolve } = Promise.withResolvers<string>();
    const answers = [{ copiedPages: 256, totalPages: 1024 }, undefined];
    const ask = async () => {
      if (answers.length === 1) resolve('done');
      return answers.shift();
    };
    assert.equal(await showProgress(promise, ask, stream), 'done');
    assert.deepEqual(stream.written, ['\r\u001b[K256 of 1024 pages (25%)', '\r\u001b[K']);
  });

  it('is not shown in a pipe, and a server that cannot say it does no harm [W30]', async () => {
    const pipe = createStream(false);
    assert.equal(await showProgress(Promise.resolve(1), () => assert.fail(), pipe), 1);
    assert.deepEqual(pipe.written, []);
    const { promise, reject } = Promise.withResolvers<never>();
    const ask = async () => {
      reject(new Error('refused'));
      throw new Error('no answer');
    };
    await assert.rejects(showProgress(promise, ask, createStream(true)), /refused/);
  });
});
