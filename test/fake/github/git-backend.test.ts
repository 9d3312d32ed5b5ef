import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { issueInstallationToken } from './auth.ts';
import { useGithub } from './use-github.ts';

const here = useGithub();

describe('git over HTTP', () => {
  it('takes refs of other kinds, but none of its own', async () => {
    const checkout = await here.clone('ada');
    await here.commitFile(checkout, 'a.txt', 'a\n');
    await here.git(['push', '--quiet', 'origin', 'HEAD:refs/sluice/candidates/1'], checkout);
    assert.ok(here.github.refs(here.repository).has('refs/sluice/candidates/1'));
    await assert.rejects(here.git(['push', '--quiet', 'origin', 'HEAD:refs/pull/7/head'], checkout), /hidden ref/);
  });

  it('refuses pushes of those who may not write, and of strangers', async () => {
    const checkout = await here.clone('eve');
    await here.commitFile(checkout, 'a.txt', 'a\n');
    await assert.rejects(here.git(['push', '--quiet', 'origin', 'HEAD:x'], checkout), /403/);
    await assert.rejects(
      here.git(['ls-remote', `${here.github.url}/acme/${here.repository.name}.git`]),
      /could not read Username/,
    );
    await assert.rejects(here.git(['ls-remote', here.cloneUrl('ghp_wrong')]), /Authentication failed/);
  });

  it('refuses pushes to protected branches', async () => {
    here.github.protect(here.repository, 'main', {
      reviews: { count: 1, dismissesStale: false, needsCodeOwners: false },
    });
    const checkout = await here.clone('ada');
    await here.commitFile(checkout, 'a.txt', 'a\n');
    await assert.rejects(here.git(['push', '--quiet', 'origin', 'HEAD:main'], checkout), /through a pull request/);
    here.github.protect(here.repository, 'main');
    const before = here.main;
    await here.git(['push', '--quiet', 'origin', 'HEAD:main'], checkout);
    assert.notEqual(here.main, before);
    await here.git(['commit', '--quiet', '--amend', '-m', 'Other'], checkout);
    await assert.rejects(
      here.git(['push', '--quiet', '--force', 'origin', 'HEAD:main'], checkout),
      /Cannot force-push/,
    );
  });

  it('takes changes of workflows only from apps that may make them', async () => {
    const { installation } = here;
    const { workflows: _workflows, ...fewer } = here.github.app.permissions;
    const push = async (branch: string) => {
      const token = issueInstallationToken(here.github.world, installation);
      await here.git(['push', '--quiet', here.cloneUrl(token.value), `HEAD:${branch}`], checkout);
    };
    const checkout = await here.clone('ada');
    await mkdir(join(checkout, '.github/workflows'), { recursive: true });
    await here.commitFile(checkout, '.github/workflows/ci.yml', 'on: push\n');
    here.github.grant(installation, fewer);
    await assert.rejects(push('one'), /without `workflows` permission/);
    here.github.grant(installation, here.github.app.permissions);
    await push('two');
    here.github.grant(installation, fewer);
    // The repository has the commit by now, so the push transfers nothing.
    await push('three');
    here.github.grant(installation, here.github.app.permissions);
  });

  it('answers who uses an old name with the new one', async () => {
    const old = here.cloneUrl(here.github.createToken('ada'));
    here.github.rename(here.repository, `renamed`);
    await assert.rejects(here.git(['-c', 'http.followRedirects=false', 'ls-remote', old]), /301|redirect/i);
    assert.match(await here.git(['ls-remote', old, 'HEAD']), new RegExp(`^${here.main}`));
  });

  it('follows the fork a pull request is from', async () => {
    const open = await here.github.createRepository(`acme/open`);
    const fork = await here.github.fork(open, 'zoe');
    const pr = await here.github.openPullRequest(open, { from: fork });
    const sha = await here.github.push(pr, { 'z.txt': 'z\n' });
    assert.equal(pr.headSha, sha);
    assert.equal(here.github.refs(open).get(`refs/pull/${pr.number}/head`), sha);
    assert.equal(
      (await here.as('zoe').rest.pulls.get({ owner: 'acme', repo: open.name, pull_number: 1 })).data.head.repo?.fork,
      true,
    );
  });

  it('refuses many refs at once, each with its reason', async () => {
    const checkout = await here.clone('ada');
    await here.commitFile(checkout, 'a.txt', 'a\n');
    const refs = Array.from({ length: 600 }, (_, index) => `HEAD:refs/heads/guarded/${'x'.repeat(240)}/${index}`);
    here.github.addRuleset(here.repository, { include: ['refs/heads/guarded/**'], rules: [{ type: 'creation' }] });
    await assert.rejects(here.git(['push', '--quiet', 'origin', ...refs, 'HEAD:free'], checkout), /GH013/);
    assert.deepEqual([...here.github.refs(here.repository).keys()].toSorted(), ['refs/heads/free', 'refs/heads/main']);
  });

  it('says that an archived repository is read-only', async () => {
    const checkout = await here.clone('ada');
    here.repository.isArchived = true;
    await assert.rejects(here.git(['push', '--quiet', 'origin', 'HEAD:late'], checkout), /archived so it is read-only/);
  });
});
