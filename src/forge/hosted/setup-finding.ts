import { Fault } from '../../lib/fault.ts';
import type { SetupFinding } from '../hosting.ts';

const finding =
  (level: SetupFinding['level']) =>
  (code: string, text: string): SetupFinding => ({ level, code, text });

export const ok = finding('ok');
export const warning = finding('warning');
export const error = finding('error');

export function notReachable(fault: unknown): SetupFinding {
  if (!(fault instanceof Fault)) throw fault;
  return error('NOT_REACHABLE', fault.detail);
}

export function noBranch(branch: string): SetupFinding {
  return error('BRANCH_NOT_FOUND', `There is no branch ${branch}. Push it first, or check its spelling.`);
}

interface StackSettings {
  readonly branch: string;
  readonly dismissesApprovals: boolean;
  readonly deletesBranches: boolean;
}

/** Stacks work in spite of them, with another approval or another pull request. */
// SPEC G178
export function inspectStacks({ branch, dismissesApprovals, deletesBranches }: StackSettings): readonly SetupFinding[] {
  const findings: SetupFinding[] = [];
  if (dismissesApprovals)
    findings.push(
      warning(
        'RETARGETING_DISMISSES_APPROVALS',
        `The rules of ${branch} dismiss stale approvals: a stacked pull request that is retargeted to ${branch} loses its approvals.`,
      ),
    );
  if (deletesBranches)
    findings.push(
      warning(
        'BRANCHES_DELETED',
        'Branches of merged pull requests are deleted automatically: that closes or retargets the pull requests that are based on them.',
      ),
    );
  return findings;
}
