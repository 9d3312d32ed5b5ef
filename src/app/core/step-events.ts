import { findingOf } from '../../engine/evidence/breakage.ts';
import { blameOf, causeOfEnd } from '../../engine/model/blame.ts';
import type { Candidate, CandidateNumber } from '../../engine/model/candidate.ts';
import type { QueueEvent } from '../../engine/model/event.ts';
import { candidateNumberOf } from '../../engine/model/place.ts';
import { type Entry, findEntry, type HoldCause, isLive, type Queue } from '../../engine/model/queue.ts';
import type { QueueSettings, SettingName } from '../../engine/model/settings.ts';
import type { Transition } from '../../engine/model/work.ts';
import type { Step } from '../../engine/step.ts';
import { isPersonName } from '../../lib/actor-name.ts';
import type { Instant } from '../../lib/clock.ts';
import { getIn } from '../../lib/int-map.ts';
import { present } from '../../lib/present.ts';
import type { FeedDraft } from '../../storage/feed-draft.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { RepositoryId } from '../../storage/repositories.ts';
import { type BatchChange, batchText } from '../../words/batch.ts';
import { explain } from '../../words/explain.ts';
import { shortSha } from '../../words/phrases.ts';
import { breakageText } from '../../words/queue.ts';
import { changeText } from '../../words/reasons.ts';
import { outcomeOf } from '../../words/result.ts';
import { candidateIdOf } from './entry-id.ts';
import { type Actor, type Happening, SLUICE } from './feed-event.ts';

interface StepOf {
  readonly event: QueueEvent;
  readonly before: Queue;
  readonly result: Step;
}

interface Run {
  readonly testRunId: string;
  readonly isBatch: boolean;
  readonly prNumbers: readonly number[];
  readonly testBranchSha: string | undefined;
  readonly namedFor: number | undefined;
  readonly isProbe: true | undefined;
}

/** Made once for all events of a step. */
type RunOf = (candidate: Candidate | undefined) => Run | undefined;

interface StepPlace {
  readonly queueId: QueueId;
  readonly repositoryId: RepositoryId;
  readonly version: number;
}

// SPEC X1
export function eventsOfStep(step: StepOf, { queueId, repositoryId, version }: StepPlace): FeedDraft[] {
  const { event, result } = step;
  const runOf = runsOf(queueId);
  const happenings = [...stateEvents(step), ...settingsEvents(step), ...holdEvents(step), ...lostEvents(step)];
  for (const transition of result.transitions) {
    const happening = entryEvent(step, runOf, transition);
    if (happening !== undefined) happenings.push(happening);
  }
  happenings.push(...batchesBuilt(step, runOf));
  // Most steps change the state of no entry.
  if (result.transitions.length > 0) happenings.push(...batchesMoved(step, runOf), ...landingEvents(step, queueId));
  return happenings.map(({ type, prNumber, actor, text, data }, ordinal) => ({
    source: queueId,
    version,
    ordinal,
    at: event.at,
    type,
    organizationId: null,
    repositoryId,
    queueId,
    targetBranch: result.queue.branch,
    prNumber: prNumber ?? null,
    testId: null,
    body: JSON.stringify({ actor, text, data }),
  }));
}

function actorOf(event: QueueEvent): Actor {
  if (!('actor' in event)) return SLUICE;
  return { kind: isPersonName(event.actor) ? 'person' : 'token', name: event.actor };
}

const STATE_TYPES = { RUNNING: 'queue.resumed', PAUSED: 'queue.paused', DRAINING: 'queue.drained' } as const;
const STATE_VERBS = { RUNNING: 'resumed', PAUSED: 'paused', DRAINING: 'began to drain' } as const;

function stateEvents({ event, before, result: { queue } }: StepOf): Happening[] {
  const isUnparked = before.parked !== undefined && queue.parked === undefined;
  const { state, branch, stateChange } = queue;
  if ((before.state === state && !isUnparked) || state === 'SWITCHING_MODES' || stateChange === undefined) return [];
  const { by, reason, until } = stateChange;
  const why = reason === undefined ? '' : ` Reason: ${reason}`;
  const actor = 'actor' in event ? actorOf(event) : SLUICE;
  const text = `${by} ${STATE_VERBS[state]} the queue for ${branch}.${why}`;
  return [
    {
      type: STATE_TYPES[state],
      actor,
      text,
      data: { before: before.state, after: state, ...present({ reason, until }) },
    },
  ];
}

function settingsEvents({ event, before, result: { queue } }: StepOf): Happening[] {
  if (before.settings === queue.settings) return [];
  const changes = changedSettings(before.settings, queue.settings);
  const list = Object.entries(changes).map(([name, change]) => `${name}${sayChange(change)}`);
  if (list.length === 0) return [];
  const actor = actorOf(event);
  const who = 'actor' in event ? event.actor : 'The queue';
  const text = `${who} changed ${list.join(', ')} of the queue for ${queue.branch}.`;
  return [{ type: 'queue.settings_changed', actor, text, data: { changes } }];
}

interface Change {
  readonly before: unknown;
  readonly after: unknown;
}

function changedSettings(before: QueueSettings, after: QueueSettings): Readonly<Record<string, Change>> {
  const isChanged = (name: SettingName) => JSON.stringify(before[name]) !== JSON.stringify(after[name]);
  const names = (Object.keys(after) as SettingName[]).filter(isChanged);
  return Object.fromEntries(names.map((name) => [name, { before: before[name], after: after[name] }]));
}

/** Lists of rules and freezes are for programs: the data has all of it. */
function sayChange({ before, after }: Change): string {
  const shown = [before, after].map(show);
  return shown.every((text) => text !== undefined) ? ` from ${shown.join(' to ')}` : '';
}

function show(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    if (!value.every((each) => typeof each === 'string')) return undefined;
    return value.length === 0 ? 'none' : shorten(value.join(', '));
  }
  return shorten(typeof value === 'string' ? value : JSON.stringify(value));
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}

function holdEvents({ event, before, result: { queue } }: StepOf): Happening[] {
  const { branch } = queue;
  if (before.hold === undefined && queue.hold !== undefined) {
    const { cause } = queue.hold;
    return [
      {
        type: 'queue.held',
        actor: SLUICE,
        text: `The queue for ${branch} holds: ${sayCause(cause, branch)}.`,
        data: { cause },
      },
    ];
  }
  if (before.hold === undefined || queue.hold !== undefined) return foundEvents(before, queue);
  const heldSeconds = Math.max(0, Math.round((event.at - before.hold.since) / 1000));
  const text = `The queue for ${branch} works again. It held for ${heldSeconds} s.`;
  return [{ type: 'queue.released', actor: SLUICE, text, data: { heldSeconds } }];
}

function foundEvents(before: Queue, queue: Queue): Happening[] {
  const finding = queue.hold && findingOf(queue.hold);
  if (finding === undefined || (before.hold !== undefined && findingOf(before.hold) !== undefined)) return [];
  const { culprit, before: passed } = finding;
  const text = breakageText(queue) ?? '';
  const data = { ...present({ sha: culprit?.sha, passed }), runs: queue.hold?.breakage?.runs };
  return [{ type: 'queue.breakage_found', actor: SLUICE, ...present({ prNumber: culprit?.prNumber }), text, data }];
}

function sayCause(cause: HoldCause, branch: string): string {
  return cause.kind === 'checks'
    ? `${branch} fails ${cause.names.join(', ')} without any pull request`
    : `the configuration of ${branch} cannot be used (${cause.reason})`;
}

const ENTRY_TYPES: Readonly<Partial<Record<Entry['state'], string>>> = {
  NOT_READY: 'submitted',
  PENDING: 'queued',
  TESTING: 'testing',
  PENDING_FAILURE: 'pending_failure',
  FAILED: 'failed',
  CANCELLED: 'canceled',
  MERGED: 'merged',
};

/** Its facts are in one literal, without spreads: a commit waits for it, and JSON leaves out what is undefined. */
function entryEvent(step: StepOf, runOf: RunOf, transition: Transition): Happening | undefined {
  const { prNumber, to, from, because, landed, isBisection } = transition;
  const word = ENTRY_TYPES[to];
  // An entry that has become unready waits again, and was not submitted again.
  if (word === undefined || (to === 'NOT_READY' && from !== undefined && isLive(from))) return undefined;
  const { event, result } = step;
  const entry = findEntry(result.queue, prNumber) ?? result.ended.find((each) => each.prNumber === prNumber);
  const candidate = candidateOf(step, because.candidate);
  const run = runOf(candidate);
  const blame = blameOf(to, because);
  return {
    type: `pull_request.${word}`,
    actor: because.actor === undefined ? SLUICE : actorOf(event),
    prNumber,
    text: `#${prNumber}: ${changeText({ to, branch: result.queue.branch, because, landed })}`,
    data: {
      reason: because.reason,
      isBisection: isBisection || candidate?.purpose.kind === 'bisection',
      title: entry?.pr.title,
      author: entry?.pr.author,
      url: entry?.pr.url,
      checks: because.checks,
      cause: blame && causeOfEnd(because),
      blame,
      causedBy: because.prNumber,
      result: entry && !isLive(to) ? decisionOf(result.queue, entry, event.at) : undefined,
      sha: landed?.sha,
      testRunId: run?.testRunId,
      isBatch: run?.isBatch,
      prNumbers: run?.prNumbers,
      testBranchSha: run?.testBranchSha,
      namedFor: run?.namedFor,
      isProbe: run?.isProbe,
    },
  };
}

// SPEC E90
function decisionOf(queue: Queue, entry: Entry, now: Instant): object {
  const explanation = explain(queue, entry, now);
  return { ...outcomeOf(queue, entry, explanation), next: explanation.next };
}

function runsOf(queueId: QueueId): RunOf {
  let last: { readonly candidate: Candidate; readonly run: Run } | undefined;
  return (candidate) => {
    if (candidate === undefined) return undefined;
    if (last?.candidate !== candidate) last = { candidate, run: toRun(queueId, candidate) };
    return last.run;
  };
}

function toRun(queueId: QueueId, candidate: Candidate): Run {
  const prNumbers = candidate.members.map(({ prNumber }) => prNumber);
  return {
    testRunId: candidateIdOf(queueId, candidate.number),
    isBatch: prNumbers.length > 1,
    prNumbers,
    testBranchSha: candidate.commit?.sha,
    namedFor: candidate.namedFor?.prNumber ?? prNumbers[0],
    isProbe: candidate.question && true,
  };
}

function candidateOf({ before, result }: StepOf, number: CandidateNumber | undefined): Candidate | undefined {
  if (number === undefined) return undefined;
  return (
    getIn(result.queue.candidates, number) ??
    result.endedCandidates.find((candidate) => candidate.number === number) ??
    getIn(result.queue.passes, number) ??
    getIn(before.candidates, number)
  );
}

const BATCH_STATES: readonly string[] = ['PENDING', 'PENDING_FAILURE', 'FAILED', 'CANCELLED', 'MERGED'];

/** The tests of a batch begin when its commit is there. */
function batchesBuilt(step: StepOf, runOf: RunOf): Happening[] {
  const { event } = step;
  const candidate = event.kind === 'candidate_built' ? candidateOf(step, event.candidate) : undefined;
  if (candidate === undefined || candidate.members.length < 2 || candidate.commit === undefined) return [];
  const prNumbers = candidate.members.map(({ prNumber }) => prNumber);
  const { branch } = step.result.queue;
  const data = { isBisection: candidate.purpose.kind === 'bisection', ...runOf(candidate) };
  const isNew = candidate.purpose.kind !== 'bisection';
  return [...(isNew ? ['submitted'] : []), 'testing'].map((word) => batch({ word, prNumbers, branch }, data));
}

function batch(change: BatchChange, data: object): Happening {
  return { type: `pull_request_batch.${change.word}`, actor: SLUICE, text: batchText(change), data };
}

function batchesMoved(step: StepOf, runOf: RunOf): Happening[] {
  const { result, before } = step;
  const groups = new Map<
    string,
    { readonly first: Transition; readonly candidate: Candidate; readonly moved: number[] }
  >();
  for (const transition of result.transitions) {
    if (!BATCH_STATES.includes(transition.to)) continue;
    const was = findEntry(before, transition.prNumber);
    const number = transition.because.candidate ?? (was && candidateNumberOf(was));
    const candidate = candidateOf(step, number);
    if (candidate === undefined || candidate.members.length < 2 || candidate.commit === undefined) continue;
    const key = `${candidate.number} ${transition.to}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { first: transition, candidate, moved: [transition.prNumber] });
    else group.moved.push(transition.prNumber);
  }
  return [...groups.values()].flatMap(({ first, candidate, moved }) => {
    if (moved.length < 2) return [];
    const { reason, checks } = first.because;
    const isBisection = candidate.purpose.kind === 'bisection';
    const data = { reason, isBisection, checks, ...runOf(candidate), moved };
    const word = ENTRY_TYPES[first.to] ?? '';
    return [batch({ word, prNumbers: moved, branch: result.queue.branch, reason, checks }, data)];
  });
}

function lostEvents({ event, result: { ended, queue } }: StepOf): Happening[] {
  if (event.kind !== 'landings_compared') return [];
  return ended.flatMap(({ prNumber, landed, lost }) => {
    if (landed === undefined || lost === undefined) return [];
    const text = `#${prNumber}: ${queue.branch} was rewritten and no longer contains ${shortSha(landed.sha)}, as which it landed.`;
    return [{ type: 'landing.lost', actor: SLUICE, prNumber, text, data: { sha: landed.sha, head: queue.head?.sha } }];
  });
}

/** The proof of each landing, as the audit keeps it. */
function landingEvents({ result }: StepOf, queueId: QueueId): Happening[] {
  return result.transitions.flatMap(({ prNumber, landed }) => {
    if (landed === undefined) return [];
    const { candidate, at: _at, ...proof } = landed;
    const text = `#${prNumber} landed on ${result.queue.branch} as ${landed.sha.slice(0, 12)}.`;
    return [
      {
        type: 'landing.recorded',
        actor: SLUICE,
        prNumber,
        text,
        data: { ...proof, testRunId: candidateIdOf(queueId, candidate) },
      },
    ];
  });
}
