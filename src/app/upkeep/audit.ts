import type { Candidate } from '../../engine/model/candidate.ts';
import type { Entry, Queue } from '../../engine/model/queue.ts';
import { assert } from '../../lib/assert.ts';
import type { Instant } from '../../lib/clock.ts';
import { PeriodicTask } from '../../lib/periodic.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import type { Sha } from '../../lib/sha.ts';
import type { QueueId } from '../../storage/queues.ts';
import { raise } from '../core/alarms.ts';
import type { App } from '../core/app.ts';
import { type FoundQueue, formatRef, getForge, toForgeRepository } from '../core/find-queue.ts';
import { MAX_COMMITS } from '../core/format-audit.ts';
import { decodeCandidate, decodeEvent, decodeShownEntry } from '../core/queue-codec.ts';
import { readTargetBranch } from '../queue/forge-facts.ts';
import { loadQueues } from '../queue/list-queues.ts';
import {
  type AuditFinding,
  auditStretch,
  type ForeignMove,
  listForeignMoves,
  type RecordedEvent,
  readStory,
  type Stretch,
  splitStretch,
} from './audit-line.ts';

const FAILURE = 'could not audit target branches';
const QUEUES_AT_ONCE = 8;
const HOSTED_EVERY_MS = 60_000;
const PAGE = 500;
/** The events that change the known head of the target branch. */
const MOVES: readonly string[] = ['candidate_landed', 'landing_refused', 'target_observed'];

export function createAudit(app: App): PeriodicTask {
  const readAt = new Map<QueueId, Instant>();
  const round = (isStopped: () => boolean) => audit(app, isStopped, readAt);
  return new PeriodicTask(app, { firstMs: 3_000, everyMs: 15_000, failure: FAILURE, round });
}

/** Several servers may audit at once: an alarm has the id of its event, and the mark moves from the version read. */
// SPEC N3
export async function audit(
  app: App,
  isStopped: () => boolean = () => false,
  readAt = new Map<QueueId, Instant>(),
): Promise<void> {
  const auditOne = async (found: FoundQueue) => {
    if (isStopped()) return;
    await auditQueue(app, found, readAt).catch((error: unknown) => {
      // The next round begins at the same mark.
      if (!isStopped()) {
        const { repository, queue } = found;
        app.log.warn({ err: error, repository: formatRef(repository), branch: queue.branch }, FAILURE);
      }
    });
  };
  const queues = await loadQueues(app, await app.store.repositories.listAll());
  const slots = new Semaphore(QUEUES_AT_ONCE);
  await Promise.all(queues.map((found) => slots.run(() => auditOne(found))));
}

/** Queues whose mark was read and is up to date: an idle queue costs no read. A changed queue is another object. */
const audited = new WeakSet<Queue>();

async function auditQueue(app: App, before: FoundQueue, readAt: Map<QueueId, Instant>): Promise<void> {
  await readTargetBranchIfDue(app, before, readAt);
  const loaded = await app.queues.find(before.id);
  if (loaded === undefined) return;
  const found = { ...loaded, repository: before.repository };
  const { queue, version, id } = found;
  const { alarms } = app.store;
  if (audited.has(queue)) return;
  const mark = await alarms.findMark(id);
  // Another server may be ahead.
  if (mark !== undefined && mark.version >= version) {
    audited.add(queue);
    return;
  }
  const at = app.clock.now();
  if (mark === undefined) {
    // The branch may have been rewritten before the first round that saw the queue.
    await compareLandings(app, found, listForeignMoves(await listMoves(app, found, 0)));
    await alarms.setMark(id, { sha: queue.head?.sha ?? null, version, at }, undefined);
    return;
  }
  const moves = await listMoves(app, found, mark.version);
  const story = readStory((mark.sha as Sha | null) ?? undefined, moves);
  const findings = [...story.findings];
  for (const stretch of story.stretches) findings.push(...(await prove(app, found, stretch)));
  for (const finding of findings) {
    await raise(app, found, { id: `${id}/${finding.version}/audit`, code: 'UNPROVEN_LANDING', text: finding.text });
  }
  await compareLandings(app, found, listForeignMoves(moves));
  await alarms.setMark(id, { sha: story.head ?? null, version, at }, mark.version);
}

/** Hosted forges announce pushes, so that a read once a minute is enough. */
async function readTargetBranchIfDue(app: App, found: FoundQueue, readAt: Map<QueueId, Instant>): Promise<void> {
  const now = app.clock.now();
  const isHosted = app.forges.get(found.repository.host)?.hosting !== undefined;
  if (isHosted && now - (readAt.get(found.id) ?? Number.NEGATIVE_INFINITY) < HOSTED_EVERY_MS) return;
  await readTargetBranch(app, found);
  if (isHosted) readAt.set(found.id, now);
}

async function listMoves(app: App, { id, version }: FoundQueue, since: number): Promise<readonly RecordedEvent[]> {
  const moves: RecordedEvent[] = [];
  for (let after = since; after < version; ) {
    const rows = await app.store.queueRecords.listEvents(id, after, Math.min(PAGE, version - after));
    const last = rows.at(-1);
    assert(last !== undefined, 'every version of a queue has its event');
    for (const row of rows) {
      if (MOVES.includes(row.kind)) moves.push({ version: row.version, event: decodeEvent(row, new Map()) });
    }
    after = last.version;
  }
  return moves;
}

/** One query for all landings. If its answer is not clear, one for each landing finds the one at fault. */
// SPEC N11
async function prove(app: App, found: FoundQueue, stretch: Stretch): Promise<readonly AuditFinding[]> {
  const repository = toForgeRepository(found.repository);
  const { from: since, to: head, landings } = stretch;
  const line = await getForge(app, repository.host).listLine({ repository, head, since, limit: MAX_COMMITS });
  if (line.kind !== 'line' && landings.length > 1) {
    const findings: AuditFinding[] = [];
    for (const part of splitStretch(stretch)) findings.push(...(await prove(app, found, part)));
    return findings;
  }
  const candidates = new Map<number, Candidate>();
  for (const { event } of landings) {
    const row = await app.store.queueRecords.findCandidate(found.id, event.candidate);
    if (row !== undefined) candidates.set(row.number, decodeCandidate(row));
  }
  return auditStretch(stretch, line, candidates);
}

/** Older landings are not compared. */
const MAX_COMPARED = 100;

/** A rewrite may have removed landings from the branch, and any push may bring them back. */
// SPEC N14
async function compareLandings(app: App, found: FoundQueue, moves: readonly ForeignMove[]): Promise<void> {
  const { queue, id } = found;
  const rewrite = moves.findLast(({ isDescendant }) => !isDescendant);
  if (moves.length === 0 || queue.head === undefined) return;
  const repository = toForgeRepository(found.repository);
  const forge = getForge(app, repository.host);
  const changed: Entry[] = [];
  for (const row of await app.store.queueRecords.listEntries({ queueId: id, state: 'MERGED', limit: MAX_COMPARED })) {
    const entry = decodeShownEntry(row);
    const { landed, lost } = entry;
    if (landed === undefined || (lost === undefined && (rewrite === undefined || landed.at > rewrite.at))) continue;
    const isThere = await forge.isAncestor({ repository, ancestor: landed.sha, descendant: queue.head.sha });
    if (isThere && lost !== undefined) changed.push({ ...entry, lost: undefined });
    if (!isThere && lost === undefined && rewrite !== undefined) changed.push({ ...entry, lost: { at: rewrite.at } });
  }
  if (changed.length === 0) return;
  await app.queues.run(id, () => ({ kind: 'landings_compared', at: app.clock.now(), entries: changed }));
}
