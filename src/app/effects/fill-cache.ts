import type { CheckRunner } from '../../check-runner/runner.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import { formatRef } from '../core/find-queue.ts';
import { runJob } from './check-job.ts';
import { checksOn, type EffectRun } from './effect-run.ts';

/** Queues rarely test the head alone. So a run that found no cache has the head leave one, after all other work. */
const RANK = Number.MAX_SAFE_INTEGER;
const NEVER = new AbortController().signal;

/** The head that was tried last, by queue and check: one that fails is not tried again. */
const tried = new WeakMap<CheckRunner, Map<string, Sha>>();

/** Runs the check on the head of the target branch in the background, at most once for each head. */
// SPEC R82
export function fillCache(run: EffectRun, name: string): void {
  const { log } = run.app;
  fill(run, name).catch((error: unknown) => {
    if (!(error instanceof Fault)) log.error({ err: error }, 'a cache of a check was not filled');
    else log.warn({ err: error }, 'a cache of a check was not filled');
  });
}

async function fill(run: EffectRun, name: string): Promise<void> {
  const { app, found, forge, repository } = run;
  const { branch } = found.queue;
  const sha = await forge.findBranchHead(repository, branch);
  if (sha === undefined || !isFirst(app.checkRunner, `${found.id} ${name}`, sha)) return;
  const check = (await checksOn(run, sha)).find((one) => one.name === name);
  if (check?.cache === undefined) return;
  const { conclusion, text } = await runJob(
    {
      ...{ app, forge, repository, sha, check, share: found.id, rank: RANK },
      caching: { branch, use: 'fill' },
      variables: {
        ...{ CI: 'true', SLUICE: 'true', SLUICE_REPOSITORY: formatRef(repository), SLUICE_CHECK: name },
        ...{ SLUICE_TARGET_BRANCH: branch, SLUICE_COMMIT: sha, SLUICE_BASE_COMMIT: sha },
      },
      onStart: async () => undefined,
      onOutput: async () => undefined,
    },
    NEVER,
  );
  if (conclusion === undefined) return;
  const facts = { repository: formatRef(repository), branch, sha, check: name, end: text };
  app.log.info(facts, 'ran a check on the head to fill its cache');
}

function isFirst(runner: CheckRunner, key: string, sha: Sha): boolean {
  const heads = tried.get(runner) ?? new Map<string, Sha>();
  tried.set(runner, heads);
  if (heads.get(key) === sha) return false;
  heads.set(key, sha);
  return true;
}
