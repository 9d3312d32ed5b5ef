import type { LeftFiles } from '../../check-runner/runner.ts';
import type { Candidate } from '../../engine/model/candidate.ts';
import { backoffMs } from '../../lib/backoff.ts';
import { pause } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { testBranchOf } from '../queue/entry-run.ts';
import { newUpload } from '../uploads/receive-upload.ts';
import { UploadBodies } from '../uploads/upload-body.ts';
import type { EffectRun } from './effect-run.ts';

/** While the store is away for longer, the check's result cannot be stored either. */
const MAX_TRIES = 4;
const RETRY = { firstMs: 200, capMs: 2_000, spread: 1 };
const MAX_LISTED = 5;

/** Stores the test reports of a check as an upload. Returns lines for the check's log. */
// SPEC R38
export async function handInReports(
  run: EffectRun,
  of: { readonly candidate: Candidate; readonly check: string; readonly left: LeftFiles },
): Promise<string> {
  const { files, problems } = of.left;
  const listed = problems.slice(0, MAX_LISTED).map((problem) => `[Sluice] Test reports: ${problem}\n`);
  const more = problems.length - listed.length;
  const notes = [...listed, ...(more > 0 ? [`[Sluice] Test reports: ${more} more could not be taken.\n`] : [])].join(
    '',
  );
  if (files.length === 0) return `${notes}[Sluice] No test report was found (${run.junit.join(', ')}).\n`;
  const stored = await insist(run, () => store(run, of));
  if (!stored) return `${notes}[Sluice] The test reports could not be stored.\n`;
  run.app.ingest.wake();
  return `${notes}[Sluice] ${files.length} ${files.length === 1 ? 'report' : 'reports'} handed to ingestion.\n`;
}

/** The result of the check matters more than its reports: after a few failed tries the reports are dropped. */
async function insist({ app }: EffectRun, act: () => Promise<unknown>): Promise<boolean> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    try {
      await act();
      return true;
    } catch (error) {
      app.log.warn({ err: error }, 'could not store the test reports of a check');
      if (!(error instanceof Fault)) return false;
      await pause(app.clock, backoffMs(tries, RETRY));
    }
  }
  return false;
}

async function store(
  run: EffectRun,
  { candidate, check, left }: { readonly candidate: Candidate; readonly check: string; readonly left: LeftFiles },
): Promise<void> {
  const { app, found, forge } = run;
  const { body } = await new UploadBodies(app).receive(async (writer) => {
    for (const file of left.files) {
      await writer.begin(file.name);
      for await (const bytes of file.read()) await writer.write(bytes);
    }
  });
  // Incomplete results must not excuse a failure: such an upload counts, but not as that of the check.
  const isTied = left.problems.length === 0;
  const [first, ...others] = candidate.members;
  const fields = {
    sha: candidate.commit?.sha ?? '',
    // The test branch as their branch: the results count for the queue, and not for the target branch.
    // SPEC R24
    branch: testBranchOf(forge, found, candidate),
    prNumber: others.length === 0 ? (first?.prNumber ?? null) : null,
    ...{ jobName: check, jobUrl: null, variant: '', isFork: false, jobAttempt: null, checkoutRoot: left.root },
    candidateId: isTied ? candidateIdOf(found.id, candidate.number) : null,
    check: isTied ? check : null,
  };
  const { repositoryId } = found;
  const upload = newUpload({ repositoryId, kind: 'runner', fields, at: app.clock.now(), body });
  await app.store.uploads.create(upload, upload.receivedAt);
}
