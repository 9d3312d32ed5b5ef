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
