import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { pullsOnGitea, REPOSITORY, shaOf } from '../../../test/helpers/pulls-on-gitea.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Sha } from '../../lib/sha.ts';
import type { LandRequest } from '../forge.ts';
import { findPullRequest } from './facts.ts';
import { createLandedPulls } from './landed-pulls.ts';
import { createMerging } from './merging.ts';
import { settleLanded } from './settle-landed.ts';

const NUMBERS = [1, 2, 3].map((number) => number as PrNumber);

/** Four open pull requests, of which three are about to land with one push. */
async function aLanding(t: TestContext) {
  const gitea = await pullsOnGitea(t, 4);
  const { tools, calls } = gitea;
  const landed = createLandedPulls(tools);
  const entries = NUMBERS.map((prNumber) => ({ prNumber, headSha: shaOf(prNumber) }));
  const request = { repository: REPOSITORY, targetBranch: 'main', entries } as unknown as LandRequest;
  const settle = async (numbers: readonly PrNumber[] = NUMBERS) => {
    calls.length = 0;
    const requests = numbers.map((number) => ({
      ...{
        repository: REPOSITORY,
        number,
        headSha: shaOf(number),
        landedSha: shaOf(100 + number),
        mergeMethod: 'SQUASH' as const,
      },
    }));
    await Promise.all(requests.map((each) => settleLanded({ client: tools.client, landed }, each)));
    return calls.filter((call) => call !== '');
  };
  return { ...gitea, landed, settle, land: () => createMerging({ ...tools, landed }).findOpenStates(request) };
}

const MARKED = NUMBERS.map((number) => `POST /pulls/${number}/merge`);

describe('pull requests that landed', () => {
  it('landed pull requests are marked by the facts of their landing, and read again for a second attempt [G167]', async (t) => {
    const { land, settle, calls } = await aLanding(t);
    await land();
    assert.deepEqual(calls, ['/pulls']);
    assert.deepEqual((await settle()).toSorted(), MARKED);
    assert.deepEqual((await settle()).toSorted(), ['/pulls', ...MARKED].toSorted());
  });

  it('landed pull requests are read again after ten seconds, and by a server that did not land them [G167]', async (t) => {
    const { land, settle, pass, pulls } = await aLanding(t);
    await land();
    pass(10_001);
    (pulls[1] as { head: object }).head = { ref: 'b2', sha: shaOf(9), repo_id: 5 };
    const isMarked = (await settle()).toSorted();
    assert.deepEqual(isMarked, ['/pulls', 'POST /pulls/1/merge', 'POST /pulls/3/merge'].toSorted());
    const another = await aLanding(t);
    assert.deepEqual(await another.settle([2 as PrNumber]), ['/pulls/2', 'POST /pulls/2/merge']);
  });

  it('landed pull requests are read again where a webhook tells of another head, also while the marking waits [G167]', async (t) => {
    const { land, settle, landed, pulls } = await aLanding(t);
    const tell = (number: PrNumber, headSha: Sha) =>
      landed.observe({ kind: 'pull_request', key: 'k', owner: 'Acme', name: 'app', number, headSha });
    await land();
    (pulls[1] as { head: object }).head = { ref: 'b2', sha: shaOf(9), repo_id: 5 };
    const settling = settle();
    tell(NUMBERS[0] as PrNumber, shaOf(1));
    tell(NUMBERS[1] as PrNumber, shaOf(9));
    assert.deepEqual(
      (await settling).toSorted(),
      ['/pulls/2', 'POST /pulls/1/merge', 'POST /pulls/3/merge'].toSorted(),
    );
  });

  it('landed pull requests are read again where Gitea did not show the tested head yet [G167]', async (t) => {
    const { land, settle, pulls } = await aLanding(t);
    const first = pulls[0] as { head: object };
    const { head } = first;
    first.head = { ref: 'b1', sha: shaOf(8), repo_id: 5 };
    await land();
    first.head = head;
    assert.deepEqual((await settle()).toSorted(), ['/pulls/1', ...MARKED].toSorted());
  });

  it('a landing leaves those mergeable that it saw so, while Gitea computes [G163]', async (t) => {
    const { land, tools, pulls } = await aLanding(t);
    const mergeabilityOf = async (number: number) =>
      (await findPullRequest(tools, { repository: REPOSITORY, number: number as PrNumber }))?.mergeability;
    const fourth = pulls[3] as { mergeable: boolean; head: object };
    fourth.mergeable = false;
    assert.equal(await mergeabilityOf(4), 'IN_PROGRESS');
    fourth.mergeable = true;
    await land();
    fourth.mergeable = false;
    assert.equal(await mergeabilityOf(4), 'MERGEABLE');
    fourth.head = { ref: 'b4', sha: shaOf(9), repo_id: 5 };
    assert.equal(await mergeabilityOf(4), 'IN_PROGRESS', 'another head was not seen');
  });
});
