import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeGithub } from '../../../test/fake/github/fake-github.ts';
import { connectHosting } from '../../../test/helpers/github-hosting.ts';
import { ender } from '../../../test/helpers/made.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { ForgeRepository } from '../forge.ts';
import { isAccount } from './people.ts';

describe('people on GitHub', () => {
  it('an imported or deleted account has no permission of the account with its name now [G19]', () => {
    const isOne = ['User', 'Bot', 'Mannequin', 'Organization'].map((__typename) =>
      isAccount({ __typename, login: 'ada' }),
    );
    assert.deepEqual(isOne, [true, true, false, false]);
    assert.equal(isAccount(null), false);
  });
});

const APP: ForgeRepository = { id: 'r1', host: 'github.com', owner: 'acme', name: 'app', git: undefined, checks: [] };

const end = ender();

async function world() {
  const github = await createFakeGithub();
  const repository = await github.createRepository('acme/app', { roles: { ada: 'write' } });
  github.install(github.app, 'acme');
  const { client, hosting } = connectHosting(github);
  end(github, client);
  const main = repository.defaultBranch;
  await github.commit(repository, { branch: 'release', files: { 'release.txt': 'x\n' }, message: 'A release' });
  const pr = await github.openPullRequest(repository, { author: 'eve', base: main });
  const number = pr.number as PrNumber;
  const readLabel = () => hosting.readLabel({ repository: APP, number, label: 'queue' });
  return { github, repository, hosting, pr, number, readLabel };
}

describe('a pull request that got another base', () => {
  it('a pull request that got another base is read with the last change and its author [G81]', async () => {
    const { github, hosting, pr, number, readLabel } = await world();
    github.label(pr, 'ada', 'queue');
    assert.equal((await readLabel())?.retarget, undefined);
    for (let time = 0; time < 60; time += 1) {
      github.retarget(pr, 'release', 'eve');
      github.retarget(pr, 'main', 'ada');
    }
    github.retarget(pr, 'release', 'eve');
    const read = await readLabel();
    assert.equal(read?.last?.by.login, 'ada');
    assert.equal(read?.retarget?.by?.login, 'eve');
    assert.ok((read?.retarget?.at ?? 0) >= (read?.last?.at ?? 0));
    const { id, nodeId } = github.comment(pr, 'ada', '/sluice merge');
    const comment = await hosting.readComment({ repository: APP, number, id: String(id), nodeId });
    assert.deepEqual(comment?.retarget, read?.retarget);
  });

  it('a base that changed because the former one was merged and deleted has no author [G81]', async () => {
    const { github, repository, pr, readLabel } = await world();
    repository.settings.deleteBranchOnMerge = true;
    const beneath = await github.openPullRequest(repository, { author: 'ada', branch: 'beneath' });
    github.retarget(pr, 'beneath', 'ada');
    github.label(pr, 'ada', 'queue');
    await github.mergeByHand(beneath, 'ada');
    assert.equal(pr.baseRef, 'main');
    const read = await readLabel();
    assert.deepEqual([read?.retarget === undefined, read?.retarget?.by], [false, undefined]);
  });
});
