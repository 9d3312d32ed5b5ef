import { joinPackages } from '../src/lanes/join-packages.ts';
import { createLaneReader } from '../src/lanes/lane-thread.ts';
import type { Lanes, Manifest, Rules } from '../src/lanes/lanes.ts';
import { placeFiles } from '../src/lanes/place-files.ts';
import { systemClock } from '../src/lib/clock.ts';
import { parseGlob } from '../src/lib/glob.ts';
import { createJsonLog } from '../src/lib/log.ts';
import { matchesPath } from '../src/lib/path-pattern.ts';
import { median, printFigure, progress } from './lib/figure.ts';

const FILES = 2_000;
const PATTERNS = 500;
const PACKAGES = 1_000;
const ROUNDS = 9;

/** The targets of large diffs and workspaces. */
export async function run(): Promise<void> {
  measureFiles();
  await measureWorkspace();
}

const pathOf = (index: number) => `packages/area-${index % PATTERNS}/src/part-${index % 7}/file-${index}.ts`;

/** A quarter each: folders, files by their ending, folders anywhere, alternatives. */
function patternOf(index: number): string {
  const shapes = [
    `packages/area-${index}/**`,
    `**/*.kind-${index}`,
    `**/area-${index}/**/*.ts`,
    `packages/{area-${index},x}/*/**`,
  ];
  return shapes[index % shapes.length] ?? '';
}

function measureFiles(): void {
  progress(`lanes: ${FILES} files by ${PATTERNS} patterns`);
  const rules: Rules = {
    paths: Array.from({ length: PATTERNS }, (_, index) => ({ target: `t${index}`, patterns: [patternOf(index)] })),
    readsWorkspaces: false,
    barriers: ['.github/**'],
    otherwise: 'ALL',
  };
  const paths = Array.from({ length: FILES }, (_, index) => pathOf(index));
  const value = timed(() => placeFiles({ lanes: { rules, packages: [] }, paths, shown: 0 }));
  const globs = rules.paths.map(({ patterns }) => parseGlob(patterns[0] ?? ''));
  const split = paths.map((path) => path.split('/'));
  const baseline = timed(() => {
    for (const path of split) {
      for (const glob of globs) {
        if (typeof glob !== 'string') glob.patterns.some((pattern) => matchesPath(pattern, path, { count: 0 }));
      }
    }
  }, 1);
  printFigure({
    name: `lanes.targets.${FILES}_files.${PATTERNS}_patterns`,
    value,
    unit: 'ms of CPU',
    baseline,
    limit: 50,
  });
}

/** Compared with the parsing of the manifests alone. */
async function measureWorkspace(): Promise<void> {
  progress(`lanes: a workspace of ${PACKAGES} packages`);
  const rules: Rules = { paths: [], readsWorkspaces: true, barriers: [], otherwise: 'ALL' };
  const manifests = listManifests();
  const baseline = timed(() => manifests.map(({ text = '' }) => JSON.parse(text)));
  const value = timed(() => placed(joinPackages(rules, manifests) as Lanes));
  const name = `lanes.workspace.${PACKAGES}_packages`;
  printFigure({ name, value, unit: 'ms of CPU', baseline, limit: 500 });
  const log = createJsonLog('warn', () => undefined);
  const reader = createLaneReader({ entry: new URL('../src/lanes-main.ts', import.meta.url), clock: systemClock, log });
  await reader.join(rules, []);
  const startedAt = performance.now();
  const before = process.threadCpuUsage();
  const lanes = (await reader.join(rules, manifests)) as Lanes;
  await reader.place({ lanes, paths: ['packages/p0/a'], shown: 0 });
  const { user, system } = process.threadCpuUsage(before);
  printFigure({
    name: `${name}.thread`,
    value: performance.now() - startedAt,
    unit: 'ms',
    baseline: value,
    limit: 500,
  });
  printFigure({ name: `${name}.main_thread`, value: (user + system) / 1_000, unit: 'ms of CPU', baseline: value });
  await reader.stop();
}

/** Each needs the ten before it, so that the first one impacts all. */
function listManifests(): readonly Manifest[] {
  const packages = Array.from({ length: PACKAGES }, (_, index) => {
    const needs = Array.from({ length: Math.min(10, index) }, (_, back) => [`@acme/p${index - back - 1}`, '*']);
    const others = Array.from({ length: 30 }, (_, other) => [`other-${other}`, '^1.0.0']);
    const manifest = { name: `@acme/p${index}`, dependencies: Object.fromEntries([...needs, ...others]) };
    return { path: `packages/p${index}/package.json`, text: JSON.stringify(manifest) };
  });
  return [{ path: 'package.json', text: '{"workspaces":["packages/*"]}' }, ...packages];
}

function placed(lanes: Lanes): void {
  const { targets } = placeFiles({ lanes, paths: ['packages/p0/a'], shown: 0 });
  if (targets.length !== PACKAGES) throw new Error(`${targets.length} targets`);
}

/** The median of CPU time, in milliseconds. */
function timed(work: () => unknown, rounds = ROUNDS): number {
  const times = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return median(times);
}
