import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { aRunner, findWorkingProtections } from '../../../test/helpers/local-runner.ts';
import type { CheckRunner, JobEnd, LeftFiles } from '../runner.ts';
import { listJobs, removeFolder } from './work-folder.ts';

const isRoot = process.getuid?.() === 0;
const KINDS = await findWorkingProtections();
const isLinux = process.platform === 'linux';

let folder = '';
let secrets = '';
let runner: CheckRunner;
let close: () => Promise<void>;
before(async () => {
  secrets = await mkdtemp(join(tmpdir(), 'sluice-left-'));
  ({ runner, folder, close } = await aRunner('none'));
});
after(async () => {
  await close();
  await removeFolder(secrets);
});

interface Left {
  readonly end: JobEnd;
  /** Contents by name. Undefined when `take` was not called. */
  readonly files: Readonly<Record<string, string>> | undefined;
  readonly problems: readonly string[];
}

interface Given {
  readonly globs?: readonly string[];
  /** Files of the commit. */
  readonly tree?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly stop?: AbortSignal;
  readonly on?: CheckRunner;
}

async function run(command: string, given: Given = {}): Promise<Left> {
  const { globs = ['reports/*.xml'], tree = {}, timeoutMs = 60_000, stop = new AbortController().signal } = given;
  let taken: LeftFiles | undefined;
  const files: Record<string, string> = {};
  const take = async (left: LeftFiles) => {
    taken = left;
    for (const file of left.files) files[file.name] = await textOf(file);
  };
  const end = await (given.on ?? runner).run(
    {
      rank: 0,
      share: 'a',
      command,
      timeoutMs,
      network: false,
      variables: {},
      prepare: ({ folder: place }) => fill(place, tree),
      onStart: async () => undefined,
      onOutput: async () => undefined,
      reports: { globs, take },
    },
    stop,
  );
  return { end, files: taken === undefined ? undefined : files, problems: taken?.problems ?? [] };
}

async function fill(place: string, tree: Readonly<Record<string, string>>): Promise<undefined> {
  for (const [name, text] of Object.entries(tree)) {
    await mkdir(dirname(join(place, name)), { recursive: true });
    await writeFile(join(place, name), text);
  }
}

async function textOf(file: LeftFiles['files'][number]): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const bytes of file.read()) chunks.push(bytes);
  assert.equal(Buffer.concat(chunks).length, file.sizeBytes);
  return Buffer.concat(chunks).toString();
}

describe('a file that a command leaves behind', () => {
  it('[R23] is handed over when it ends, whether it passed or failed, and removed then', async () => {
    for (const code of [0, 1]) {
      const command = `mkdir reports; echo one > reports/a.xml; echo two > reports/b.xml; echo no > c.xml; exit ${code}`;
      const { end, files } = await run(command);
      assert.deepEqual(
        [end, files],
        [
          { kind: 'exited', code },
          { 'reports/a.xml': 'one\n', 'reports/b.xml': 'two\n' },
        ],
      );
    }
    const [mark = ''] = await readdir(folder);
    assert.deepEqual(await listJobs(join(folder, mark)), []);
  });

  it('[R23] is found by globs, at any depth', async () => {
    const command = 'mkdir -p a/b/target .git/x; for f in a a/b a/b/target .git/x .; do echo $f > $f/TEST-x.xml; done';
    const find = async (...globs: string[]) => Object.keys((await run(command, { globs })).files ?? {});
    assert.deepEqual(await find('**/TEST-*.xml'), [
      'TEST-x.xml',
      'a/TEST-x.xml',
      'a/b/TEST-x.xml',
      'a/b/target/TEST-x.xml',
    ]);
    assert.deepEqual(await find('a/*/target/*.xml', './a/TEST-x.xml'), ['a/TEST-x.xml', 'a/b/target/TEST-x.xml']);
    assert.deepEqual(await find('a/**/*.xml'), ['a/TEST-x.xml', 'a/b/TEST-x.xml', 'a/b/target/TEST-x.xml']);
    assert.deepEqual(await find('{a,x}/{b,c}/*.xml'), ['a/b/TEST-x.xml']);
    assert.deepEqual(await find('*.xml', '/etc/*', '../*', '../../*/*', ''), ['TEST-x.xml']);
    const { files, problems } = await run(command, { globs: ['*.xml', '+(a|aa)+(a|aa)b'] });
    assert.deepEqual(Object.keys(files ?? {}), ['TEST-x.xml']);
    assert.match(problems.join(), /^The glob \+\(a\|aa\)\+\(a\|aa\)b has parentheses/);
  });

  it('[R23] is not one of the commit, unless the command wrote it again', async () => {
    const tree = { 'reports/old.xml': 'old', 'reports/again.xml': 'old' };
    const { files } = await run('echo new > reports/again.xml', { tree });
    assert.deepEqual(files, { 'reports/again.xml': 'new\n' });
  });

  it('[R23] leads nowhere else: links, pipes and folders are named, and not read', { skip: !isLinux }, async () => {
    const secret = join(secrets, 'secret.xml');
    await writeFile(secret, 'secret');
    const command = `mkdir reports real; cd reports; ln -s ${secret} link.xml; mkfifo pipe.xml; mkdir folder.xml
      echo yes > good.xml; ln -s ${secrets} ../out; echo x > ../real/x.xml; ln -s real ../inner`;
    const { files, problems } = await run(command, { globs: ['reports/*.xml', 'out/*.xml', 'inner/*.xml'] });
    assert.deepEqual(files, { 'reports/good.xml': 'yes\n' });
    assert.deepEqual(problems, [
      'reports/link.xml is a link or no file, and was not read.',
      'reports/pipe.xml is a link or no file, and was not read.',
    ]);
  });

  it('[R23] has bounds', async () => {
    const many = await run('mkdir reports; i=0; while [ $i -le 1000 ]; do echo $i > reports/$i.xml; i=$((i+1)); done');
    assert.equal(Object.keys(many.files ?? {}).length, 1_000);
    assert.deepEqual(many.problems, ['There are more than 1000 reports, or more than 100 MiB of them.']);
    const large = await run('mkdir reports; echo a > reports/a.xml; truncate -s 100M reports/b.xml');
    assert.deepEqual([large.files, large.problems.length], [{ 'reports/a.xml': 'a\n' }, 1]);
  });

  it('[R37] is not taken where the command was cut off', async () => {
    const left = 'mkdir reports; echo a > reports/a.xml;';
    const stopping = new AbortController();
    const stopped = run(`${left} sleep 1000`, { stop: stopping.signal });
    stopping.abort();
    assert.deepEqual([(await stopped).end.kind, (await stopped).files], ['stopped', undefined]);
    const timedOut = await run(`${left} sleep 1000`, { timeoutMs: 300 });
    assert.deepEqual([timedOut.end.kind, timedOut.files], ['timed_out', undefined]);
    const killed = await run(`${left} kill -KILL $$`);
    assert.deepEqual([killed.end.kind, killed.files], ['killed', undefined]);
  });

  it('[R23] is named where it cannot be read', { skip: isRoot }, async () => {
    const { files, problems } = await run('mkdir reports; echo a > reports/a.xml; chmod 000 reports/a.xml');
    assert.deepEqual([files, problems], [{}, ['reports/a.xml cannot be read (EACCES).']]);
  });

  for (const kind of KINDS) {
    it(`[R23] is read under ${kind} also where it is closed to others, and only where it is theirs`, async () => {
      const other = await aRunner(kind);
      try {
        const command = 'umask 077; mkdir reports; echo a > reports/a.xml; ln -s /etc/passwd reports/b.xml; exit 1';
        const { end, files, problems } = await run(command, { on: other.runner });
        assert.deepEqual([end, files], [{ kind: 'exited', code: 1 }, { 'reports/a.xml': 'a\n' }]);
        assert.equal(problems.length, 1);
      } finally {
        await other.close();
      }
    });
  }
});
