import type { CandidateNumber } from '../../engine/model/candidate.ts';
import type { App } from '../core/app.ts';
import { decodeCandidate } from '../core/queue-codec.ts';
import { effectRunIn, findPlace } from './effect-run.ts';
import { judgeLate } from './judge-check.ts';

/** Judges reports that this server stores for a check whose candidate has landed. Returns how to stop. */
// SPEC V61
export function watchLateReports(app: App): () => void {
  return app.ingest.onCheckResults(({ candidateId, check }) => {
    void judge(app, candidateId, check).catch((err: unknown) => {
      app.log.warn({ err, testRun: candidateId, check }, 'could not judge reports that arrived late');
    });
  });
}

async function judge(app: App, candidateId: string, check: string): Promise<void> {
  const row = await app.store.queueRecords.findCandidateById(candidateId);
  if (row === undefined || decodeCandidate(row).ending?.reason !== 'MERGE_GRAPH_MERGE') return;
  const found = await findPlace(app, row.queueId);
  if (found === undefined || found.repository.blockedReason !== null) return;
  await judgeLate(effectRunIn(app, found), row.number as CandidateNumber, check);
}
