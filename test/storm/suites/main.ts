// `npm run storm -- --suites`: real test suites in queues of real servers.
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { say } from '../../helpers/command.ts';
import { describeSuite } from './describe.ts';
import { prepareGo } from './go-project.ts';
import { prepareNpm } from './node-project.ts';
import { MODES } from './plan.ts';
import { PLANTED, type Project } from './project.ts';
import { preparePytest } from './pytest-project.ts';
import { runSuite, type SuiteReport } from './world.ts';

export const PROJECTS: Readonly<Record<string, (cache: string) => Promise<Project>>> = {
  npm: prepareNpm,
  go: prepareGo,
  pytest: preparePytest,
};

/** Packages are fetched once. */
const CACHE = fileURLToPath(new URL('../../../.cache/storm-suites', import.meta.url));
/** A pull request takes some seconds, and more where many runs fail. */
const LIMIT_MS_PER_PR = 60_000;

/** About the duration of a check, so that several pull requests wait, and not all of them at once. */
const MAX_GAP_MS = 3_000;
const RESUME_AFTER_MS = 15_000;

/** Returns the violations of all worlds. */
export async function runSuites(of: {
  readonly seed: string;
  readonly prs: number;
  readonly only: string | undefined;
  readonly isStrict: boolean;
  readonly isQuarantining: boolean;
}): Promise<readonly string[]> {
  const { only, prs } = of;
  const reports: SuiteReport[] = [];
  await mkdir(CACHE, { recursive: true });
  for (const [name, prepare] of Object.entries(PROJECTS)) {
    if (only !== undefined && only !== name) continue;
    const project = await prepare(CACHE);
    for (const mode of MODES) {
      const onProgress = (text: string) => say(`${name} ${mode}: ${text}\n`);
      const times = { maxGapMs: MAX_GAP_MS, resumeAfterMs: RESUME_AFTER_MS, limitMs: prs * LIMIT_MS_PER_PR };
      const report = await runSuite({ ...of, ...times, project, mode, planted: PLANTED, onProgress });
      say(`\n${describeSuite(report)}\n`);
      reports.push(report);
    }
  }
  return reports.flatMap(({ project, mode, violations }) => violations.map((text) => `${project} ${mode}: ${text}`));
}
