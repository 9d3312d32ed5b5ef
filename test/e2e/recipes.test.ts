// Real small projects with packages from their registries: registered, tried and landed with nothing but a yes.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { PROPOSAL_FILES, proposeChecks } from '../../src/checks/propose-checks.ts';
import { ROOT, readPage } from '../helpers/doc-pages.ts';
import { once } from '../storm/suites/project.ts';
import { logOf, testRunOf, untilLeft } from './checks.ts';
import { makeFolder } from './harness.ts';
import { runSluice } from './run-sluice.ts';
import { useServer } from './test-queue.ts';

type Files = Readonly<Record<string, string>>;

interface Project {
  /** The program that makes the lock file, from the registry. */
  readonly lock: readonly [program: string, ...args: string[]] | undefined;
  /** Fails where the tool or its registry is out of reach. */
  readonly probe: readonly [program: string, ...args: string[]];
  readonly files: Files;
  /** A change that a test refuses. */
  readonly bad: Files;
  /** The targets of that change, where the project has workspaces. */
  readonly targets?: readonly string[];
  /** The rest run with `npm run check:recipes`. */
  readonly isInSuite: boolean;
}

const NODE_TEST = `import { test } from 'node:test';
import assert from 'node:assert/strict';
import isNumber from 'is-number';
import { double } from './double.js';
test('doubles a number', () => assert.ok(isNumber(double(2)) && double(2) === 4));
`;
const NODE: Files = {
  'package.json': JSON.stringify({
    ...{ name: 'double', version: '1.0.0', type: 'module', private: true },
    ...{ scripts: { test: 'node --test' }, dependencies: { 'is-number': '7.0.0' } },
  }),
  '.gitignore': 'node_modules\nreports\n',
  'double.js': 'export const double = (n) => n * 2;\n',
  'double.test.js': NODE_TEST,
};
const NODE_BAD = { 'double.js': 'export const double = (n) => n * 3;\n' };

const WORKSPACES: Files = {
  'package.json': JSON.stringify({
    ...{ name: 'shop', private: true, workspaces: ['packages/*'] },
    scripts: { test: 'npm test --workspaces' },
  }),
  '.gitignore': 'node_modules\n',
  ...Object.fromEntries(Object.entries(NODE).map(([name, text]) => [`packages/double/${name}`, text])),
  'packages/app/package.json': JSON.stringify({
    ...{ name: 'app', version: '1.0.0', type: 'module', scripts: { test: 'node --test' } },
    dependencies: { double: '1.0.0' },
  }),
  'packages/app/app.test.js': NODE_TEST.replace("import isNumber from 'is-number';\n", '')
    .replace('./double.js', 'double/double.js')
    .replace('isNumber(double(2)) && ', ''),
  'packages/tool/package.json': JSON.stringify({ name: 'tool', version: '1.0.0', scripts: { test: 'node --test' } }),
};

const PYTHON: Files = {
  'double.py': 'def double(n):\n    return n * 2\n',
  'test_double.py':
    'import six\nfrom double import double\n\n\ndef test_doubles():\n    assert six.PY3 and double(2) == 4\n',
};
const PYTHON_BAD = { 'double.py': 'def double(n):\n    return n * 3\n' };

const PROJECTS: Readonly<Record<string, Project>> = {
  npm: {
    probe: ['npm', 'view', 'is-number@7.0.0', 'version'],
    lock: ['npm', 'install', '--package-lock-only', '--no-audit', '--no-fund'],
    ...{ files: NODE, bad: NODE_BAD, isInSuite: true },
  },
  'npm workspaces': {
    probe: ['npm', 'view', 'is-number@7.0.0', 'version'],
    lock: ['npm', 'install', '--package-lock-only', '--no-audit', '--no-fund'],
    files: WORKSPACES,
    bad: { 'packages/double/double.js': NODE_BAD['double.js'] },
    targets: ['app', 'double'],
    isInSuite: true,
  },
  // gotestsum needs the same module, which keeps the download small.
  go: {
    probe: ['go', 'mod', 'download', 'github.com/google/shlex@v0.0.0-20191202100458-e7afc7fbc510'],
    lock: ['go', 'mod', 'tidy'],
    files: {
      'go.mod':
        'module example.com/double\n\ngo 1.21\n\nrequire github.com/google/shlex v0.0.0-20191202100458-e7afc7fbc510\n',
      'double.go': 'package double\n\nfunc Double(n int) int { return n * 2 }\n',
      'double_test.go': `package double

import (
	"testing"

	"github.com/google/shlex"
)

func TestDouble(t *testing.T) {
	words, _ := shlex.Split("a 'b c'")
	if Double(len(words)) != 4 {
		t.Fatal(Double(2))
	}
}
`,
    },
    bad: { 'double.go': 'package double\n\nfunc Double(n int) int { return n * 3 }\n' },
    isInSuite: true,
  },
  pip: {
    probe: ['python3', '-m', 'pip', 'download', '--quiet', '--no-deps', 'six==1.16.0'],
    lock: undefined,
    files: { ...PYTHON, 'requirements.txt': 'six==1.16.0\npytest==8.3.3\n', '.gitignore': '.venv\nreports\n' },
    ...{ bad: PYTHON_BAD, isInSuite: true },
  },
  pnpm: {
    probe: ['pnpm', '--version'],
    lock: ['pnpm', 'install', '--lockfile-only'],
    ...{ files: NODE, bad: NODE_BAD, isInSuite: false },
  },
  uv: {
    probe: ['uv', '--version'],
    lock: ['uv', 'lock'],
    files: {
      ...PYTHON,
      'pyproject.toml': `[project]
name = "double"
version = "1.0.0"
requires-python = ">=3.9"
dependencies = ["six==1.16.0"]

[dependency-groups]
dev = ["pytest==8.3.3"]
`,
    },
    ...{ bad: PYTHON_BAD, isInSuite: false },
  },
  cargo: {
    probe: ['cargo', '--version'],
    lock: ['cargo', 'generate-lockfile'],
    files: {
      'Cargo.toml': '[package]\nname = "double"\nversion = "1.0.0"\nedition = "2021"\n\n[dependencies]\nitoa = "1"\n',
      '.gitignore': 'target\n',
      'src/lib.rs': `pub fn double(n: u32) -> u32 {
    n * 2
}

#[test]
fn doubles() {
    assert_eq!(itoa::Buffer::new().format(double(2)), "4");
}
`,
    },
    bad: {
      'src/lib.rs':
        'pub fn double(n: u32) -> u32 {\n    n * 3\n}\n\n#[test]\nfn doubles() {\n    assert_eq!(double(2), 4);\n}\n',
    },
    isInSuite: false,
  },
};

/** As SLUICE_RUNNER_UIDS is set by default. */
const FIRST_UID = 60_600;
/** Tools of the other recipes, in a folder that sandboxes can read. */
const TOOLS = join(ROOT, '.cache/recipes');
const ALL = process.env['SLUICE_RECIPES'] === 'all';
if (ALL) process.env['PATH'] = `${TOOLS}/bin:${TOOLS}/uv/bin:${TOOLS}/rust/bin:${process.env['PATH']}`;
const INSTALLS = [
  `npm install --global --prefix ${TOOLS} pnpm@9`,
  `test -e ${TOOLS}/uv || { python3 -m venv ${TOOLS}/uv && ${TOOLS}/uv/bin/pip install --quiet uv; }`,
  `test -e ${TOOLS}/rust || cp -r "$(rustc --print sysroot)" ${TOOLS}/rust`,
];

const wanted = Object.entries(PROJECTS).filter(([, { isInSuite }]) => isInSuite || ALL);

async function run([program, ...args]: readonly [string, ...string[]], cwd: string): Promise<string | undefined> {
  try {
    await promisify(execFile)(program, args, { cwd, timeout: 120_000 });
    return undefined;
  } catch (error) {
    return `${program} ${args.join(' ')}: ${(error as Error).message.split('\n').slice(0, 3).join(' ')}`;
  }
}

/** The project with its lock file, as a person would commit it. */
async function readFiles({ files, lock }: Project): Promise<Files> {
  const folder = await makeFolder();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  if (lock !== undefined) assert.equal(await run(lock, folder), undefined);
  const made = ['package-lock.json', 'pnpm-lock.yaml', 'go.mod', 'go.sum', 'uv.lock', 'Cargo.lock'];
  const locks = await Promise.all(
    made.map(async (name) => [name, await readFile(join(folder, name), 'utf8').catch(() => undefined)] as const),
  );
  return {
    ...files,
    ...Object.fromEntries(locks.flatMap(([name, text]) => (text === undefined ? [] : [[name, text]]))),
  };
}

for (const line of ALL ? INSTALLS : []) assert.equal(await run(['sh', '-c', line], ROOT), undefined);

/** A `go` that keeps what it compiles for the next time that the suite runs: half a minute of work. */
async function keepBuilds(): Promise<Readonly<Record<string, string>>> {
  const builds = await once(join(TOOLS, 'go-builds'), async (folder) => {
    // The group of all users of checks, where the server is root.
    if (process.getuid?.() === 0) await chown(folder, 0, FIRST_UID);
    await chmod(folder, 0o2775);
  });
  const { stdout: root } = await promisify(execFile)('go', ['env', 'GOROOT']);
  const script = `#!/bin/sh
if [ "$HOME" = /check/home ]; then export GOCACHE=${builds}; fi
exec ${root.trim()}/bin/go "$@"
`;
  await mkdir(join(TOOLS, 'go'), { recursive: true });
  await writeFile(join(TOOLS, 'go/go'), script, { mode: 0o755 });
  process.env['PATH'] = `${TOOLS}/go:${process.env['PATH']}`;
  return { SLUICE_RUNNER_CACHES: builds };
}

const kept = ALL ? {} : await keepBuilds().catch(() => ({}));

describe('a project of', () => {
  const world = useServer({ SLUICE_RUNNER_PROTECTION: '', ...kept });

  for (const [name, project] of wanted) {
    it(`${name} lands its first pull request with one yes [R71] [W77]`, { timeout: 600_000 }, async (t) => {
      const unreachable = await run(project.probe, await makeFolder());
      if (unreachable !== undefined) return t.skip(unreachable);
      const files = await readFiles(project);
      const queue = await world.aQueue({ requiredStatuses: null });
      await queue.git.commit('main', { files });
      await queue.api.ok('deleteQueue', queue.ref);
      const environment = { SLUICE_URL: world.server.url, SLUICE_TOKEN: world.server.token };
      const { code, out, err } = await runSluice(['repo', 'add', queue.name, '--yes'], environment).ended;
      assert.equal(code, 0, out + err);
      const known = PROPOSAL_FILES.flatMap((file) => (files[file] === undefined ? [] : [[file, files[file]] as const]));
      const { configuration = '' } = proposeChecks(new Map(known));
      assert.ok(readPage('docs/recipes.md').includes(configuration), `docs/recipes.md lacks:\n${configuration}`);
      // Its cache is all that the next check needs.
      const closed = configuration.replace(' network: true\n', ' network: false\n');
      await queue.git.commit('main', { files: { '.sluice.yaml': closed } });
      const first = await queue.submitOne({ 'NOTES.md': 'A note.\n' });
      assert.equal((await untilLeft(queue, first)).state, 'MERGED');
      const [check = ''] = /^ {2}(\w+):$/m.exec(configuration)?.slice(1) ?? [];
      const log = await logOf(queue, await testRunOf(queue, first), check);
      assert.match(log, /, without network .*cache: exact,/s);
      if (configuration.includes('junit:')) assert.match(log, /1 report handed to ingestion/);
      const bad = await queue.openPullRequest(project.bad);
      if (project.targets !== undefined) {
        const { targets } = await queue.api.ok<{ targets: unknown }>('explainImpactedTargets', queue.entry(bad));
        assert.deepEqual(targets, project.targets);
      }
      // A failure has three runs.
      if (!ALL && name !== 'npm') return;
      await queue.submit(bad);
      assert.equal((await untilLeft(queue, bad)).state, 'FAILED');
    });
  }
});
