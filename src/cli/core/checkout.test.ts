import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isRepositoryAt } from './checkout.ts';

const ON_GITHUB = { repo: { host: 'github.com', owner: 'acme', name: 'app' }, git: null };
const plain = (git: string) => ({ repo: { host: 'local', owner: 'acme', name: 'app' }, git });

describe('the repository of a remote [W22]', () => {
  for (const [known, url, isThere] of [
    [ON_GITHUB, 'git@github.com:acme/app.git', true],
    [ON_GITHUB, 'https://ada:secret@github.com/Acme/App', true],
    [ON_GITHUB, 'ssh://git@github.com/acme/app.git', true],
    [ON_GITHUB, 'git@github.com:ada/app.git', false],
    [ON_GITHUB, '/srv/git/acme/app.git', false],
    [plain('ssh://git@git.acme.dev/acme/app.git'), 'git@git.acme.dev:acme/app', true],
    [plain('ssh://git@git.acme.dev/acme/app.git'), 'git@git.acme.dev:acme/apple', false],
    [plain('git@git.acme.dev:app.git'), 'git@git.acme.dev:app', true],
    [plain('/nowhere/git/app.git'), '../git/app', true],
    [plain('/nowhere/git/app.git'), 'file:///nowhere/git/app.git/', true],
    [plain('/nowhere/git/app.git'), '/nowhere/git/other.git', false],
    [plain('/nowhere/git/app.git'), 'local:acme/app', false],
  ] as const) {
    it(`${known.git ?? 'github.com/acme/app'} is ${isThere ? '' : 'not '}at ${url}`, () => {
      assert.equal(isRepositoryAt(known, url, '/nowhere/work'), isThere);
    });
  }
});
