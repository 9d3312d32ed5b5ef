import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Fault } from '../../lib/fault.ts';
import { findUser } from './user.ts';

const isRoot = process.getuid?.() === 0;
const refusedWith = (words: RegExp) => (error: unknown) =>
  error instanceof Fault && error.code === 'MISCONFIGURED' && words.test(error.detail);

describe('the user that checks run as', () => {
  it('is refused to a server that is not root [R8]', { skip: isRoot }, async () => {
    await assert.rejects(findUser('nobody'), refusedWith(/Only root/));
  });

  it('is found by name, and is somebody who may not do everything [R8]', { skip: !isRoot }, async () => {
    const { name, uid, gid } = await findUser('nobody');
    assert.equal(name, 'nobody');
    assert.ok(uid > 0 && gid > 0);
    await assert.rejects(findUser('root'), refusedWith(/may do everything/));
    for (const odd of ['no-such-user-here', '--help', '', '$(id)', 'a b']) {
      await assert.rejects(findUser(odd), refusedWith(/no such user/), odd);
    }
  });
});
