import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { CandidateBench, lines } from '../../../test/contract/forge-bench.ts';
import { createPlainWorld } from '../../../test/contract/plain-repository.ts';
import { madeForEach } from '../../../test/helpers/made.ts';
import { createGit } from '../../git/create-git.ts';
import type { GitRepository } from '../../git/git.ts';
import type { Sha } from '../../lib/sha.ts';
import type { CandidateEntry, LandAnswer, LandRequest } from '../forge.ts';
import { landCandidate } from './land.ts';

/** An upper bound on the git calls of one landing. */
const MAX_QUESTIONS = 60;

describe('a landing that somebody gets in the way of', () => {
  const bench = madeForEach(() => CandidateBench.create(createPlainWorld));
  let git: ReturnType<typeof createGit>;

  beforeEach(async () => {
    git = createGit({ directory: join(bench.world.folder, 'kept') });
  });
  afterEach(async () => {
    await git.close();
    await bench.world.close();
  });

  const head = async () => (await bench.git('rev-parse', 'refs/heads/main')) as Sha;

  async function ask(entry: CandidateEntry, more: Partial<LandRequest> = {}): Promise<LandRequest> {
    const tested = await bench.build([entry]);
    const how = { isCalledOff: false, composedWith: [], landingMode: 'PUSH' } as const;
    return { ...tested, ...how, expectedHead: tested.base, entries: tested.members, ...more };
  }

  /** Lands the candidate, and calls `meddle` just before the git call with this number. */
  async function land(request: LandRequest, at = 0, meddle = async () => {}): Promise<LandAnswer> {
    const repository = await git.open({ id: 'app', location: { kind: 'path', path: bench.world.path } });
    let asked = 0;
    const watched = new Proxy(repository, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return async (...args: readonly unknown[]) => {
          asked += 1;
          if (asked === at) await meddle();
          return Reflect.apply(method, target, args) as unknown;
        };
      },
    }) as GitRepository;
    // A landing that meets another writer's lock throws, and the effect worker retries it.
    return landCandidate(watched, request).catch(() => landCandidate(watched, request));
  }

  /** Runs one landing per git call. `meddle` answers the head that the target branch must have, if any. */
  async function landAtEveryMoment(
    meddle: (entry: CandidateEntry) => Promise<Sha | undefined>,
    check: (seen: {
      readonly request: LandRequest;
      readonly answer: LandAnswer;
      readonly foreign: Sha | undefined;
      readonly headThen: Sha;
    }) => Promise<void>,
  ): Promise<void> {
    for (let at = 1; at <= MAX_QUESTIONS; at += 1) {
      bench.base = await head();
      const entry = await bench.open(`A${at}`, { files: { [`only-${at}`]: 'a\n' } });
      const request = await ask(entry);
      let foreign: Sha | undefined;
      let headThen: Sha | undefined;
      const answer = await land(request, at, async () => {
        headThen = await head();
        foreign = await meddle(entry);
      });
      if (headThen === undefined) return;
      await check({ request, answer, foreign, headThen });
    }
    assert.fail('a landing asks more of git than this test knows of');
  }

  it('a landing never takes a push of somebody else off the target, at any moment [L1]', async () => {
    let count = 0;
    const push = () => {
      count += 1;
      return bench.world.commit('main', { files: { [`foreign-${count}`]: 'x\n' } });
    };
    await landAtEveryMoment(push, async ({ request, answer, foreign, headThen }) => {
      const line = (await bench.git('rev-list', '--first-parent', `${request.expectedHead}..main`)).split('\n');
      assert.ok(line.includes(foreign as Sha), `it is lost: ${JSON.stringify(answer)}`);
      assert.equal(answer.kind, headThen === request.expectedHead ? 'target_moved' : 'landed');
    });
  });

  it('a landing lands no commit that its pull request has left, at any moment [L6]', async () => {
    const push = async ({ prNumber }: CandidateEntry) => {
      await bench.world.pushToPullRequest(prNumber, { files: { [`more-${prNumber}`]: 'not tested\n' } });
      return undefined;
    };
    await landAtEveryMoment(push, async ({ request, answer, headThen }) => {
      const isBefore = headThen === request.expectedHead;
      assert.equal(answer.kind, isBefore ? 'pull_request_moved' : 'landed');
      assert.equal((await head()) === request.expectedHead, isBefore);
    });
  });

  it('a landing composes only changes that share no path with those that landed since [L20] [L4]', async () => {
    for (const [index, isShared] of [true, false, true, false].entries()) {
      bench.base = await head();
      const file = isShared ? 'a.txt' : `own-${index}.txt`;
      // The two edits are far apart in one file, so git merges them without a conflict.
      const left = await bench.open('L', { files: { 'a.txt': lines({ 2: `left ${index}` }) } });
      const right = await bench.open('R', { files: { [file]: lines({ 35: `right ${index}` }) } });
      const request = await ask(right, { composedWith: [left.prNumber] });
      assert.equal((await land(await ask(left))).kind, 'landed');
      const answer = await land({ ...request, expectedHead: await head() });
      assert.equal(answer.kind, isShared ? 'not_composable' : 'landed', JSON.stringify(answer));
    }
  });
});
