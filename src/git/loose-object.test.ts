import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { isUnavailable } from '../../test/contract/forge.ts';
import { createPlainWorld } from '../../test/contract/plain-repository.ts';
import { madeForEach } from '../../test/helpers/made.ts';
import type { Sha } from '../lib/sha.ts';
import { formatCommit } from './commit.ts';
import { type ObjectStore, settleLooseObjects, writeLooseObject } from './loose-object.ts';
import { parseSharing } from './shared-mode.ts';

const SHARED = ['umask', 'group', 'all', 'world', 'everybody', 'true', 'yes', 'false', '0', '1', '2', ''];
const MODES = ['0600', '0640', '0660', '0664', '0755'];
const canMount = spawnSync('unshare', ['-rm', 'true']).status === 0;

for (const objectFormat of ['sha1', 'sha256']) {
  describe(`objects written without git, ${objectFormat}`, () => {
    const world = madeForEach(() => createPlainWorld([`--object-format=${objectFormat}`]));
    let store: ObjectStore;
    let tree: Sha;
    beforeEach(async () => {
      store = { objectsDir: join(world.path, 'objects'), objectFormat, sharing: undefined };
      tree = (await world.git(['mktree'])) as Sha;
    });

    const commit = (message: string | Buffer, parents: readonly Sha[] = []) => {
      const person = Buffer.from('J\u00f6rg <j@x.test> 1700000000 +0000');
      const draft = { tree, parents, author: person, committer: person, encoding: undefined };
      return formatCommit({ ...draft, message: Buffer.from(message) });
    };
    const leftovers = () =>
      (readdirSync(store.objectsDir, { recursive: true }) as string[]).filter((name) => name.includes('tmp_obj'));

    test('they are those of git, byte for byte, with any content', async () => {
      const messages = [
        '',
        '\n',
        'x',
        'f\u00fcr\n\nalle\r\n',
        Buffer.from([0xff, 0xfe, 10]),
        'y'.repeat(300_000),
        '\0',
      ];
      let parent: readonly Sha[] = [];
      for (const message of messages) {
        const content = commit(message, parent);
        const sha = await writeLooseObject(store, 'commit', content);
        assert.equal(sha, await world.git(['hash-object', '-t', 'commit', '--stdin'], content));
        assert.equal(await world.git(['cat-file', '-t', sha]), 'commit');
        parent = [sha];
      }
      await world.git(['update-ref', 'refs/heads/main', parent[0] ?? '']);
      await world.git(['fsck', '--strict', '--no-dangling']);
      assert.equal(await world.git(['rev-list', '--count', 'main']), String(messages.length));
      assert.deepEqual(leftovers(), []);
    });

    test('many writers of the same and of others do not disturb each other', async () => {
      const writes = Array.from({ length: 200 }, (_, index) =>
        writeLooseObject(store, 'commit', commit(`${index % 20}`)),
      );
      assert.equal(new Set(await Promise.all(writes)).size, 20);
      await world.git(['fsck', '--strict', '--no-dangling']);
      assert.deepEqual(leftovers(), []);
    });

    test('one that is damaged is found before anything leads to it', async () => {
      const shas: Sha[] = [];
      for (const message of ['one', 'two']) shas.push(await writeLooseObject(store, 'commit', commit(message)));
      const [one, two] = shas.map((sha) => join(store.objectsDir, sha.slice(0, 2), sha.slice(2))) as [string, string];
      const gone = 'c'.repeat(shas[0]?.length ?? 0) as Sha;
      await settleLooseObjects(store, [...shas, gone]);
      const sound = await readFile(one);
      for (const bytes of ['', 'garbage', sound.subarray(0, -5), await readFile(two)]) {
        await rm(one);
        await writeFile(one, bytes);
        await assert.rejects(settleLooseObjects(store, shas), isUnavailable);
      }
      await writeLooseObject(store, 'commit', commit('one'));
      await settleLooseObjects(store, shas);
    });

    test('one that is there already, in a pack too, is no problem', async () => {
      const sha = await writeLooseObject(store, 'commit', commit('again'));
      await world.git(['update-ref', 'refs/heads/main', sha]);
      await world.git(['gc', '--quiet', '--prune=now']);
      for (let round = 0; round < 2; round += 1) {
        assert.equal(await writeLooseObject(store, 'commit', commit('again')), sha);
      }
      await world.git(['fsck', '--strict']);
    });
  });
}

describe('modes of objects written without git', () => {
  const world = madeForEach(() => createPlainWorld());
  const umask = process.umask();
  afterEach(() => void process.umask(umask));

  const take = async (objectsDir: string, sha: string) => {
    const folder = join(objectsDir, sha.slice(0, 2));
    const modes = [folder, join(folder, sha.slice(2))].map((path) => (statSync(path).mode & 0o7777).toString(8));
    await rm(folder, { recursive: true });
    return modes.join(' ');
  };

  for (const mask of [0o022, 0o077, 0o002]) {
    test(`they are those that git gives, with the umask ${mask.toString(8)}`, async () => {
      const objectsDir = join(world.path, 'objects');
      const tree = await world.git(['mktree']);
      const content = Buffer.from(`tree ${tree}\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n\nx\n`);
      process.umask(mask);
      for (const value of [...SHARED, ...MODES]) {
        await world.git(['config', 'core.sharedRepository', value]);
        const expected = await take(
          objectsDir,
          await world.git(['hash-object', '-w', '-t', 'commit', '--stdin'], content),
        );
        const store = { objectsDir, objectFormat: 'sha1', sharing: parseSharing(value) };
        assert.equal(await take(objectsDir, await writeLooseObject(store, 'commit', content)), expected, value);
      }
    });
  }
});

describe('objects that cannot be written', () => {
  const world = madeForEach(() => createPlainWorld());

  test('a repository that is gone is a fault that says so', async () => {
    const store = { objectsDir: join(world.folder, 'nowhere'), objectFormat: 'sha1', sharing: undefined };
    const isGone = (error: unknown) => isUnavailable(error) && /objects is gone/.test(String(error));
    await assert.rejects(writeLooseObject(store, 'commit', Buffer.from('x')), isGone);
    await writeFile(store.objectsDir, '');
    await assert.rejects(writeLooseObject(store, 'commit', Buffer.from('x')), isGone);
  });

  /** In a mount namespace of its own the test can mount anything over the folder. */
  const writeOn = async (mount: string, prepare: string) => {
    const folder = join(world.folder, 'mounted');
    const script = `
      import fs from 'node:fs';
      import { writeLooseObject } from ${JSON.stringify(new URL('./loose-object.ts', import.meta.url).href)};
      const store = { objectsDir: process.argv[1], objectFormat: 'sha1', sharing: undefined };
      const write = () => writeLooseObject(store, 'commit', Buffer.from('x'));
      ${prepare}
    `;
    const command = [process.execPath, '--input-type=module', '--eval', script, folder];
    await mkdir(folder);
    const mounted = ['-rm', 'sh', '-c', `${mount} && shift && exec "$@"`, 'sh', folder];
    return spawnSync('unshare', [...mounted, ...command], { encoding: 'utf8' });
  };

  test('a full disk is a fault, and nothing is left behind', {
    skip: !canMount && 'nothing can be mounted',
  }, async () => {
    const { stdout, stderr } = await writeOn(
      'mount -t tmpfs -o size=64k none "$1"',
      `
        const filler = fs.openSync(store.objectsDir + '/filler', 'w');
        try { for (;;) fs.writeSync(filler, Buffer.alloc(4096)); } catch {}
        await write().catch((error) => console.log(error.detail));
        console.log(fs.readdirSync(store.objectsDir, { recursive: true }).filter((name) => /tmp|[0-9a-f]{38}/.test(name)).length);
        fs.ftruncateSync(filler, 0);
        console.log((await write()).length);
      `,
    );
    assert.equal(stdout, 'The git repository cannot be written: the disk is full.\n0\n40\n', stderr);
  });

  test('a read-only file system is a fault', { skip: !canMount && 'nothing can be mounted' }, async () => {
    const { stdout, stderr } = await writeOn(
      'mount -t tmpfs -o ro none "$1"',
      'await write().catch((error) => console.log(error.detail));',
    );
    assert.equal(stdout, 'The git repository cannot be written: its file system is read-only.\n', stderr);
  });

  const isRoot = process.getuid?.() === 0;
  test('a folder that is closed to the server is a fault', { skip: isRoot && 'root may write anywhere' }, async () => {
    const objectsDir = join(world.folder, 'closed');
    await mkdir(objectsDir, { mode: 0o500 });
    const store = { objectsDir, objectFormat: 'sha1', sharing: undefined };
    await assert.rejects(writeLooseObject(store, 'commit', Buffer.from('x')), isUnavailable);
  });
});
