import { stringify } from 'yaml';
import type { Framework } from './selects/select-tests.ts';

/** The files of a branch that a proposal is made of. Those that do not exist have no text. */
export const PROPOSAL_FILES = [
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'yarn.lock',
  'go.mod',
  'go.sum',
  'go.work',
  'go.work.sum',
  'pyproject.toml',
  'requirements.txt',
  'requirements-dev.txt',
  'dev-requirements.txt',
  'test-requirements.txt',
  'pytest.ini',
  'tox.ini',
  'setup.cfg',
  'setup.py',
  'uv.lock',
  'Cargo.toml',
  'Cargo.lock',
  '.config/nextest.toml',
  'Makefile',
] as const;

export type ProposalFile = (typeof PROPOSAL_FILES)[number];
export type RootFiles = ReadonlyMap<ProposalFile, string>;

/** A check as `.sluice.yaml` has it. */
interface ProposedCheck {
  readonly tools?: readonly string[];
  readonly cache?: ProposedCache;
  readonly prepare?: string;
  readonly run: string;
  readonly network?: true;
  readonly env?: Readonly<Record<string, string>>;
  readonly junit?: readonly string[];
  readonly selects?: Framework;
}

interface ProposedCache {
  readonly key: readonly string[];
  readonly paths: readonly string[];
  readonly verified?: true;
  readonly result?: true;
}

export interface Proposal {
  /** The text of a `.sluice.yaml`; undefined where nothing is known. */
  readonly configuration: string | undefined;
  /** The files that each part was concluded from, or a sentence on what is missing. */
  readonly notes: readonly string[];
}

type Ecosystem = (files: RootFiles) => { readonly check: ProposedCheck; readonly note: string } | undefined;

/** Proposes a check for each ecosystem that the root of the repository shows, and its lanes. Nothing of it is run. */
// SPEC R71
export function proposeChecks(files: RootFiles): Proposal {
  const found = Object.entries(ECOSYSTEMS).flatMap(([name, read]) => {
    const proposed = read(files);
    return proposed === undefined ? [] : [{ name, ...proposed }];
  });
  const chosen = found.length === 0 ? fromMakefile(files) : found;
  if (chosen.length === 0) return { configuration: undefined, notes: [NOTHING] };
  const checks = Object.fromEntries(chosen.map(({ name, check }) => [name, check]));
  const lanes = proposeTargets(files);
  return {
    configuration: stringify({ checks, ...lanes?.part }, { lineWidth: 0 }),
    notes: [...chosen.map(({ note }) => note), ...(lanes === undefined ? [] : [lanes.note])],
  };
}

/** Lock files of workspaces: any package may depend on what they name. */
const SHARED_LOCKS = [
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  'go.work.sum',
  'Cargo.lock',
] as const;

function proposeTargets(files: RootFiles) {
  const shown = {
    'package.json': keysAt(jsonOf(files.get('package.json')), 'workspaces').length > 0,
    'pnpm-workspace.yaml': /^packages\s*:/m.test(files.get('pnpm-workspace.yaml') ?? ''),
    'go.work': files.has('go.work'),
    'Cargo.toml': sectionOf(files.get('Cargo.toml'), 'workspace').includes('members'),
  };
  const names = Object.entries(shown).flatMap(([name, isShown]) => (isShown ? [name] : []));
  if (names.length === 0) return undefined;
  const locks = SHARED_LOCKS.filter((name) => files.has(name));
  const barriers = locks.length === 0 ? {} : { barriers: locks };
  return {
    part: { targets: { workspaces: 'auto', ...barriers } },
    note: `targets: the workspaces of ${names.join(' and ')}. With --mode parallel, pull requests of packages that do not need each other are tested side by side.`,
  };
}

const NOTHING =
  'Nothing is proposed: main has no package.json with a test script, go.mod, Python tests, Cargo.toml or Makefile with a target test. Name a check: --check test=COMMAND';

function fromNode(files: RootFiles): ReturnType<Ecosystem> {
  const manifest = jsonOf(files.get('package.json'));
  const script = textAt(manifest, 'scripts', 'test');
  if (script === undefined || script.includes('no test specified')) return undefined;
  const names = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((kind) => keysAt(manifest, kind));
  const tests = nodeTests(script, new Set(names));
  const install = names.length === 0 && keysAt(manifest, 'workspaces').length === 0 ? undefined : nodeInstall(files);
  const run = tests?.run ?? `${install?.tool ?? 'npm'} test`;
  const by =
    tests === undefined ? `its script test is run as it is (${script})` : `its script test is ${tests.framework}`;
  return {
    check: { ...install?.check, run, ...tests?.more },
    note: `node: package.json, ${install === undefined ? 'which needs no packages' : `and ${install.lock}`}; ${by}.`,
  };
}

interface NodeInstall {
  readonly tool: string;
  readonly lock: string;
  readonly check: Pick<ProposedCheck, 'prepare' | 'network' | 'cache'>;
}

function nodeInstall(files: RootFiles): NodeInstall {
  const cached = (key: string, paths: string) => ({ cache: { key: [key], paths: [paths], verified: true as const } });
  const network = { network: true as const };
  if (files.has('pnpm-lock.yaml')) {
    const check = {
      ...cached('pnpm-lock.yaml', '~/.local/share/pnpm/store'),
      prepare: 'pnpm install --frozen-lockfile',
    };
    return { tool: 'pnpm', lock: 'pnpm-lock.yaml', check: { ...check, ...network } };
  }
  if (files.has('yarn.lock')) {
    const isClassic = files.get('yarn.lock')?.includes('# yarn lockfile v1') === true;
    // The first yarn believes what is in its cache.
    const check = isClassic
      ? {
          cache: { key: ['yarn.lock'], paths: ['~/.cache/yarn'] },
          prepare: 'yarn install --frozen-lockfile --prefer-offline',
        }
      : { ...cached('yarn.lock', '~/.yarn/berry/cache'), prepare: 'yarn install --immutable' };
    return { tool: 'yarn', lock: 'yarn.lock', check: { ...check, ...network } };
  }
  const lock = (['package-lock.json', 'npm-shrinkwrap.json'] as const).find((name) => files.has(name));
  if (lock === undefined)
    return { tool: 'npm', lock: 'no lock file', check: { prepare: 'npm install --no-audit --no-fund', ...network } };
  return {
    tool: 'npm',
    lock,
    check: { ...cached(lock, '~/.npm'), prepare: 'npm ci --prefer-offline --no-audit --no-fund', ...network },
  };
}

interface NodeTests {
  readonly framework: string;
  readonly run: string;
  readonly more: Pick<ProposedCheck, 'junit' | 'env' | 'selects'>;
}

const REPORT = { junit: ['reports/*.xml'] };

/** A script that is a framework alone can write reports. Any other is run as it is. */
function nodeTests(script: string, dependencies: ReadonlySet<string>): NodeTests | undefined {
  const words = script.trim();
  if (/^vitest(?: run| --run)?$/.test(words)) {
    const run = 'npx vitest run --reporter=default --reporter=junit --outputFile.junit=reports/node.xml "$@"';
    return { framework: 'vitest', run, more: { ...REPORT, selects: 'vitest' } };
  }
  if (/^jest(?: --ci)?$/.test(words) && dependencies.has('jest-junit')) {
    const env = { JEST_JUNIT_OUTPUT_DIR: 'reports', JEST_JUNIT_ADD_FILE_ATTRIBUTE: 'true' };
    return {
      framework: 'jest',
      run: 'npx jest --ci --reporters=default --reporters=jest-junit "$@"',
      more: { ...REPORT, selects: 'jest', env },
    };
  }
  const [, rest] = /^node --test((?: [\w./*'"-]+)*)$/.exec(words) ?? [];
  if (rest === undefined || rest.includes('reporter')) return undefined;
  const reporters =
    '--test-reporter=spec --test-reporter-destination=stdout --test-reporter=junit --test-reporter-destination=reports/node.xml';
  const run = `mkdir -p reports && node --test ${reporters} "$@"${rest}`;
  return { framework: 'node --test', run, more: { ...REPORT, selects: 'node' } };
}

const GOTESTSUM = 'v1.13.0';
/** In a go.work, ./... is the module of the root alone. */
const WORK_MODULES = `$(go list -m -f '{{.Dir}}/...')`;

function fromGo(files: RootFiles): ReturnType<Ecosystem> {
  const isWork = files.has('go.work');
  if (!files.has('go.mod') && !isWork) return undefined;
  const packages = isWork ? WORK_MODULES : './...';
  if (!files.has('go.sum') && !isWork)
    return { check: { run: `go test ${packages}` }, note: 'go: go.mod, which needs no modules; without test reports.' };
  const key = isWork ? ['go.work', '**/go.sum'] : ['go.sum'];
  // Without what was compiled, each run would compile the standard library.
  const cache = { key, paths: ['~/go/pkg/mod', '~/go/bin', '~/.cache/go-build'], result: true as const };
  const prepare = `go mod download && go install gotest.tools/gotestsum@${GOTESTSUM}`;
  // Go would tell of earlier results as if tests had run again: a flaky test would look healthy.
  const begin = isWork ? `[ $# -gt 0 ] || set -- ${WORK_MODULES}; ` : '';
  const run = `${begin}~/go/bin/gotestsum --junitfile reports/go.xml -- -count=1 "${isWork ? '$@' : `\${@:-./...}`}"`;
  const from = isWork ? 'go.work, with all modules that it uses' : 'go.mod and go.sum';
  return {
    check: { cache, prepare, run, network: true, ...REPORT, selects: 'go' },
    note: `go: ${from}; gotestsum ${GOTESTSUM} runs go test and writes the reports.`,
  };
}

const REQUIREMENTS = [
  'requirements.txt',
  'requirements-dev.txt',
  'dev-requirements.txt',
  'test-requirements.txt',
] as const;
const PYTEST = 'python -m pytest --junitxml=reports/pytest.xml "$@"';
const PYTEST_REPORT = { ...REPORT, selects: 'pytest' as const };

function fromPython(files: RootFiles): ReturnType<Ecosystem> {
  const project = files.get('pyproject.toml');
  const told = [
    project,
    ...(['pytest.ini', 'tox.ini', 'setup.cfg', ...REQUIREMENTS] as const).map((name) => files.get(name)),
  ];
  if (!files.has('pytest.ini') && !told.some((text) => /\bpytest\b/.test(text ?? ''))) return undefined;
  if (files.has('uv.lock')) {
    const cache = { key: ['uv.lock'], paths: ['~/.cache/uv'], verified: true as const };
    const check = { cache, prepare: 'uv sync --frozen --all-extras', run: `uv run ${PYTEST}`, network: true as const };
    return { check: { ...check, ...PYTEST_REPORT }, note: 'python: uv.lock; its tests are pytest.' };
  }
  const has = (name: ProposalFile) => files.has(name);
  const lists = REQUIREMENTS.filter(has);
  const extra = /^(test|tests|testing|dev)\s*=\s*\[/m.exec(sectionOf(project, 'project.optional-dependencies'))?.[1];
  const group = /^(test|tests|testing|dev)\s*=\s*\[/m.exec(sectionOf(project, 'dependency-groups'))?.[1];
  const own = /^\[(?:project|build-system)\]/m.test(project ?? '') || files.has('setup.py');
  const parts = [
    ...lists.map((name) => `-r ${name}`),
    ...(own ? [`-e ${extra === undefined ? '.' : `'.[${extra}]'`}`] : []),
    ...(group === undefined ? [] : [`--group ${group}`]),
  ];
  const isNamed =
    /\bpytest\b/.test([...lists.map((name) => files.get(name)), extra, group].join('\n')) ||
    extra !== undefined ||
    group !== undefined;
  const packages = [...parts, ...(isNamed ? [] : ['pytest'])].join(' ');
  const named = own || group !== undefined ? (['pyproject.toml', 'setup.cfg', 'setup.py'] as const).filter(has) : [];
  const key = [...lists, ...named];
  const isWhole = lists.every((name) => !LEADS_ON.test(files.get(name) ?? '')) && (!own || isPlain(files));
  const cache: ProposedCache = isWhole ? { key, paths: ['.venv'], result: true } : { key, paths: ['~/.cache/pip'] };
  // Older ones do not know groups.
  const newer = group === undefined ? '' : `.venv/bin/pip install --quiet 'pip>=25.1' && `;
  const prepare = `python3 -m venv .venv && ${newer}.venv/bin/pip install --quiet ${packages}`;
  const cached = key.length === 0 ? {} : { tools: ['python3'], cache };
  const check = { ...cached, prepare, run: `.venv/bin/${PYTEST}`, network: true as const, ...PYTEST_REPORT };
  return { check, note: `python: ${key.join(', ') || 'pytest is installed by name'}; its tests are pytest.` };
}

/** Requirements that name other files of the commit. */
const LEADS_ON = /^\s*(?:-[rce]|--(?:requirement|constraint|editable)\b|\.{0,2}\/|[^#]*\bfile:)/m;
const PLAIN_BACKENDS =
  /^build-backend\s*=\s*["'](?:setuptools\.build_meta|hatchling\.build|flit_core\.buildapi|poetry\.core\.masonry\.api|pdm\.backend|uv_build)["']/m;
const WRITES_FILES = /^dynamic\s*=|\bhooks\b|\bext-modules\b|\bcmdclass\b/m;

/** Its installation leaves everything in the environment, and follows from the files of the key alone. */
function isPlain(files: RootFiles): boolean {
  const project = files.get('pyproject.toml') ?? '';
  const backend = /^build-backend\s*=/m.test(project) ? PLAIN_BACKENDS.test(project) : true;
  return (
    backend && !files.has('setup.py') && !WRITES_FILES.test(project) && !LEADS_ON.test(files.get('setup.cfg') ?? '')
  );
}

function fromRust(files: RootFiles): ReturnType<Ecosystem> {
  if (!files.has('Cargo.toml')) return undefined;
  const isLocked = files.has('Cargo.lock');
  const options = `--workspace${isLocked ? ' --locked' : ''}`;
  const cache = { key: ['Cargo.lock'], paths: ['~/.cargo/registry', '~/.cargo/git'], verified: true as const };
  const prepared = isLocked ? { cache, prepare: 'cargo fetch --locked' } : {};
  const from = isLocked ? 'Cargo.toml and Cargo.lock' : 'Cargo.toml without a lock file';
  const { profile, report } = nextestReport(files.get('.config/nextest.toml'));
  if (profile === undefined) {
    const note = `rust: ${from}; without test reports, which cargo-nextest writes where .config/nextest.toml has junit.`;
    return { check: { ...prepared, run: `cargo test ${options}`, network: true }, note };
  }
  const run = `cargo nextest run ${options} --profile ${profile}`;
  const junit = [`target/nextest/${profile}/${report}`];
  return {
    check: { tools: ['cargo', 'cargo-nextest'], ...prepared, run, network: true, junit },
    note: `rust: ${from}; .config/nextest.toml has the reports of its profile ${profile}. cargo-nextest runs no tests of the documentation.`,
  };
}

/** The first profile of nextest that writes reports. */
function nextestReport(text: string | undefined) {
  const profile = /^\s*\[profile\.([\w-]+)\.junit\]/m.exec(text ?? '')?.[1];
  const path = /^path\s*=\s*["']([\w./-]+)["']/m.exec(sectionOf(text, `profile.${profile}.junit`))?.[1];
  return path === undefined ? {} : { profile, report: path };
}

function fromMakefile(files: RootFiles) {
  const target = /^(test|check)\s*:(?!=)/m.exec(files.get('Makefile') ?? '')?.[1];
  if (target === undefined) return [];
  return [{ name: target, check: { run: `make ${target}` }, note: `make: the Makefile has a target ${target}.` }];
}

const ECOSYSTEMS: Readonly<Record<string, Ecosystem>> = {
  node: fromNode,
  go: fromGo,
  python: fromPython,
  rust: fromRust,
};

/** The lines of a section of TOML up to the next one. */
function sectionOf(text: string | undefined, name: string): string {
  const lines = (text ?? '').split('\n').map((line) => line.trim());
  const from = lines.indexOf(`[${name}]`);
  if (from < 0) return '';
  const rest = lines.slice(from + 1);
  const end = rest.findIndex((line) => line.startsWith('['));
  return rest.slice(0, end < 0 ? undefined : end).join('\n');
}

function jsonOf(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function valueAt(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = path.reduce(valueAt, value);
  return typeof found === 'string' && found.trim() !== '' ? found : undefined;
}

function keysAt(value: unknown, key: string): readonly string[] {
  const found = valueAt(value, key);
  return typeof found === 'object' && found !== null ? Object.keys(found) : [];
}
