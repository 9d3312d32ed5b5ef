import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pluck } from '../../../../test/helpers/pluck.ts';
import { ManualClock } from '../../../../test/worlds/shell/manual-clock.ts';
import { Fault } from '../../../lib/fault.ts';
import { isKnownNotApplied } from '../../known-not-applied.ts';
import { type AnswerFacts, Budget, limitedUntil, type Need } from './budget.ts';

const READ: Need = { urgency: 'read', resource: 'core', isAct: false };
const PAGE: Need = { urgency: 'page', resource: 'core', isAct: true };
const LAND: Need = { urgency: 'land', resource: 'core', isAct: true };

function world(options: { readonly maxWaitMs?: number } = {}) {
  const clock = new ManualClock();
  const budget = new Budget({ clock, ...options });
  const started: string[] = [];
  const ask = (name: string, need: Need, answer: AnswerFacts = fine()) =>
    budget.take(need).then((turn) => {
      started.push(name);
      return turn.end(answer);
    });
  return { clock, budget, started, ask };
}

function fine(headers: AnswerFacts['headers'] = {}): AnswerFacts {
  return { status: 200, headers, message: '' };
}

function left(clock: ManualClock, remaining: number, resetInMs: number, limit = 5_000): AnswerFacts['headers'] {
  const reset = Math.floor((clock.now() + resetInMs) / 1_000);
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(reset),
    'x-ratelimit-resource': 'core',
  };
}

async function learn(budget: Budget, answer: AnswerFacts): Promise<boolean> {
  return (await budget.take(READ)).end(answer);
}

describe('the budget of calls to GitHub', () => {
  it('comments wait first, then reads, and landings last [G8]', async () => {
    const { clock, budget, started, ask } = world();
    await learn(budget, fine(left(clock, 700, 20_000)));
    void ask('page', PAGE);
    await ask('read', READ, fine(left(clock, 200, 20_000)));
    void ask('read again', READ);
    await ask('land', LAND, fine(left(clock, 200, 20_000)));
    assert.deepEqual(started, ['read', 'land']);
    await clock.pass(25_000);
    assert.deepEqual(started.slice(2).toSorted(), ['page', 'read again']);
  });

  it('a used-up limit is waited for, and calls go on in order of urgency [G103]', async () => {
    const { clock, budget, started, ask } = world();
    await learn(budget, fine(left(clock, 0, 10_000)));
    const all = [ask('page', PAGE), ask('read', READ), ask('land', LAND)];
    await clock.pass(5_000);
    assert.deepEqual(started, []);
    await clock.pass(8_000);
    await Promise.all(all);
    assert.deepEqual(started, ['land', 'read', 'page']);
  });

  it('a wait that is too long for a question is refused at once, with its end [G103]', async () => {
    const { clock, budget, ask } = world();
    await learn(budget, fine(left(clock, 0, 40 * 60_000)));
    const until = clock.now() + 40 * 60_000 + 1_000;
    await assert.rejects(ask('read', READ), (error: unknown) => {
      assert.ok(error instanceof Fault);
      assert.equal(error.code, 'FORGE_UNAVAILABLE');
      assert.equal(error.detail, "GitHub's rate limit for this installation is used up until 12:40 UTC.");
      assert.equal(limitedUntil(error), until);
      assert.ok(isKnownNotApplied(error));
      return true;
    });
  });

  it('a refusal says that only much waits where no limit is the reason [G9]', async () => {
    const { clock, ask } = world();
    const all = Array.from({ length: 31 }, (_, index) => ask(`page ${index}`, PAGE));
    await assert.rejects(ask('one more', PAGE), (error: unknown) => {
      assert.ok(error instanceof Fault);
      assert.equal(error.detail, 'More waits to be said on GitHub than can be before 12:00 UTC.');
      assert.ok(isKnownNotApplied(error));
      return limitedUntil(error) === undefined;
    });
    await clock.pass(40_000);
    await Promise.all(all);
  });

  it('a secondary limit stops everybody for as long as GitHub says, or for a minute [G103]', async () => {
    const { clock, budget, started, ask } = world();
    const refused = {
      status: 403,
      headers: { 'retry-after': '7' },
      message: 'You have exceeded a secondary rate limit',
    };
    assert.equal(await learn(budget, refused), true);
    const asked = ask('land', LAND);
    await clock.pass(6_900);
    assert.deepEqual(started, []);
    await clock.pass(200);
    await asked;
    assert.deepEqual(started, ['land']);
    await learn(budget, { status: 429, headers: {}, message: '' });
    await assert.rejects(ask('too long', LAND), /rate limit/);
  });

  it('comments wait ever longer at secondary limits, and nothing else does [G104]', async () => {
    const { clock, budget, started, ask } = world();
    const refused = { status: 403, headers: {}, message: 'You have exceeded a secondary rate limit' };
    for (const minutes of [1, 2, 4, 8, 15, 15]) {
      // Two requests in flight at once are refused at once.
      const turns = [await budget.take(PAGE)];
      const other = budget.take(PAGE);
      await clock.pass(1_000);
      turns.push(await other);
      for (const turn of turns) turn.end(refused);
      await clock.pass(60_000);
      await ask('land', LAND);
      if (minutes > 1) await assert.rejects(ask('page', PAGE), /rate limit/);
      await clock.pass((minutes - 1) * 60_000);
    }
    assert.equal(started.length, 6);
    await ask('page', PAGE);
    const turn = budget.take(PAGE);
    await clock.pass(1_000);
    (await turn).end(refused);
    await clock.pass(60_000);
    await ask('page again', PAGE);
  });

  it('a limit that is refilled by our clock and not by GitHub’s is asked for again only now and then [G103]', async () => {
    const { clock, budget, started, ask } = world();
    const headers = left(clock, 0, -40_000);
    assert.equal(await learn(budget, { status: 403, headers, message: 'API rate limit exceeded' }), true);
    const asked = ask('land', LAND);
    await clock.pass(9_000);
    assert.deepEqual(started, []);
    await clock.pass(2_000);
    await asked;
    assert.deepEqual(started, ['land']);
  });

  it('GraphQL says with a status of 200 that it is limited', async () => {
    const { clock, budget } = world();
    const headers = { ...left(clock, 0, 5_000), 'x-ratelimit-resource': 'graphql' };
    const turn = await budget.take({ urgency: 'read', resource: 'graphql', isAct: false });
    assert.equal(turn.end({ status: 200, headers, message: '', isLimited: true }), true);
    assert.deepEqual(pluck(budget.limits(), 'resource', 'remaining'), [['graphql', 0]]);
    await learn(budget, fine());
  });

  it('a 403 that is about permissions is no limit', async () => {
    const { clock, budget } = world();
    const answer = { status: 403, headers: left(clock, 10, 5_000), message: 'Resource not accessible by integration' };
    assert.equal(await learn(budget, answer), false);
  });

  it('a second lies between two things that people are told, and merges do not wait for it [G9]', async () => {
    const { clock, started, ask } = world();
    const all = ['a', 'b', 'c'].map((name) => ask(name, PAGE));
    await ask('merge', LAND);
    await ask('look', { ...PAGE, isAct: false });
    assert.deepEqual(started, ['a', 'merge', 'look']);
    await clock.pass(1_000);
    assert.deepEqual(started, ['a', 'merge', 'look', 'b']);
    await clock.pass(1_000);
    await Promise.all(all);
    assert.deepEqual(started.at(-1), 'c');
  });

  it('a write that would wait longer than half a minute is refused, to be told later', async () => {
    const { clock, started, ask } = world();
    const results = Array.from({ length: 40 }, (_, index) =>
      ask(String(index), PAGE).then(
        () => 'told',
        () => 'later',
      ),
    );
    await clock.pass(60_000);
    const told = (await Promise.all(results)).filter((result) => result === 'told').length;
    assert.equal(told, started.length);
    assert.ok(told >= 30 && told < 40);
  });

  it('answers that overtake each other give no used calls back', async () => {
    const { clock, budget } = world();
    const turns = [await budget.take(READ), await budget.take(READ)];
    turns[0]?.end(fine(left(clock, 40, 60_000)));
    turns[1]?.end(fine(left(clock, 41, 60_000)));
    assert.deepEqual(pluck(budget.limits(), 'remaining'), [40]);
  });

  it('at most twenty requests are under way at once', async () => {
    const { clock, budget } = world();
    const turns = await Promise.all(Array.from({ length: 20 }, () => budget.take(READ)));
    let isStarted = false;
    const further = budget.take(READ).then(() => {
      isStarted = true;
    });
    await clock.pass(1);
    assert.equal(isStarted, false);
    turns[0]?.end(undefined);
    await further;
    assert.equal(isStarted, true);
  });

  it('every waiting request is refused when the server stops', async () => {
    const { clock, budget, ask } = world();
    await learn(budget, fine(left(clock, 0, 10_000)));
    const asked = ask('read', READ);
    budget.close();
    await assert.rejects(asked, { code: 'SHUTTING_DOWN' });
    await assert.rejects(ask('another', READ), { code: 'SHUTTING_DOWN' });
  });
});
