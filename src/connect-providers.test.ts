import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLog } from '../test/helpers/silent-log.ts';
import { ManualClock } from '../test/worlds/shell/manual-clock.ts';
import { People } from './app/access/people.ts';
import { createRolesRounds } from './connect-providers.ts';
import { SSO } from './identity/identity.ts';
import type { Organization } from './storage/accounts.ts';

test('a changed table of roles counts within a minute, and a wrong one changes nothing [A53] [A70]', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-roles-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'roles');
  const clock = new ManualClock();
  const people = new People({ clock } as never, []);
  const person = { provider: SSO, subject: 'ann', name: 'Ann', groups: [], logins: {} };
  for (const [text, role] of [
    ['admin acme/* user:ann', 'admin'],
    ['owner acme/* user:ann', 'admin'],
    ['reader acme/* user:ann', 'reader'],
  ] as const) {
    await writeFile(file, text);
    const rounds = createRolesRounds(people, file, { clock, log: silentLog });
    rounds.start();
    await clock.pass(60_000);
    await rounds.stop();
    assert.equal(people.roleIn({ slug: 'acme' } as Organization, person), role, text);
  }
});
