import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeServer, type NewConnection } from './connection-place.ts';

const connection: NewConnection = {
  kind: 'github',
  host: 'github.com',
  dataFolder: '/var/lib/sluice',
  isReplaced: false,
  hasServer: true,
  environment: {},
};

it('says what a server does with a new connection, and what it does not [G68]', () => {
  for (const [given, sentence] of [
    [{}, /^A running server detects it within seconds\. Restart a server that was connected to github\.com/],
    [{ isReplaced: true }, /^Start the server again/],
    [{ hasServer: false }, /^No server has used \/var\/lib\/sluice yet/],
  ] as const)
    assert.match(describeServer({ ...connection, ...given }), sentence);
});

it('says that the environment wins for its host, and for no other [G67] [G68]', () => {
  for (const name of ['SLUICE_GITHUB_APP_ID', 'SLUICE_GITHUB_TOKEN']) {
    assert.match(describeServer({ ...connection, environment: { [name]: '7' } }), /win over this file.*unset them/);
    const environment = { [name]: '7', SLUICE_GITHUB_HOST: 'GHE.acme.dev' };
    assert.match(describeServer({ ...connection, environment }), /detects it within seconds/);
    assert.match(describeServer({ ...connection, host: 'ghe.acme.dev', environment }), /win over this file/);
  }
});

it('says that every server on a database needs the file [G68]', () => {
  const environment = { SLUICE_DATABASE_URL: 'postgres://me:hunter2@db/sluice' };
  const text = describeServer({ ...connection, environment });
  assert.match(text, /detects it within seconds[\s\S]*\nEvery other server on the database needs a copy/);
  assert.ok(!text.includes('hunter2'));
});
