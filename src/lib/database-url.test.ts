import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitPassword } from './database-url.ts';

test('a password is taken out of an address, wherever it is', () => {
  assert.deepEqual(splitPassword('postgres://ada:a%2Fb@db1:5432,db2/sluice', ':PASSWORD'), {
    address: 'postgres://ada:PASSWORD@db1:5432,db2/sluice',
    password: 'a/b',
  });
  assert.deepEqual(splitPassword('postgres://ada@db/sluice?password=x&sslmode=require', ''), {
    address: 'postgres://ada@db/sluice?sslmode=require',
    password: 'x',
  });
  assert.deepEqual(splitPassword('postgres://ada@db:5432/sluice', ''), { address: 'postgres://ada@db:5432/sluice' });
});
