import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { parseRules } from '../lanes/parse-rules.ts';
import { checksOfText } from './file-checks.ts';
import { type ProposalFile, proposeChecks } from './propose-checks.ts';

type Texts = Partial<Record<ProposalFile, string>>;

function filesOf(texts: Texts): ReadonlyMap<ProposalFile, string> {
  return new Map(Object.entries(texts)) as Map<ProposalFile, string>;
}

function checksOf(texts: Texts): Readonly<Record<string, { readonly run: string; readonly prepare?: string }>> {
  const { configuration } = proposeChecks(filesOf(texts));
  return configuration === undefined ? {} : parse(configuration).checks;
}

function manifest(test: string, more: object = {}): Texts {
  return { 'package.json': JSON.stringify({ scripts: { test }, devDependencies: { tool: '1' }, ...more }) };
}

function assertGood(texts: Texts): void {
  const { configuration = '' } = proposeChecks(filesOf(texts));
  assert.ok(!('problem' in checksOfText(configuration)), configuration);
}

const LOCK = { 'package-lock.json': '{}' };

describe('proposed checks', () => {
  const node: readonly [Texts, string, string | undefined][] = [
    [{ ...manifest('vitest'), ...LOCK }, 'npx vitest run --reporter=default --reporter=junit', 'npm ci'],
    [{ ...manifest('jest', { devDependencies: { 'jest-junit': '1' } }), ...LOCK }, 'npx jest --ci', 'npm ci'],
    [{ ...manifest('jest'), ...LOCK }, 'npm test', 'npm ci'],
    [{ ...manifest('node --test test/*.js'), ...LOCK }, 'mkdir -p reports && node --test --test-reporter', 'npm ci'],
    [{ ...manifest('mocha && eslint .'), 'pnpm-lock.yaml': '' }, 'pnpm test', 'pnpm install --frozen-lockfile'],
    [{ ...manifest('x'), 'yarn.lock': '# yarn lockfile v1' }, 'yarn test', 'yarn install --frozen-lockfile'],
    [{ ...manifest('x'), 'yarn.lock': '__metadata:' }, 'yarn test', 'yarn install --immutable'],
    [manifest('x'), 'npm test', 'npm install'],
    [manifest('x', { devDependencies: {} }), 'npm test', undefined],
  ];
  for (const [texts, run, prepare] of node) {
    it(`[R71] of ${Object.keys(texts).join(' and ')} run ${run}, after ${prepare ?? 'nothing'}`, () => {
      const check = checksOf(texts)['node'];
      assertGood(texts);
      assert.ok(check?.run.startsWith(run) === true, check?.run);
      assert.equal(check?.prepare?.startsWith(prepare ?? '-'), prepare === undefined ? undefined : true);
    });
  }

  const others: readonly [string, Texts, object][] = [
    [
      'go',
      { 'go.mod': 'module a', 'go.sum': 'x' },
      { run: `~/go/bin/gotestsum --junitfile reports/go.xml -- -count=1 "\${@:-./...}"`, selects: 'go' },
    ],
    ['go', { 'go.mod': 'module a' }, { run: 'go test ./...' }],
    ['go', { 'go.work': 'use ./a' }, { junit: ['reports/*.xml'], network: true, selects: 'go' }],
    [
      'python',
      { 'requirements.txt': 'flask\n', 'requirements-dev.txt': 'pytest==8\n' },
      {
        prepare: 'python3 -m venv .venv && .venv/bin/pip install --quiet -r requirements.txt -r requirements-dev.txt',
        run: '.venv/bin/python -m pytest --junitxml=reports/pytest.xml "$@"',
        selects: 'pytest',
        cache: { key: ['requirements.txt', 'requirements-dev.txt'], paths: ['.venv'], result: true },
        tools: ['python3'],
      },
    ],
    [
      'python',
      { 'pyproject.toml': "[project]\nname='a'\n[project.optional-dependencies]\ntest = ['pytest']\n" },
      { prepare: "python3 -m venv .venv && .venv/bin/pip install --quiet -e '.[test]'" },
    ],
    [
      'python',
      { 'pyproject.toml': "[dependency-groups]\ndev = ['pytest']\n" },
      {
        prepare:
          "python3 -m venv .venv && .venv/bin/pip install --quiet 'pip>=25.1' && .venv/bin/pip install --quiet --group dev",
        cache: { key: ['pyproject.toml'], paths: ['.venv'], result: true },
      },
    ],
    ['python', { 'pytest.ini': '' }, { prepare: 'python3 -m venv .venv && .venv/bin/pip install --quiet pytest' }],
    ['python', { 'pyproject.toml': 'pytest', 'uv.lock': '' }, { prepare: 'uv sync --frozen --all-extras' }],
    ['rust', { 'Cargo.toml': '', 'Cargo.lock': '' }, { run: 'cargo test --workspace --locked' }],
    [
      'rust',
      {
        'Cargo.toml': '',
        'Cargo.lock': '',
        '.config/nextest.toml': '[profile.default]\nretries = 1\n[profile.ci.junit]\npath = "junit.xml"\n',
      },
      {
        tools: ['cargo', 'cargo-nextest'],
        run: 'cargo nextest run --workspace --locked --profile ci',
        junit: ['target/nextest/ci/junit.xml'],
      },
    ],
    ['rust', { 'Cargo.toml': '', '.config/nextest.toml': '[profile.ci]\n' }, { run: 'cargo test --workspace' }],
    ['check', { Makefile: 'all: x\ncheck: all\n' }, { run: 'make check' }],
  ];
  for (const [name, texts, fields] of others) {
    it(`[R71] of ${Object.keys(texts).join(' and ')} are ${JSON.stringify(fields)}`, () => {
      assert.partialDeepStrictEqual(checksOf(texts)[name], fields);
      assertGood(texts);
    });
  }

  const PROJECT = '[project]\nname = "a"\n[project.optional-dependencies]\ntest = ["pytest"]\n';
  const generated: readonly Texts[] = [
    { 'requirements.txt': 'pytest\n-r base.txt\n' },
    { 'requirements.txt': 'pytest\n ./lib\n' },
    { 'requirements.txt': 'pytest\nlib @ file:lib\n' },
    { 'pyproject.toml': PROJECT.replace('name', 'dynamic = ["version"]\nname') },
    { 'pyproject.toml': `${PROJECT}[tool.hatch.build.hooks.vcs]\n` },
    { 'pyproject.toml': `${PROJECT}[build-system]\nbuild-backend = "maturin"\n` },
    { 'pyproject.toml': PROJECT, 'setup.py': '' },
    { 'pyproject.toml': PROJECT, 'setup.cfg': 'install_requires = file: base.txt\n' },
  ];
  for (const texts of generated) {
    it(`[R71] keep what pip downloads where its key does not tell all: ${JSON.stringify(texts)}`, () => {
      assert.partialDeepStrictEqual(checksOf(texts)['python'], { cache: { paths: ['~/.cache/pip'] } });
    });
  }

  it('[R71] keep the whole environment of a project that installs nothing beside it', () => {
    for (const backend of ['setuptools.build_meta', 'hatchling.build', 'poetry.core.masonry.api']) {
      const texts = { 'pyproject.toml': `${PROJECT}[build-system]\nbuild-backend = "${backend}"\n` };
      assert.partialDeepStrictEqual(checksOf(texts)['python'], { cache: { paths: ['.venv'], result: true } });
    }
  });

  const workspaces: readonly [string, Texts, readonly string[] | undefined][] = [
    ['npm', { ...manifest('x', { workspaces: ['packages/*'] }), ...LOCK }, ['package-lock.json']],
    ['yarn', { ...manifest('x', { workspaces: { packages: ['a'] } }), 'yarn.lock': '' }, ['yarn.lock']],
    ['pnpm', { ...manifest('x'), 'pnpm-workspace.yaml': 'packages: [a]', 'pnpm-lock.yaml': '' }, ['pnpm-lock.yaml']],
    ['go.work', { 'go.work': 'use ./a' }, undefined],
    ['cargo', { 'Cargo.toml': "[workspace]\nmembers = ['a']\n", 'Cargo.lock': '' }, ['Cargo.lock']],
  ];
  for (const [name, texts, barriers] of workspaces) {
    it(`[R71] have targets for the workspaces of ${name}`, () => {
      const { configuration = '', notes } = proposeChecks(filesOf(texts));
      const { targets } = parse(configuration);
      assert.deepEqual(targets, { workspaces: 'auto', ...(barriers && { barriers }) });
      assert.match(notes.at(-1) ?? '', /^targets: .*--mode parallel/);
      assert.deepEqual(parseRules(Buffer.from(configuration)), {
        ...{ paths: [], readsWorkspaces: true, barriers: barriers ?? [], otherwise: 'ALL' },
      });
    });
  }

  it('[R71] have no targets without workspaces, or without a check', () => {
    const none: readonly Texts[] = [
      { ...manifest('x', { workspaces: [] }), 'pnpm-workspace.yaml': 'onlyBuiltDependencies: [a]\n' },
      { 'Cargo.toml': '[workspace.lints]\n' },
      { 'package.json': '{"workspaces":["a"]}' },
    ];
    for (const texts of none) assert.doesNotMatch(proposeChecks(filesOf(texts)).configuration ?? '', /targets/);
  });

  it('[R71] are several where a repository has several languages, and its Makefile is left out', () => {
    const texts = { ...manifest('x'), 'go.mod': 'module a', Makefile: 'test:\n' };
    assert.deepEqual(Object.keys(checksOf(texts)), ['node', 'go']);
  });

  it('[R71] are none where no file tells a test, or a file is no manifest', () => {
    const bad: readonly Texts[] = [
      {},
      { 'package.json': 'not json' },
      { 'package.json': '[]' },
      { 'package.json': '{"scripts":{"test":5}}' },
      manifest('echo "Error: no test specified" && exit 1'),
      { 'pyproject.toml': '[project]\nname="x"\n' },
      { Makefile: 'test := 5\n' },
    ];
    for (const texts of bad) assert.deepEqual(checksOf(texts), {}, JSON.stringify(texts));
  });
});
