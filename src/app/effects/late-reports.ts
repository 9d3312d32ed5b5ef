import type { CandidateNumber } from '../../engine/model/candidate.ts';
import { ANY_CHECK } from '../../storage/test-ingest.ts';
import type { App } from '../core/app.ts';
import { decodeCandidate } from '../core/queue-codec.ts';
import { effectRunIn, findPlace } from './effect-run.ts';
import { judgeLate } from './judge-check.ts';

/** Judges reports that this server stores for a check that was decided. Returns how to stop. */
// SPEC V61, V63
export function watchLateReports(app: App): () => void {
  // One after the other, because each amends the record of the landing.
  let last = Promise.resolve();
  return app.ingest.onCheckResults(({ candidateId, check }) => {
    const judged = last.then(() => judge(app, candidateId, check));
    last = judged.catch((err: unknown) => {
      app.log.warn({ err, testRun: candidateId, check }, 'could not judge reports that arrived late');
    });
  });
}

async function judge(app: App, candidateId: string, check: string): Promise<void> {
  const row = await app.store.queueRecords.findCandidateById(candidateId);
  const candidate = row && decodeCandidate(row);
  if (row === undefined || candidate === undefined) return;
  if (candidate.endedAt !== undefined && candidate.pass === undefined) return;
  const found = await findPlace(app, row.queueId);
  if (found === undefined || found.repository.blockedReason !== null) return;
  const names = check === ANY_CHECK ? (candidate.required?.names ?? []) : [check];
  for (const name of names) await judgeLate(effectRunIn(app, found), row.number as CandidateNumber, name);
}
