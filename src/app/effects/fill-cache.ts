import type { CheckRunner } from '../../check-runner/runner.ts';
import type { Instant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import type { App } from '../core/app.ts';
import { formatRef } from '../core/find-queue.ts';
import { runJob } from './check-job.ts';
import { checksOn, type EffectRun } from './effect-run.ts';

/** Queues rarely test the head alone. So a run that found no cache has the head leave one, after all other work. */
const RANK = Number.MAX_SAFE_INTEGER;
const NEVER = new AbortController().signal;

/** A head that left nothing is as good as those after it: its check fails, or nobody may keep what it leaves. */
const AGAIN_AFTER_MS = 60 * 60_000;

interface Tried {
  readonly sha: Sha;
  /** Undefined: it left one, or there was one. */
  nextAt: Instant | undefined;
}

/** The head that was tried last, by queue and check. */
const tried = new WeakMap<CheckRunner, Map<string, Tried>>();

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
  if (sha === undefined) return;
  const attempt = begin(app, `${found.id} ${name}`, sha);
  if (attempt === undefined) return;
  const check = (await checksOn(run, sha)).find((one) => one.name === name);
  if (check?.cache === undefined) return;
  const { conclusion, text } = await runJob(
    {
      ...{ app, forge, repository, sha, check, share: found.id, rank: RANK, isLanded: true },
      caching: { branch, use: 'fill', onKept: () => settle(attempt) },
      variables: {
        ...{ CI: 'true', SLUICE: 'true', SLUICE_REPOSITORY: formatRef(repository), SLUICE_CHECK: name },
        ...{ SLUICE_TARGET_BRANCH: branch, SLUICE_COMMIT: sha, SLUICE_BASE_COMMIT: sha },
      },
      onStart: async () => undefined,
      onOutput: async () => undefined,
    },
    NEVER,
  );
  if (conclusion === undefined) return settle(attempt);
  const facts = { repository: formatRef(repository), branch, sha, check: name, end: text };
  app.log.info(facts, 'ran a check on the head to fill its cache');
}

/** Undefined: the same was tried lately. */
function begin({ checkRunner, clock }: App, key: string, sha: Sha): Tried | undefined {
  const heads = tried.get(checkRunner) ?? new Map<string, Tried>();
  tried.set(checkRunner, heads);
  const last = heads.get(key);
  const now = clock.now();
  if (last !== undefined && (last.sha === sha || (last.nextAt ?? now) > now)) return undefined;
  const attempt = { sha, nextAt: (now + AGAIN_AFTER_MS) as Instant };
  heads.set(key, attempt);
  return attempt;
}

function settle(attempt: Tried): void {
  attempt.nextAt = undefined;
}
