import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gitEnvironment } from './environment.ts';

const FOREIGN = {
  SLUICE_ADMIN_TOKEN: 's3cret',
  GIT_DIR: '/else',
  GIT_OBJECT_DIRECTORY: '/else',
  GIT_CONFIG_COUNT: '9',
  GIT_ASKPASS: '/ask',
};

test('git gets no variables of the server but those it needs', (context) => {
  const before = { ...process.env };
  context.after(() => {
    for (const name of Object.keys(FOREIGN)) delete process.env[name];
    Object.assign(process.env, before);
  });
  Object.assign(process.env, FOREIGN);
  const local = gitEnvironment({ gitDir: '/srv/app.git' });
  assert.equal(local['GIT_DIR'], '/srv/app.git');
  assert.equal(local['GIT_ALLOW_PROTOCOL'], 'none');
  assert.notEqual(local['GIT_CONFIG_COUNT'], '9');
  for (const name of ['SLUICE_ADMIN_TOKEN', 'GIT_OBJECT_DIRECTORY', 'GIT_ASKPASS'])
    assert.equal(local[name], undefined);
  const remote = gitEnvironment({ remote: true });
  assert.equal(remote['GIT_ASKPASS'], '/ask');
  assert.equal(remote['GIT_ALLOW_PROTOCOL'], 'ssh:https');
  for (const name of ['SLUICE_ADMIN_TOKEN', 'GIT_DIR']) assert.equal(remote[name], undefined);
});

test('settings are numbered without gaps', () => {
  const environment = gitEnvironment({ safeDirectory: '/srv/app.git' });
  const count = Number(environment['GIT_CONFIG_COUNT']);
  const keys = Array.from({ length: count }, (_, index) => environment[`GIT_CONFIG_KEY_${index}`]);
  assert.ok(keys.every((key) => key !== undefined));
  assert.equal(environment[`GIT_CONFIG_VALUE_${keys.indexOf('safe.directory')}`], '/srv/app.git');
  assert.equal(environment[`GIT_CONFIG_VALUE_${keys.indexOf('core.hooksPath')}`], '/dev/null');
});

test('a remote with a token of its own gets nothing of the operator [G101]', (context) => {
  const own = {
    HOME: '/home/op',
    GIT_ASKPASS: '/ask',
    SSH_ASKPASS: '/ask',
    GIT_CONFIG_GLOBAL: '/op',
    https_proxy: 'p',
  };
  const before = { ...process.env };
  context.after(() => {
    for (const name of Object.keys(own)) delete process.env[name];
    Object.assign(process.env, before);
  });
  Object.assign(process.env, own);
  const access = {
    url: 'https://git.example.test:8443/a/b.git',
    authorization: 'Basic eHg6eXk=',
    isHttpAllowed: false,
  };
  const environment = gitEnvironment({ remote: true, access });
  assert.equal(environment['https_proxy'], 'p');
  assert.equal(environment['GIT_ALLOW_PROTOCOL'], 'https');
  assert.equal(environment['HOME'], '/dev/null');
  assert.equal(environment['GIT_CONFIG_GLOBAL'], '/dev/null');
  for (const name of ['GIT_ASKPASS', 'SSH_ASKPASS', 'GIT_SSH_COMMAND']) assert.equal(environment[name], undefined);
  const settings = settingsIn(environment);
  assert.equal(settings.get('http.https://git.example.test:8443/.extraHeader'), 'Authorization: Basic eHg6eXk=');
  assert.equal(settings.get('credential.helper'), '');
  assert.equal(settings.get('http.followRedirects'), 'false');
  const open = gitEnvironment({ remote: true, access: { ...access, authorization: undefined, isHttpAllowed: true } });
  assert.equal(open['GIT_ALLOW_PROTOCOL'], 'http:https');
  assert.ok(![...settingsIn(open).keys()].some((key) => key?.endsWith('.extraHeader')));
});

function settingsIn(
  environment: Readonly<Record<string, string>>,
): ReadonlyMap<string | undefined, string | undefined> {
  const indexes = Array.from({ length: Number(environment['GIT_CONFIG_COUNT']) }, (_, index) => index);
  return new Map(
    indexes.map((index) => [environment[`GIT_CONFIG_KEY_${index}`], environment[`GIT_CONFIG_VALUE_${index}`]]),
  );
}
