import type { QueueUpdated } from '../../engine/event.ts';
import { type Entry, isLive, type Queue } from '../../engine/queue.ts';
import type { TransitionRow } from '../../storage/queues.ts';
import type { RepositoryRef } from '../../storage/repositories.ts';
import type { App } from './app.ts';
import type { LoadedQueue, StoredStep } from './commit-draft.ts';
import { formatRef } from './find-queue.ts';
import type { StoredTransition } from './queue-codec.ts';
import { changedSettings, sayCause, show } from './step-events.ts';

/** A line of the log: fields for programs, and a sentence for people. */
interface OperatorLine {
  readonly facts: object;
  readonly text: string;
}

/** The queue by name, as the log shows it. */
interface Place {
  readonly repository: string;
  readonly branch: string;
}

/**
 * Logs an info line for everything that an operator wants to find later. Only the server that stored a commit is told of
 * it, so that several servers do not log it twice.
 */
// SPEC N20
export function keepOperatorLog(app: App): void {
  app.queues.listen((loaded, { steps }) => {
    if (steps.some(isNotable)) void logSteps(app, loaded, steps);
  });
}

/** Most commits have nothing for this log, and the repository of those need not be read. */
function isNotable({ before, after, transitions }: StoredStep): boolean {
  const isSame =
    before.settings === after.settings &&
    before.state === after.state &&
    (before.hold === undefined) === (after.hold === undefined) &&
    (before.parked === undefined) === (after.parked === undefined);
  return !isSame || transitions.some(({ to, from }) => !isLive(to as Entry['state']) || cameBack(from));
}

async function logSteps(app: App, loaded: LoadedQueue, steps: readonly StoredStep[]): Promise<void> {
  const found = await app.directory.findRepositoryById(loaded.repositoryId).catch(() => undefined);
  const place = { repository: found ? formatRef(found) : loaded.repositoryId, branch: loaded.queue.branch };
  for (const step of steps) for (const { facts, text } of describeStep(step, place)) app.log.info(facts, text);
}

interface QueueAct {
  readonly act: 'created' | 'deleted';
  readonly branch: string;
  readonly actor: string;
}

// SPEC N21
export function logQueueAct(app: App, repository: RepositoryRef, { act, branch, actor }: QueueAct): void {
  const place = { repository: formatRef(repository), branch };
  app.log.info({ act: `queue_${act}`, ...place, actor }, `${actor} ${act} the queue for ${formatPlace(place)}.`);
}

export function describeStep(step: StoredStep, place: Place): readonly OperatorLine[] {
  return [
    ...describeSettings(step, place),
    ...describeState(step, place),
    ...describeHold(step, place),
    ...step.transitions.flatMap((row) => describeTransition(row, step, place)),
  ];
}

function formatPlace({ repository, branch }: Place): string {
  return `${branch} of ${repository}`;
}

// SPEC N20
function describeTransition(row: TransitionRow, { ended }: StoredStep, place: Place): readonly OperatorLine[] {
  const { text: why, actor, reason } = JSON.parse(row.body) as StoredTransition;
  const { prNumber, to } = row;
  const entry = ended.find((each) => each.prNumber === prNumber);
  const facts = { ...place, pullRequest: prNumber, title: entry?.pr.title, author: entry?.pr.author, actor, reason };
  if (to === 'MERGED') {
    const { sha, kind: how } = entry?.landed ?? {};
    return [{ facts: { act: 'landed', ...facts, sha, how }, text: sayLanding(`#${prNumber}`, place, sha) }];
  }
  if (!isLive(to as Entry['state'])) {
    const text = `#${prNumber} was removed from the queue for ${formatPlace(place)} (${to}). ${why}`;
    return [{ facts: { act: 'removed', state: to, ...facts }, text }];
  }
  if (!cameBack(row.from)) return [];
  return [
    {
      facts: { act: 'returned', ...facts },
      text: `#${prNumber} is back in the queue for ${formatPlace(place)}. ${why}`,
    },
  ];
}

/** Somebody merged it outside the queue if it has no landing. */
function sayLanding(which: string, place: Place, sha: string | undefined): string {
  if (sha === undefined) return `${which} was merged into ${formatPlace(place)} outside the queue.`;
  return `${which} landed on ${formatPlace(place)} as ${sha.slice(0, 12)}.`;
}

/** The branch was to blame for its removal. A new submission has no former state. */
function cameBack(from: string | null): boolean {
  return from !== null && !isLive(from as Entry['state']);
}

const STATE_VERBS = { RUNNING: 'resumed', PAUSED: 'paused', DRAINING: 'began to drain' } as const;

// SPEC N21
function describeState({ event, before, after }: StoredStep, place: Place): readonly OperatorLine[] {
  const isUnparked = before.parked !== undefined && after.parked === undefined;
  if (before.state === after.state && !isUnparked) return [];
  const { actor, reason }: Partial<QueueUpdated> = event.kind === 'queue_updated' ? event : {};
  const facts = { act: 'state', ...place, before: before.state, after: after.state, actor, reason };
  const because = reason === undefined ? '' : ` Reason: ${reason}`;
  return [{ facts, text: `${sayState(after, actor, formatPlace(place))}${because}` }];
}

function sayState({ state, settings }: Queue, actor: string | undefined, where: string): string {
  if (state === 'SWITCHING_MODES') return `The queue for ${where} switches its mode when it is empty.`;
  if (actor !== undefined) return `${actor} ${STATE_VERBS[state]} the queue for ${where}.`;
  return `The queue for ${where} is ${state} in mode ${settings.mode}.`;
}

// SPEC N21
function describeSettings({ event, before, after }: StoredStep, place: Place): readonly OperatorLine[] {
  if (before.settings === after.settings) return [];
  const changes = changedSettings(before.settings, after.settings);
  const names = Object.keys(changes);
  if (names.length === 0) return [];
  const actor = 'actor' in event ? event.actor : undefined;
  const list = Object.entries(changes).map(
    ([name, change]) => `${name} from ${show(change.before)} to ${show(change.after)}`,
  );
  const where = `in the queue for ${formatPlace(place)}`;
  const text = `${actor ?? 'The queue'} changed ${list.join(', ')} ${where}.`;
  return [{ facts: { act: 'settings', ...place, actor, changes }, text }];
}

// SPEC N20
function describeHold({ event, before, after }: StoredStep, place: Place): readonly OperatorLine[] {
  const where = formatPlace(place);
  if (before.hold === undefined && after.hold !== undefined) {
    const { cause } = after.hold;
    const text = `The queue for ${where} holds: ${sayCause(cause, place.branch)}.`;
    return [{ facts: { act: 'held', ...place, cause }, text }];
  }
  if (before.hold === undefined || after.hold !== undefined) return [];
  const heldSeconds = Math.max(0, Math.round((event.at - before.hold.since) / 1000));
  const text = `The queue for ${where} works again. It held for ${heldSeconds} s.`;
  return [{ facts: { act: 'released', ...place, heldSeconds }, text }];
}
