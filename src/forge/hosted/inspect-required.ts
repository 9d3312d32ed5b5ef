import type { RequiredStatus } from '../../engine/model/check.ts';
import { parseConfiguration } from '../candidate/required-sources.ts';
import type { InspectedQueue, SetupFinding } from '../hosting.ts';
import { error, warning } from './setup-finding.ts';

interface RequiredReader {
  /** The first of these files that the branch has. */
  readFile(paths: readonly string[]): Promise<{ readonly path: string; readonly text: string } | undefined>;
  readRules(): readonly RequiredStatus[] | Promise<readonly RequiredStatus[]>;
}

interface Required {
  readonly statuses: readonly RequiredStatus[];
  /** The queue requires no checks. */
  readonly isNone: boolean;
  readonly findings: readonly SetupFinding[];
}

/** Uses the same three sources in the same order as a candidate build. */
export async function findRequired(
  queue: InspectedQueue | undefined,
  branch: string,
  reader: RequiredReader,
): Promise<Required> {
  if (queue?.requiredStatuses) return required(queue.requiredStatuses, queue.requiredStatuses.length === 0);
  const file = await reader.readFile(['.sluice.yaml', '.trunk/trunk.yaml']);
  if (file !== undefined) {
    const { file: statuses, fileProblem } = parseConfiguration(Buffer.from(file.text));
    if (fileProblem !== undefined) {
      const text = `${file.path} on ${branch} cannot be used (${fileProblem}): every pull request would fail to start.`;
      return { ...required([], true), findings: [error('CONFIGURATION_FILE', text)] };
    }
    if (statuses !== undefined) return required(statuses, statuses.length === 0);
  }
  return required(await reader.readRules(), false);
}

function required(statuses: readonly RequiredStatus[], isNone: boolean): Required {
  const text = 'Nothing is required, so whatever can be merged lands untested.';
  return { statuses, isNone, findings: isNone ? [warning('NOTHING_REQUIRED', text)] : [] };
}
