import { getQuarantineConfig } from '../../contract/uploader.ts';
import type { RepoRef } from '../core/arguments.ts';
import type { Context } from '../core/context.ts';
import { CliError } from '../core/exit.ts';
import type { Quarantine } from './exit-code.ts';
import type { FailingTest } from './failing-tests.ts';
import { withRetries } from './retry.ts';

export interface LookUpOptions {
  readonly org: string;
  readonly repo: RepoRef;
  readonly variant: string;
  readonly retries: number;
  readonly say: (text: string) => void;
}

/** Far below the size limit of a request, even with long names. */
const PER_REQUEST = 1_000;

/** No quarantine covers more paths, so a test with more is refused by these already. */
const MAX_PATHS = 100;

/** Asks which failing tests are quarantined. If the call fails, the answer is `unknown`, which excuses none. */
export async function lookUp(
  context: Context,
  failing: readonly FailingTest[],
  options: LookUpOptions,
): Promise<Quarantine> {
  const ids = new Set<string>();
  try {
    for (let from = 0; from < failing.length; from += PER_REQUEST) {
      const body = describe(failing.slice(from, from + PER_REQUEST), options);
      const answer = await withRetries(() => context.call(getQuarantineConfig, body), options);
      if (answer.isDisabled) return { kind: 'switched_off' };
      for (const id of answer.testIds) ids.add(id);
    }
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { kind: 'unknown', reason: error.message };
  }
  // The answer may name other tests too.
  return { kind: 'known', ids: new Set(failing.flatMap(({ id }) => (ids.has(id) ? [id] : []))) };
}

function describe(failing: readonly FailingTest[], { org, repo, variant }: LookUpOptions) {
  return {
    repo,
    orgUrlSlug: org,
    testIdentifiers: failing.map(({ id, names, suitePaths }) => ({
      id,
      name: names.name,
      parentName: names.parent,
      className: names.classname,
      file: names.file,
      variant,
      suitePaths: suitePaths.slice(0, MAX_PATHS),
    })),
  };
}
