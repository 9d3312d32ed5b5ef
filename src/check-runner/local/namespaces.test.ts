import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseMountTable } from './namespaces.ts';

const TABLE = `21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
22 21 0:5 / /usr ro,nodev,relatime - ext4 /dev/sdb rw
23 22 0:6 / /usr/with\\040space rw,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw
24 21 0:7 / /usrlocal rw - tmpfs tmpfs rw
25 22 0:8 / /usr/lib rw,relatime - tmpfs tmpfs rw
26 25 0:9 / /usr/lib rw,nosuid - tmpfs tmpfs rw
nonsense
`;

describe('the mounts of a machine', () => {
  const table = parseMountTable(TABLE);

  it('tell the flags that a read-only mount must keep [R39]', () => {
    assert.deepEqual(table.flagsOf('/usr/bin'), ['nodev', 'relatime']);
    assert.deepEqual(table.flagsOf('/usr/with space/x'), ['nosuid', 'nodev', 'noexec', 'relatime']);
    assert.deepEqual(table.flagsOf('/usrlocal'), []);
    assert.deepEqual(table.flagsOf('/home'), ['relatime']);
  });

  it('mounts beneath a folder are listed: each must become read-only too [R39]', () => {
    assert.deepEqual(table.beneath('/usr'), [
      { path: '/usr/with space', flags: ['nosuid', 'nodev', 'noexec', 'relatime'] },
      { path: '/usr/lib', flags: ['nosuid'] },
    ]);
    assert.deepEqual(table.beneath('/usr/lib'), []);
  });
});
