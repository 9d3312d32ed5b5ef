import type { FileChecksGrant, RunnerCheck } from '../checks/check.ts';

/** A repository as a forge needs to know it. `id` names it uniquely on this server and is safe as a file name. */
export interface ForgeRepository {
  readonly id: string;
  readonly host: string;
  readonly owner: string;
  readonly name: string;
  /** The forge's own id, if known. After a rename another repository may have the name. */
  readonly forgeId?: string;
  readonly git: string | undefined;
  /** Only for plain git by path: whether the repository's hooks run when the queue changes a branch. */
  readonly runHooks?: boolean;
  /** Commands that the built-in runner runs on candidates. Each is a required check. */
  readonly checks: readonly RunnerCheck[];
  /** Lets the file of the repository choose other ones. */
  readonly fileChecks?: FileChecksGrant | null;
}
