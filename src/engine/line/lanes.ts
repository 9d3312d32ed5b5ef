import { changedKeys, getIn, valuesOf } from '../../lib/int-map.ts';
import type { Sha } from '../../lib/sha.ts';
import { type Candidate, compositionOf, type Member } from '../model/candidate.ts';
import type { LanesReviewed, TargetsComputed } from '../model/event.ts';
import { targetsOf } from '../model/footprint.ts';
import { type Entry, findEntry, findLiveMember, isLive, type Meeting, type Queue } from '../model/queue.ts';
import { composedWithOf, lineOf, unlanded } from '../model/roster.ts';
import { computedAll, type ImpactedTargets, isOutranked } from '../model/targets.ts';
import { APPLIED, amend, entryOf, ignored, keep, type Outcome, stillLive, type Work } from '../model/work.ts';
import { retarget } from './impact.ts';
import { abandon } from './line.ts';

/**
 * Targets that the server computes. An entry without uploaded targets asks for them once for each head and each version
 * of the rules. A new head of the target branch is reviewed: changed rules or manifests make a new version.
 */
// SPEC T15
export function askForTargets(work: Work): void {
  const { before, queue } = work;
  const { head } = queue;
  if (queue.settings.mode !== 'PARALLEL' || head === undefined || queue.parked !== undefined) return;
  const wasParallel = before.settings.mode === 'PARALLEL' && before.head !== undefined;
  if (queue.lanes === undefined || !wasParallel) {
    const version = (queue.lanes?.version ?? 0) + 1;
    amend(work, { lanes: { version, checked: head.sha, asked: head.sha } });
  }
  const isNewVersion = work.queue.lanes?.version !== before.lanes?.version;
  const numbers = isNewVersion
    ? [...valuesOf(queue.entries)].map(({ prNumber }) => prNumber)
    : changedKeys(before.entries, queue.entries);
  for (const prNumber of numbers) {
    const entry = getIn(work.queue.entries, prNumber);
    if (entry !== undefined) askFor(work, entry);
  }
  askForReview(work, head.sha);
}

function askFor(work: Work, entry: Entry): void {
  const { lanesAsked, targets, prNumber, pr } = entry;
  const version = work.queue.lanes?.version ?? 0;
  const isUploaded = targets !== undefined && targets.from !== 'sluice';
  if (isUploaded || !isLive(entry.state)) return;
  if (lanesAsked?.sha === pr.headSha && lanesAsked.version === version) return;
  keep(work, { ...entry, lanesAsked: { sha: pr.headSha, version } });
  work.effects.push({ kind: 'compute_targets', prNumber, sha: pr.headSha, version });
}

/** Without entries that follow the rules, the head itself is the new begin. */
function askForReview(work: Work, head: Sha): void {
  const { lanes, index } = work.queue;
  if (lanes === undefined || lanes.asked === head) return;
  if (index.ruled === 0) {
    amend(work, { lanes: { ...lanes, checked: head, asked: head } });
    return;
  }
  amend(work, { lanes: { ...lanes, asked: head } });
  work.effects.push({ kind: 'review_lanes' });
}

export function askEverybodyAgain(work: Work): void {
  const { lanes } = work.queue;
  if (lanes !== undefined) amend(work, { lanes: { ...lanes, version: lanes.version + 1 } });
}

const NO_RULES = computedAll({ code: 'PROBLEM', name: 'The target branch has no rules for targets any more.' });

// SPEC T15
export function takeComputed(work: Work, { prNumber, sha, version, targets }: TargetsComputed): Outcome {
  const entry = findEntry(work.queue, prNumber);
  const asked = entry?.lanesAsked;
  if (entry === undefined || asked === undefined || asked.sha !== sha || asked.version !== version) {
    return ignored(`Pull request #${prNumber} has another head, or left, or the rules changed.`);
  }
  const found = targets ?? (entry.targets === undefined ? undefined : NO_RULES);
  if (found !== undefined && isOutranked(found, entry.targets)) return ignored('Its targets were set meanwhile.');
  keep(work, { ...entry, lanesAsked: { ...asked, isAnswered: true } });
  if (found !== undefined) retarget(work, entryOf(work, prNumber), found);
  return APPLIED;
}

/** Entries that landed beside a candidate were in another lane by the old rules, and nobody knows by the new ones. */
// SPEC T16
export function takeReview(work: Work, { head, isChanged }: LanesReviewed): Outcome {
  const { lanes } = work.queue;
  if (lanes === undefined) return ignored('The queue was not parallel yet.');
  amend(work, { lanes: { ...lanes, checked: head } });
  if (!isChanged) return APPLIED;
  askEverybodyAgain(work);
  for (const candidate of stillLive(work, lineOf(work.queue))) {
    const [ruled] = ruledIn(work.queue, candidate);
    if (ruled === undefined || composedWithOf(work.queue, candidate).length === 0) continue;
    abandon(work, candidate, { reason: 'IMPACTED_TARGETS_CHANGED', prNumber: ruled.prNumber });
  }
  return APPLIED;
}

/** Its lane may be too small by the rules of the present head. */
// SPEC T16
export function awaitsLanes(queue: Queue, candidate: Candidate): boolean {
  const { lanes, head, settings } = queue;
  if (lanes === undefined || settings.mode !== 'PARALLEL') return false;
  const ruled = ruledIn(queue, candidate);
  if (ruled.length === 0) return false;
  if (ruled.some(({ lanesAsked }) => lanesAsked?.isAnswered !== true)) return true;
  return lanes.checked !== head?.sha && composedWithOf(queue, candidate).length > 0;
}

function ruledIn(queue: Queue, candidate: Candidate): readonly Entry[] {
  return unlanded(queue, compositionOf(candidate)).filter(({ targets }) => targets?.from === 'sluice');
}

const MOST_MEETINGS = 100;
/** At more, each count is halved. */
const MOST_PAIRS = 1_000;
/** Of each pair. More are rarely told apart. */
const COMMON_TARGETS = 20;
/** A list that is searched for each pair. */
const LONGEST_LIST = 1_000;

/** Counts why entries are tested behind others. Old counts fade, and rare reasons are dropped. */
// SPEC T19
export function noteMeetings(work: Work, entries: readonly Entry[], beneath: readonly Member[]): void {
  const { queue } = work;
  if (queue.settings.mode !== 'PARALLEL' || beneath.length === 0) return;
  const meetings = new Map(queue.meetings.map((meeting) => [`${meeting.kind} ${meeting.name}`, meeting]));
  for (const member of beneath) {
    const ahead = findLiveMember(queue, member);
    if (ahead === undefined) continue;
    for (const entry of entries) {
      for (const met of meetingsOf(targetsOf(queue, ahead), targetsOf(queue, entry))) {
        const key = `${met.kind} ${met.name}`;
        meetings.set(key, { ...met, pairs: (meetings.get(key)?.pairs ?? 0) + 1 });
      }
    }
  }
  const all = [...meetings.values()];
  const isFull = all.length > MOST_MEETINGS || all.some(({ pairs }) => pairs > MOST_PAIRS);
  const kept = isFull ? all.map((each) => ({ ...each, pairs: Math.floor(each.pairs / 2) })) : all;
  const most = kept.filter(({ pairs }) => pairs >= 1).sort((a, b) => b.pairs - a.pairs);
  amend(work, { meetings: most.slice(0, MOST_MEETINGS) });
}

function meetingsOf(ahead: ImpactedTargets, behind: ImpactedTargets): readonly Omit<Meeting, 'pairs'>[] {
  const all = [ahead, behind].find(({ kind }) => kind === 'all');
  if (all?.kind === 'all') {
    const { by } = all;
    // Every file has a path of its own: not its name is the reason, but that nothing matches it.
    if (by === undefined) return [{ kind: 'UPLOADED_ALL', name: 'ALL' }];
    return [{ kind: by.code, name: by.code === 'OTHERWISE' ? 'otherwise' : by.name }];
  }
  if (ahead.kind === 'all' || behind.kind === 'all' || ahead.targets.length > LONGEST_LIST) return [];
  const known = new Set(ahead.targets);
  const common = behind.targets.slice(0, LONGEST_LIST).filter((target) => known.has(target));
  return common.slice(0, COMMON_TARGETS).map((name) => ({ kind: 'TARGET', name }));
}
