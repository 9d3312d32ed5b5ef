import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRoles } from '../../config/roles.ts';
import { ROLES } from '../../lib/role.ts';
import { knownGroups, organizationsByTable, roleByTable, roleFor, scopesOf } from './roles.ts';

const TABLE = `
# role      place                      who
reader      acme/*                     everyone
author      acme/github.com/acme/*     group:developers
maintainer  acme/github.com/acme/app   group:Release Managers
admin       acme/*                     user:248289761001
admin       other/git.acme.dev/*       group:developers
`;
const { lines } = parseRoles(TABLE);
const app = { host: 'github.com', owner: 'acme', name: 'app' };
const lib = { host: 'github.com', owner: 'acme', name: 'app-lib' };
const who = (...groups: string[]) => ({ subject: '7', groups });

describe('the table of roles', () => {
  const roleIn = (person: ReturnType<typeof who>, repo: typeof app | undefined, organization = 'acme') =>
    roleByTable(lines, person, { organization, repo });

  it('gives the highest role that a line gives in a place [A53]', () => {
    assert.equal(roleIn(who(), app), 'reader');
    assert.equal(roleIn(who('developers'), app), 'author');
    assert.equal(roleIn(who('developers', 'Release Managers'), app), 'maintainer');
    assert.equal(roleIn(who('Release Managers'), lib), 'reader', 'app is no beginning of app-lib');
    assert.equal(roleIn(who('release managers'), app), 'reader', 'groups differ by case');
    assert.equal(roleIn({ subject: '248289761001', groups: [] }, lib), 'admin');
    assert.equal(roleIn(who('248289761001'), lib), 'reader', 'a group is no subject');
    assert.equal(roleIn(who('developers'), { ...app, owner: 'acme-evil' }), 'reader');
    assert.equal(roleIn(who('developers'), { ...app, host: 'GitHub.com', owner: 'Acme' }), 'author');
  });

  it('gives a role in the whole organization by org/* alone [A53]', () => {
    assert.equal(roleIn(who('developers'), undefined), 'reader');
    assert.equal(roleIn(who('developers'), undefined, 'other'), undefined);
    assert.equal(roleIn(who(), app, 'elsewhere'), undefined);
    assert.deepEqual(organizationsByTable(lines, who('developers')), ['acme', 'other']);
    assert.deepEqual(organizationsByTable(lines, who()), ['acme']);
    assert.deepEqual(knownGroups(lines, ['x', 'developers', 'x', 'developers']), ['developers']);
  });

  it('names the line that is wrong [A53]', () => {
    const { problems } = parseRoles(
      'auther acme/* everyone\n\nreader acme\nreader acme/*\nreader acme/* bob\nadmin */x/y/z everyone',
    );
    assert.deepEqual(problems, [
      'line 1: there is no role "auther". Roles are reader, author, maintainer, admin. Did you mean author?',
      'line 3: "acme" is no place. Places are org/*, org/host/*, org/host/owner/* and org/host/owner/name.',
      'line 4: nobody is named. It ends with group:NAME, user:SUBJECT or everyone.',
      'line 5: "bob" is nobody. Write group:NAME, user:SUBJECT or everyone.',
      'line 6: "*/x/y/z" is no place. Places are org/*, org/host/*, org/host/owner/* and org/host/owner/name.',
    ]);
  });
});

it('each role has the scopes of those below it, and none has instance [A49]', () => {
  const has = (role: (typeof ROLES)[number], scope: 'read' | 'submit' | 'maintain') =>
    scopesOf(role).includes(scope) || scopesOf(role).includes('admin');
  for (const scope of ['read', 'submit', 'maintain'] as const) {
    const least = ROLES.indexOf(roleFor(scope));
    for (const [index, role] of ROLES.entries()) assert.equal(has(role, scope), index >= least, `${role} ${scope}`);
  }
  assert.ok(ROLES.every((role) => !scopesOf(role).includes('instance')));
  assert.equal(roleFor('report'), 'admin');
});
