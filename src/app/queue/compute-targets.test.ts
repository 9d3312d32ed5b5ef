import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { localLanes } from '../../../test/helpers/local-lanes.ts';
import { aRepository } from '../../../test/helpers/store-rows.ts';
import type { ChangesAnswer, Forge } from '../../forge/forge.ts';
import type { LaneReader } from '../../lanes/lanes.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import type { OrganizationId } from '../../storage/accounts.ts';
import type { App } from '../core/app.ts';
import { computeTargets, haveLanesChanged } from './compute-targets.ts';

type Files = Readonly<Record<string, string>>;

const AUTO = { '.sluice.yaml': 'targets: { workspaces: auto }' };
const WORKSPACE = { ...AUTO, 'package.json': '{"workspaces":["*"]}', 'a/package.json': '{"name":"a"}' };

/** Commits by their ids, and the answer about changes. A commit that is not given is lost. */
function worldOf(
  commits: Readonly<Record<string, Files>>,
  changes: ChangesAnswer = { kind: 'changed', paths: ['a/x'] },
  lanes: Partial<LaneReader> = {},
) {
  const asked: string[] = [];
  const forge: Partial<Forge> = {
    readFiles: async ({ sha, names }) => {
      asked.push(`${sha} ${names.join()}`);
      const files = commits[sha];
      const isNamed = (path: string) => names.includes(path.slice(path.lastIndexOf('/') + 1));
      return (
        files &&
        Object.entries(files).flatMap(([path, text]) => (isNamed(path) ? [{ path, bytes: Buffer.from(text) }] : []))
      );
    },
    listChangedFiles: async () => changes,
    isAncestor: async ({ ancestor }) => ancestor !== 'rewritten',
  };
  const repository = aRepository({ organizationId: 'o' as OrganizationId });
  const forges = new Map([[repository.host, forge as Forge]]);
  const app = { forges, lanes: { ...localLanes, ...lanes } } as unknown as App;
  return {
    asked,
    compute: (base: string) =>
      computeTargets(app, { repository, base: base as Sha }, { head: 'head' as Sha, shown: 0 }),
    changed: (from: string, to: string) => haveLanesChanged(app, repository, { from: from as Sha, to: to as Sha }),
  };
}

describe('computed targets', () => {
  it('[T15] need rules at the base, which are read once for each commit', async () => {
    const world = worldOf({ none: {}, deep: { 'x/.sluice.yaml': AUTO['.sluice.yaml'] }, base: WORKSPACE });
    assert.equal(await world.compute('none'), undefined);
    assert.equal(await world.compute('deep'), undefined);
    assert.deepEqual((await world.compute('base'))?.targets, ['a']);
    const count = world.asked.length;
    await world.compute('base');
    assert.equal(world.asked.length, count);
  });

  const PROBLEMS: readonly (readonly [kind: 'lost' | 'unrelated' | 'too_many', text: RegExp])[] = [
    ['lost', /does not have its commits/],
    ['unrelated', /shares no commit/],
    ['too_many', /more than 100,000 files/],
  ];
  for (const [kind, text] of PROBLEMS) {
    it(`[T13] are everything, with the reason, for changes that are ${kind}`, async () => {
      const { all } = (await worldOf({ base: AUTO }, { kind }).compute('base')) ?? {};
      assert.equal(all?.code, 'PROBLEM');
      assert.match(all?.name ?? '', text);
    });
  }

  it('[T12] are everything where the thread hangs, and a fault where the server stops', async () => {
    const hangs = async () => Promise.reject(new Error('It took longer than 10 seconds.'));
    const { all } = (await worldOf({ base: AUTO }, undefined, { place: hangs }).compute('base')) ?? {};
    assert.equal(all?.name, 'Its targets could not be computed. It took longer than 10 seconds.');
    const joined = await worldOf({ base: WORKSPACE }, undefined, { join: hangs }).compute('base');
    assert.equal(joined?.all?.code, 'PROBLEM');
    const stops = async () => Promise.reject(new Fault('SHUTTING_DOWN', 'It stops.'));
    await assert.rejects(worldOf({ base: AUTO }, undefined, { place: stops }).compute('base'), {
      code: 'SHUTTING_DOWN',
    });
    await assert.rejects(worldOf({}).compute('gone'), { code: 'FORGE_UNAVAILABLE' });
  });

  it('[T15] follow a head with other rules or packages, and no other head', async () => {
    const touched = (...paths: string[]) => ({ kind: 'changed', paths }) as const;
    const version = { ...WORKSPACE, 'a/package.json': '{"name":"a","version":"2"}' };
    const other = { ...WORKSPACE, 'b/package.json': '{"name":"b"}' };
    const commits = { one: WORKSPACE, version, other, none: {}, rewritten: WORKSPACE };
    const told = (changes: ChangesAnswer, from: string, to: string) => worldOf(commits, changes).changed(from, to);
    assert.equal(await told(touched('a/x'), 'one', 'other'), false);
    assert.equal(await told(touched('b/package.json'), 'one', 'other'), true);
    assert.equal(await told(touched('a/package.json'), 'one', 'version'), false);
    assert.equal(await told(touched('.sluice.yaml'), 'none', 'one'), true);
    assert.equal(await told(touched('b/package.json'), 'none', 'none'), false);
    assert.equal(await told(touched(), 'rewritten', 'one'), true);
    assert.equal(await told(touched(), 'gone', 'one'), true);
    assert.equal(await told({ kind: 'too_many' }, 'one', 'other'), true);
  });
});
