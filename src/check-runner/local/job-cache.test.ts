import assert from 'node:assert/strict';
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createSmallDisk, findMountProblem, type SmallDisk } from '../../../test/e2e/small-disk.ts';
import { aRunner, findWorkingProtections } from '../../../test/helpers/local-runner.ts';
import type { CacheHit, CheckRunner, Job, JobCache, JobEnd, KeptCache, ProtectionKind } from '../runner.ts';
import { MAX_ENTRIES } from './cache-transfer.ts';
import { createToolFinder, digestTool } from './tools.ts';

const NEVER = new AbortController().signal;
const SANDBOXES = (await findWorkingProtections()).filter((kind) => kind === 'bubblewrap' || kind === 'namespaces');
const PASSED: JobEnd = { kind: 'exited', code: 0 };

interface Ran {
  readonly end: JobEnd;
  readonly output: string;
  readonly hit: CacheHit | undefined;
}

interface Asked extends Partial<Omit<JobCache, 'onHit'>> {
  readonly files?: Readonly<Record<string, string>>;
  readonly tools?: readonly string[];
  /** The file of the key is a link to this one instead. */
  readonly link?: string;
}

class World {
  readonly runner: CheckRunner;
  readonly folder: string;
  readonly close: () => Promise<void>;

  constructor({ runner, kept, close }: Awaited<ReturnType<typeof aRunner>>) {
    this.runner = runner;
    this.folder = kept;
    this.close = close;
  }

  /** A command in a commit that has these files. */
  async run(command: string, { files = { lock: '1' }, link, tools, ...more }: Asked = {}): Promise<Ran> {
    const chunks: Buffer[] = [];
    let hit: CacheHit | undefined;
    const cache: JobCache = {
      ...{ repository: 'app', branch: 'main', check: 'unit', key: ['lock'], paths: ['~/store'], inputs: [] },
      ...{ isVerified: false, use: 'read', ...more },
      onHit: (found) => {
        hit = found;
      },
    };
    const job: Job = {
      ...{ rank: 0, share: 'a', command, timeoutMs: 60_000, network: false, variables: {}, cache },
      ...(tools === undefined ? {} : { tools }),
      prepare: async ({ folder }) => {
        if (link !== undefined) await symlink(link, join(folder, 'lock'));
        for (const [name, text] of Object.entries(link === undefined ? files : {})) {
          await mkdir(dirname(join(folder, name)), { recursive: true });
          await writeFile(join(folder, name), text);
        }
        return undefined;
      },
      onStart: async () => undefined,
      onOutput: async (bytes) => void chunks.push(bytes),
    };
    const end = await this.runner.run(job, NEVER);
    return { end, output: Buffer.concat(chunks).toString(), hit };
  }

  /** Like a run of the landed head. */
  async fill(command: string, more: Asked = {}): Promise<Ran> {
    return this.run(command, { use: 'store', ...more });
  }

  list(): Promise<readonly KeptCache[]> {
    return this.runner.caches.list('app');
  }

  /** The files of all caches, and of those that were never finished. */
  async files(): Promise<readonly string[]> {
    return (await readdir(this.folder, { recursive: true, withFileTypes: true })).flatMap((entry) =>
      entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
    );
  }
}

/** A runner of its own, with more or less room. */
async function withWorld(
  kind: ProtectionKind,
  options: Parameters<typeof aRunner>[1],
  act: (world: World) => Promise<void>,
): Promise<void> {
  const world = new World(await aRunner(kind, options));
  try {
    await act(world);
  } finally {
    await world.close();
  }
}

const SHOW = 'cat ~/store/a 2>/dev/null; echo hit=$SLUICE_CACHE_HIT';
const LEAVE = 'mkdir -p ~/store; echo one > ~/store/a';

function testKeys(world: () => World): void {
  it('are there for the same files, tools, branch and check, as the head left them [R80] [R83]', async () => {
    const first = await world().fill(`${LEAVE}; echo hit=$SLUICE_CACHE_HIT`);
    assert.match(first.output, /: none has this key yet\.\nhit=none\n.*: kept for later runs, 0\.\d MiB in 2 entries/);
    const { end, output, hit } = await world().run(SHOW);
    assert.deepEqual([end, hit], [PASSED, 'exact']);
    assert.match(output, /cache: exact, 0\.\d MiB restored in \d+\.\d s\.\none\nhit=exact\n$/);
    const others: readonly Asked[] = [
      { files: { lock: '2' } },
      { files: { lock: '1', 'more/lock': '1' }, key: ['**/lock'] },
      { tools: ['sh'] },
      { branch: 'release' },
      { check: 'lint' },
      { repository: 'other' },
      { paths: ['~/other'] },
      { inputs: ['npm ci'] },
    ];
    for (const other of others) assert.equal((await world().run(SHOW, other)).hit, 'none', JSON.stringify(other));
  });

  it('are left by passed runs of the head alone, which began with nothing [R81] [R82]', async () => {
    const files = { lock: 'alone' };
    await world().run(LEAVE, { files });
    await world().fill(`${LEAVE}; exit 1`, { files });
    await world().fill('true', { files });
    assert.equal((await world().run(SHOW, { files })).hit, 'none');
    await world().fill(LEAVE, { files });
    const again = await world().fill('echo two > ~/store/a', { files });
    assert.deepEqual([again.hit, again.output.includes('kept')], ['exact', false]);
    assert.match((await world().run(SHOW, { files })).output, /\none\n/);
  });

  it('are filled once: a run that only fills does not begin where there is one [R82]', async () => {
    const files = { lock: 'fill' };
    assert.deepEqual((await world().run(LEAVE, { files, use: 'fill' })).end, PASSED);
    assert.deepEqual((await world().run('exit 9', { files, use: 'fill' })).end, { kind: 'stopped' });
    assert.deepEqual((await world().run('exit 9', { files: {}, use: 'fill' })).end, { kind: 'stopped' });
  });

  it('stand in for each other only where verified, the newest first, and never where one is left [R83]', async () => {
    const more = { check: 'verified' };
    for (const lock of ['1', '2'])
      await world().fill(`${LEAVE}; echo ${lock} > ~/store/a`, { ...more, files: { lock } });
    const files = { lock: '3' };
    assert.equal((await world().run(SHOW, { ...more, files })).hit, 'none');
    const { hit, output } = await world().run(SHOW, { ...more, files, isVerified: true });
    assert.equal(hit, 'fallback');
    assert.match(output, /cache: fallback, .*\n2\nhit=fallback/);
    const head = await world().fill(`test ! -e ~/store && ${LEAVE}`, { ...more, files, isVerified: true });
    assert.deepEqual([head.end, head.hit], [PASSED, 'none']);
  });

  it('belong to no commit that has no file of the key, or has the path itself [R80] [R84]', async () => {
    const none = await world().fill(LEAVE, { files: { other: '1' } });
    assert.match(none.output, /cache: none, as the commit has no lock\.\n/);
    const own = await world().fill(SHOW, { files: { lock: '1', 'lib/a': '1' }, paths: ['lib'] });
    assert.match(own.output, /cache: none, as the commit has lib itself\.\nhit=none/);
    const through = await world().fill(SHOW, { files: { lock: '1', lib: 'a file' }, paths: ['lib/b'] });
    assert.match(through.output, /cache: none, as the commit has lib\/b itself/);
  });

  it('are named by links of the commit, not by files that they lead to [R80]', async () => {
    await world().fill(LEAVE, { link: '/etc/passwd' });
    assert.equal((await world().run(SHOW, { link: '/etc/passwd' })).hit, 'exact');
    assert.equal((await world().run(SHOW, { link: '/etc/../etc/passwd' })).hit, 'none');
  });
}

function testContent(world: () => World): void {
  it('are copies: a check that writes into one changes its own [R84]', async () => {
    const files = { lock: 'copies' };
    await world().fill(LEAVE, { files });
    const before = await world().files();
    await world().run('echo bad > ~/store/a; chmod 777 ~/store/a; rm -rf ~/store; exit 0', { files });
    assert.match((await world().run(SHOW, { files })).output, /\none\n/);
    assert.deepEqual(await world().files(), before);
  });

  it('keep modes, times, links and closed folders, and no setuid [R85]', async () => {
    const files = { lock: 'modes' };
    const command = [
      'mkdir -p ~/store/closed tree/bin; cd ~/store; echo x > closed/x; chmod 444 closed/x; chmod 555 closed',
      'ln -s /usr/bin/env out; ln -s ../../tree up; ln closed/x same; echo x > s; chmod 6755 s; touch -d @1000000000 s',
      'ln -s ~/store/s /check/tree/tree/bin/tool',
    ].join('\n');
    const paths = ['~/store', 'tree'];
    assert.match((await world().fill(command, { files, paths })).output, /kept for later runs/);
    const { output } = await world().run(
      'cd ~/store; stat -c "%n %a" closed closed/x s; stat -c %Y s; readlink out up; cat same; readlink ../../check/tree/tree/bin/tool /check/tree/tree/bin/tool',
      { files, paths },
    );
    assert.match(output, /closed 555\nclosed\/x 444\ns 755\n1000000000\n\/usr\/bin\/env\n\.\.\/\.\.\/tree\nx\n/);
  });

  const refused: readonly [what: string, command: string, reason: RegExp][] = [
    ['a pipe', `${LEAVE}; mkfifo ~/store/pipe`, /not kept\. home\/store\/pipe is no file, folder or link/],
    ['a link at its place', 'mkdir ~/x; ln -s ~/x ~/store', /not kept\. home\/store is a link/],
    ['nothing', 'true', /not kept\. The check left nothing in its paths/],
    ['a closed file', `${LEAVE}; chmod 000 ~/store/a`, /not kept\. tar: .*Permission denied/],
    [
      'very many files',
      `mkdir ~/store; cd ~/store; seq ${MAX_ENTRIES} | xargs touch`,
      /not kept\. It has more than 200000 entries/,
    ],
  ];
  for (const [what, command, reason] of refused) {
    it(`of ${what} are not kept [R85]`, async () => {
      const files = { lock: what };
      const { end, output } = await world().fill(command, { files });
      assert.deepEqual(end, PASSED);
      assert.match(output, reason);
      assert.equal((await world().run(SHOW, { files })).hit, 'none');
      assert.ok((await world().files()).every((file) => file.endsWith('.tar')));
    });
  }

  it('have the content of the end of the check, not of what it left running [R85]', async () => {
    const files = { lock: 'running' };
    await world().fill(
      `${LEAVE}; (while :; do echo later > ~/store/a; done) & sleep 0.1; kill -9 $!; echo one > ~/store/a; (sleep 0.05; echo later > ~/store/a) &`,
      { files },
    );
    assert.match((await world().run(SHOW, { files })).output, /\none\n/);
  });
}

function testDisk(world: () => World, kind: ProtectionKind): void {
  it('of two runs at once are those of the first [R81]', async () => {
    const files = { lock: 'at once' };
    const runs = await Promise.all(
      ['1', '2'].map((text) => world().fill(`mkdir ~/store; echo ${text} > ~/store/a; sleep 0.3`, { files })),
    );
    const kept = runs.filter(({ output }) => output.includes('kept for later'));
    assert.ok(kept.length >= 1);
    assert.ok((await world().files()).every((file) => file.endsWith('.tar')));
    assert.match((await world().run(SHOW, { files })).output, /cache: exact.*\n[12]\n/);
  });

  const damages: readonly [what: string, damage: (file: string) => Promise<void>][] = [
    ['cut off', (file) => truncate(file, 4_000)],
    ['cut off in its facts', async (file) => truncate(file, (await stat(file)).size - 1)],
    ['empty', (file) => truncate(file, 0)],
    ['another', (file) => writeFile(file, 'x'.repeat(100_000))],
    ['changed', async (file) => writeFile(file, (await readFile(file)).fill('y', 1_536, 1_537))],
  ];
  for (const [what, damage] of damages) {
    it(`that are ${what} on the disk are removed, and the check runs as without one [R87]`, async () => {
      const files = { lock: what };
      const before = new Set(await world().files());
      await world().fill(LEAVE, { files });
      const [file = ''] = (await world().files()).filter((one) => !before.has(one));
      assert.equal((await world().run(SHOW, { files })).hit, 'exact');
      await damage(file);
      const { end, hit, output } = await world().run(SHOW, { files });
      assert.deepEqual([end, hit], [PASSED, 'none']);
      assert.match(output, /none has this key yet\.\nhit=none\n$/);
      await assert.rejects(stat(file), /ENOENT/);
      assert.equal((await world().fill(LEAVE, { files })).output.includes('kept for later'), true);
    });
  }

  it('that a killed server left unfinished are removed at the next start [R81]', async () => {
    await withWorld(kind, {}, async (first) => {
      await first.fill(LEAVE);
      const [file = ''] = await first.files();
      await copyFile(file, `${file}.1.part`);
      const limit = { kept: { folder: first.folder, limitBytes: 1024 ** 3 } };
      await withWorld(kind, limit, async (next) => {
        assert.deepEqual(await first.files(), [file]);
        assert.equal((await next.run(SHOW)).hit, 'exact');
      });
    });
  });

  it('go when there are too many bytes of them, the least recently used first [R88]', async () => {
    await withWorld(kind, {}, async ({ folder }) => {
      await withWorld(kind, { kept: { folder, limitBytes: 3_500_000 } }, async (small) => {
        const megabyte = 'mkdir ~/store; head -c 1000000 /dev/urandom > ~/store/a';
        for (const lock of ['1', '2', '3']) await small.fill(megabyte, { files: { lock } });
        assert.equal((await small.run('true', { files: { lock: '1' } })).hit, 'exact');
        await small.fill(megabyte, { files: { lock: '4' } });
        const hits = ['1', '2', '3', '4'].map(async (lock) => (await small.run('true', { files: { lock } })).hit);
        assert.deepEqual(await Promise.all(hits), ['exact', 'none', 'exact', 'exact']);
        const large = await small.fill('mkdir ~/store; head -c 4000000 /dev/zero > ~/store/a', {
          files: { lock: '5' },
        });
        assert.match(large.output, /not kept\. It has more than 3 MiB/);
      });
      // Less room than before.
      await withWorld(kind, { kept: { folder, limitBytes: 2_500_000 } }, async (smaller) => {
        assert.equal((await smaller.list()).length, 2);
      });
    });
  });

  it('are listed and removed [R91]', async () => {
    await withWorld(kind, {}, async (own) => {
      await own.fill(LEAVE, { check: 'unit "quoted"', branch: 'release/1' });
      const [cache, ...others] = await own.runner.caches.list('app');
      assert.deepEqual([cache?.check, cache?.branch, cache?.entries, others], ['unit "quoted"', 'release/1', 2, []]);
      await own.runner.caches.remove({ repository: 'app', key: cache?.key ?? '' });
      assert.deepEqual(await own.runner.caches.list('app'), []);
      assert.deepEqual(await own.runner.caches.list('none'), []);
    });
  });

  it('are off with a limit of 0 [R86]', async () => {
    await withWorld(kind, { kept: { folder: '/nowhere', limitBytes: 0 } }, async (off) => {
      const { end, output } = await off.fill(`${LEAVE}; ${SHOW}`);
      assert.deepEqual([end, output], [PASSED, 'one\nhit=none\n']);
      assert.equal(off.runner.caches.limitBytes, 0);
    });
  });
}

for (const kind of SANDBOXES) {
  describe(`caches of checks in ${kind}`, () => {
    let world: World;
    before(async () => {
      world = new World(await aRunner(kind));
    });
    after(() => world.close());
    testKeys(() => world);
    testContent(() => world);
    testDisk(() => world, kind);
  });
}

describe('tools of a check', () => {
  it('must be on PATH: the sentence names it and what helps [R90]', async () => {
    const world = new World(await aRunner(undefined));
    const { end } = await world.run('true', { tools: ['sh', 'no-such-tool'] });
    assert.equal(end.kind, 'impossible');
    assert.match(
      end.kind === 'impossible' ? end.problem : '',
      /^The check needs no-such-tool, which it does not find\. Checks find programs in \/.*: install it there, or name its folder in SLUICE_RUNNER_TOOLS\.$/,
    );
    await world.close();
  });

  it('are the files that a link leads to, known by their content [R90]', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-tools-'));
    await mkdir(join(folder, 'a'));
    await mkdir(join(folder, 'b', 'tool'), { recursive: true });
    await writeFile(join(folder, 'a', 'tool'), 'no program', { mode: 0o644 });
    await writeFile(join(folder, 'real'), '1', { mode: 0o755 });
    await mkdir(join(folder, 'c'));
    await symlink('../real', join(folder, 'c', 'tool'));
    const path = ['a', 'b', 'c', 'none'].map((name) => join(folder, name)).join(':');
    const finder = createToolFinder({ path, tools: [], canRead: () => true });
    const find = async () => (await finder.find(['tool', 'missing'])).map(({ path: file }) => file);
    assert.deepEqual(await find(), [join(folder, 'real'), undefined]);
    const first = await digestTool(join(folder, 'real'));
    assert.equal(await digestTool(join(folder, 'real')), first);
    await writeFile(join(folder, 'real'), '22', { mode: 0o755 });
    assert.notEqual(await digestTool(join(folder, 'real')), first);
    await rm(folder, { recursive: true });
  });

  it('are those that a check can read: the sentence says where a hidden one is [R65] [R90]', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-tools-'));
    for (const name of ['seen', 'hidden', join('named', 'bin')]) await mkdir(join(folder, name), { recursive: true });
    for (const file of ['hidden/secret', 'hidden/linked', 'named/bin/chosen'])
      await writeFile(join(folder, file), '', { mode: 0o755 });
    await symlink('../hidden/linked', join(folder, 'seen', 'linked'));
    const at = (name: string) => join(folder, name);
    const finder = createToolFinder({
      path: ['seen', 'hidden', 'none'].map(at).join(':'),
      tools: [at('named')],
      canRead: (file) => !file.startsWith(at('hidden')),
    });
    assert.deepEqual(
      (await finder.find(['secret', 'linked', 'chosen'])).map(({ path }) => path),
      [undefined, undefined, at('named/bin/chosen')],
    );
    assert.equal(finder.path, ['seen', 'hidden', 'none', 'named', 'named/bin'].map(at).join(':'));
    for (const name of ['secret', 'linked'])
      assert.match(await finder.explain(name), new RegExp(`^${name} is in ${at('hidden')}, which checks cannot read`));
    const seen = ['seen', 'named', 'named/bin'].map(at).join(', ');
    for (const name of ['missing', undefined])
      assert.match(await finder.explain(name), new RegExp(`^Checks find programs in ${seen}: install it there`));
    await rm(folder, { recursive: true });
  });
});

describe('a full disk', { skip: (await findMountProblem()) || SANDBOXES.length === 0 }, () => {
  const kind = SANDBOXES[0] ?? 'none';
  const large = 'mkdir ~/store; head -c 6000000 /dev/urandom > ~/store/a';

  async function withDisk(megabytes: number, act: (disk: SmallDisk) => Promise<void>): Promise<void> {
    const disk = await createSmallDisk(megabytes);
    await act(disk).finally(() => disk.close());
  }

  it('keeps no half of a cache, and the check passes [R81]', () =>
    withDisk(4, (disk) =>
      withWorld(kind, { kept: { folder: disk.folder, limitBytes: 1024 ** 3 } }, async (world) => {
        const { end, output } = await world.fill(large);
        assert.deepEqual(end, PASSED);
        assert.match(output, /not kept\. It cannot be written \(ENOSPC\)/);
        assert.deepEqual(
          (await readdir(disk.folder, { recursive: true })).filter((name) => name.includes('.')),
          [],
        );
        assert.match((await world.fill(LEAVE)).output, /kept for later runs/);
      }),
    ));

  it('has a check begin as without its cache, which stays [R87]', () =>
    withDisk(10, (disk) =>
      withWorld(kind, {}, async (roomy) => {
        await chmod(disk.folder, 0o711);
        await roomy.fill(large);
        const narrow = { folder: join(disk.folder, 'jobs'), kept: { folder: roomy.folder, limitBytes: 1024 ** 3 } };
        await withWorld(kind, narrow, async (world) => {
          const makeRoom = await disk.fill(3);
          const { end, output, hit } = await world.run('ls -A ~; echo hit=$SLUICE_CACHE_HIT');
          assert.deepEqual([end, hit], [PASSED, 'none']);
          assert.match(output, /cache: none, as one could not be restored: tar: home\/store\/a: .*\nhit=none\n$/);
          await makeRoom();
          assert.equal((await world.run(SHOW)).hit, 'exact');
        });
      }),
    ));
});

/** As on the machines of containers without it. */
describe('a machine without tar', () => {
  it('has no caches, and its checks say so [R86]', { skip: SANDBOXES.length === 0 }, async () => {
    const folder = await mkdtemp('/var/tmp/sluice-bin-');
    // Another folder than that of the tests, which a sandbox may hide.
    const path = process.env['PATH'];
    for (const top of ['/usr/bin', '/bin'])
      for (const name of await readdir(top))
        if (name !== 'tar') await symlink(join(top, name), join(folder, name)).catch(() => undefined);
    await chmod(folder, 0o755);
    try {
      process.env['PATH'] = folder;
      await withWorld(SANDBOXES[0] ?? 'none', {}, async (world) => {
        const { end, output } = await world.fill(LEAVE);
        assert.deepEqual(end, PASSED);
        assert.match(output, /not kept\. tar is not on PATH/);
      });
    } finally {
      process.env['PATH'] = path;
      await rm(folder, { recursive: true });
    }
  });
});
