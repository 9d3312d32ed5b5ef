import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import { parseConfig } from './config.ts';
import { readOidcSecret } from './oidc.ts';
import { loadRoles } from './roles.ts';

const GOOD = {
  SLUICE_URL: 'https://sluice.acme.dev',
  SLUICE_OIDC_ISSUER: 'https://login.acme.dev/realms/acme',
  SLUICE_OIDC_CLIENT_ID: 'sluice',
  SLUICE_ROLES_FILE: '/etc/sluice/roles',
};

function problemsOf(more: Readonly<Record<string, string>>): readonly string[] {
  const parsed = parseConfig(more);
  return 'problems' in parsed ? parsed.problems : [];
}

it('the configuration of the sign-in has defaults for all but the required variables', () => {
  const parsed = parseConfig({ ...GOOD, SLUICE_OIDC_LOGIN_CLAIM: 'GitHub.com=github_login' });
  assert.ok('config' in parsed);
  const { secret, label, scopes, groupsClaim, loginClaim } = parsed.config.oidc ?? assert.fail();
  assert.deepEqual([secret, label, scopes, groupsClaim], [undefined, 'single sign-on', 'openid profile', 'groups']);
  assert.deepEqual(loginClaim, { host: 'github.com', claim: 'github_login' });
});

it('the configuration of the sign-in refuses variables that do not fit together', () => {
  assert.deepEqual(problemsOf({ SLUICE_ROLES_FILE: 'x' }), [
    'SLUICE_ROLES_FILE does nothing without SLUICE_OIDC_ISSUER.',
  ]);
  assert.deepEqual(problemsOf({ SLUICE_OIDC_ISSUER: GOOD.SLUICE_OIDC_ISSUER }), [
    'SLUICE_OIDC_ISSUER needs SLUICE_OIDC_CLIENT_ID too.',
    'SLUICE_OIDC_ISSUER needs SLUICE_ROLES_FILE too.',
    'SLUICE_OIDC_ISSUER needs SLUICE_URL too.',
  ]);
  const wrong = {
    SLUICE_OIDC_ISSUER: 'http://login.acme.dev',
    SLUICE_OIDC_SCOPES: 'profile',
    SLUICE_OIDC_LOGIN_CLAIM: 'x',
  };
  assert.deepEqual(problemsOf({ ...GOOD, ...wrong }), [
    'SLUICE_OIDC_ISSUER must begin with https://.',
    'SLUICE_OIDC_SCOPES must have the scope openid among others.',
    'SLUICE_OIDC_LOGIN_CLAIM must be such as github.com=github_login: a host and a claim.',
  ]);
  const twice = { SLUICE_OIDC_CLIENT_SECRET: 'x', SLUICE_OIDC_CLIENT_SECRET_FILE: 'y' };
  assert.match(problemsOf({ ...GOOD, ...twice }).join(), /are both set\. Unset one of them/);
  assert.match(problemsOf({ SLUICE_GITHUB_SIGN_IN: 'on' }).join(), /needs SLUICE_URL/);
  assert.match(problemsOf({ SLUICE_GITHUB_CLIENT_ID: 'Iv23liAbCdEf' }).join(), /are set together, or not at all/);
});

it('an unusable file of roles keeps the server from starting, and the sentence names file and line [A53]', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-roles-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'roles');
  await assert.rejects(loadRoles(file), /SLUICE_ROLES_FILE .*roles cannot be read \(ENOENT\)/);
  await writeFile(file, '# nothing\n');
  await assert.rejects(loadRoles(file), /has no line, so that nobody could sign in/);
  await writeFile(file, 'reader acme/* everyone\nowner acme/* everyone\nx\n');
  await assert.rejects(
    loadRoles(file),
    /roles, line 2: there is no role "owner"\. .* Lines that are wrong besides: 1\./,
  );
  await writeFile(file, 'reader acme/* everyone\r\n');
  assert.equal((await loadRoles(file)).length, 1);
  await assert.rejects(readOidcSecret({ secret: { file: path.join(folder, 'none') } }), /cannot be read/);
});
