import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { BodyBudget } from './body-budget.ts';
import { HttpProblem } from './problem.ts';
import { type BodyReading, type ReadBody, readBody, takeArrived } from './read-body.ts';

const MIB = 1024 * 1024;

/** A request whose bytes arrive when the test writes them. */
function arriving(headers: Record<string, string> = {}): PassThrough & IncomingMessage {
  return Object.assign(new PassThrough(), { headers }) as never;
}

function reading(request: IncomingMessage, options: Partial<BodyReading> & { budget: BodyBudget }): Promise<ReadBody> {
  return new Promise((resolve, reject) => {
    readBody(request, { timeoutMs: 60_000, owner: 'a', ...options }, (error, body) =>
      body === undefined ? reject(error) : resolve(body),
    );
  });
}

/** A full budget whose extra slot is taken. */
function fullBudget(): { budget: BodyBudget; release: () => void } {
  const budget = new BodyBudget();
  const held = [1, 2, 3].map(() => budget.hold('greedy', () => undefined));
  for (const body of held) body.add(20 * MIB);
  const release = (): void => {
    for (const body of held) body.release();
  };
  return { budget, release };
}

const isCode = (code: string) => (error: unknown) => error instanceof HttpProblem && error.code === code;

describe('reading a body', () => {
  it('waits where bodies fill the memory, and goes on when there is room [H14]', async () => {
    const { budget, release } = fullBudget();
    const request = arriving();
    const body = reading(request, { budget });
    request.write(Buffer.alloc(MIB, 'x'));
    while (!request.isPaused()) await new Promise((resolve) => setImmediate(resolve));
    request.end(Buffer.alloc(MIB, 'y'));
    release();
    assert.equal((await body).take().length, 2 * MIB);
  });

  it('is given up with a sentence where no room came in time [H31]', async () => {
    const { budget, release } = fullBudget();
    const request = arriving();
    const body = reading(request, { budget, timeoutMs: 1 });
    request.write(Buffer.alloc(MIB, 'x'));
    await assert.rejects(body, isCode('UNAVAILABLE'));
    release();
  });

  it('lets go of the memory of a body that is refused in the middle [H14]', async () => {
    const budget = new BodyBudget();
    for (let count = 0; count < 10; count += 1) {
      const request = arriving();
      let pieces = 0;
      const inspect = (): void => {
        pieces += 1;
        if (pieces === 2) throw new HttpProblem('MALFORMED_JSON', 'Enough.');
      };
      const body = reading(request, { budget, inspect });
      for (let sent = 0; sent < 2; sent += 1) request.write(Buffer.alloc(9 * MIB));
      await assert.rejects(body, isCode('MALFORMED_JSON'));
    }
    const last = arriving();
    const body = reading(last, { budget });
    last.end(Buffer.alloc(20 * MIB));
    assert.equal((await body).take().length, 20 * MIB);
  });
});

describe('a body that came with its headers', () => {
  function arrived(body: string, headers: Record<string, string>): Buffer | undefined {
    const request = arriving(headers);
    request.write(body);
    return takeArrived(request);
  }

  it('is taken at once if it is whole and small', () => {
    assert.equal(arrived('{"a":1}', { 'content-length': '7' })?.toString(), '{"a":1}');
  });

  for (const [what, body, headers] of [
    ['a half', '{"a":', { 'content-length': '7' }],
    ['one of unknown length', '{"a":1}', { 'transfer-encoding': 'chunked' }],
    ['an empty one', '', { 'content-length': '0' }],
    ['a large one', 'x'.repeat(16_385), { 'content-length': '16385' }],
    ['a compressed one', '{"a":1}', { 'content-length': '7', 'content-encoding': 'gzip' }],
  ] as const) {
    it(`is left where it is: ${what}`, () => {
      assert.equal(arrived(body, headers), undefined);
    });
  }
});
