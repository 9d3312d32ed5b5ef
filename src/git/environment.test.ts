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

test('git learns nothing of the server but what it needs', (context) => {
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
