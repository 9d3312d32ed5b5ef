import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { issueInstallationToken } from './auth.ts';
import { useGithub } from './use-github.ts';

const here = useGithub();

describe('git over HTTP', () => {
  it('git takes refs of other kinds, but none of GitHub’s own', async () => {
    const checkout = await here.clone('ada');
    await here.commitFile(checkout, 'a.txt', 'a\n');
    await here.git(['push', '--quiet', 'origin', 'HEAD:refs/sluice/candidates/1'], checkout);
    assert.ok(here.github.refs(here.repository).has('refs/sluice/candidates/1'));
    await assert.rejects(here.git(['push', '--quiet', 'origin', 'HEAD:refs/pull/7/head'], checkout), /hidden ref/);
  });

  it('a push of a reader or a stranger is refused', async () => {
    const checkout = await here.clone('eve');
    await here.commitFile(checkout, 'a.txt', 'a\n');
    await assert.rejects(here.git(['push', '--quiet', 'origin', 'HEAD:x'], checkout), /403/);
    await assert.rejects(
      here.git(['ls-remote', `${here.github.url}/acme/${here.repository.name}.git`]),
      /could not read Username/,
    );
    await assert.rejects(here.git(['ls-remote', here.cloneUrl('ghp_wrong')]), /Authentication failed/);
  });

  it('a push to a protected branch is refused', async () => {
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

  it('a change of workflows is taken only from an app that may make it', async () => {
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
});
