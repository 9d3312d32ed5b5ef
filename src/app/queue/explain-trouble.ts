import type { Candidate } from '../../engine/model/candidate.ts';
import type { Effect } from '../../engine/model/effect.ts';
import { candidateNumberOf } from '../../engine/model/place.ts';
import { type Entry, findCandidate, isLive, ownRunOf, type Queue } from '../../engine/model/queue.ts';
import type { Instant } from '../../lib/clock.ts';
import type { StoredEffect } from '../../storage/queues.ts';
import { type ExplanationReason, reason } from '../../words/explanation.ts';
import type { App } from '../core/app.ts';
import type { FoundQueue } from '../core/find-queue.ts';
import { decodeEffect } from '../core/queue-codec.ts';

/** Says which effects and polls keep failing while an entry waits for them. To the engine they are only unanswered. */
// SPEC E15
export async function explainTrouble(
  app: Pick<App, 'store' | 'clock' | 'outages'>,
  { id, repository, queue }: Pick<FoundQueue, 'id' | 'repository' | 'queue'>,
  entry: Entry,
): Promise<readonly ExplanationReason[]> {
  if (!isLive(entry.state)) return [];
  const effects = (await app.store.effects.list(id)).filter(({ attempts }) => attempts > 0);
  const now = app.clock.now();
  const ofEffects = effects
    .flatMap((effect) => explainEffect(queue, entry, { effect, now }))
    // The entry's own candidate comes first.
    .toSorted(
      (a, b) => Number(b.testRun === candidateNumberOf(entry)) - Number(a.testRun === candidateNumberOf(entry)),
    );
  const outage = app.outages.find(entry.id) ?? app.outages.find(repository.id);
  // A blocked repository is stored as such, so that servers that did not poll it also say so.
  const why = outage?.text ?? repository.blockedReason;
  if (why === null) return ofEffects;
  const text = `Sluice cannot read it from the forge: ${why} Sluice keeps trying.`;
  return [...ofEffects, reason('FORGE_UNAVAILABLE', text, outage === undefined ? {} : { since: outage.since })];
}

interface Attempted {
  readonly effect: StoredEffect;
  readonly now: Instant;
}

function explainEffect(queue: Queue, entry: Entry, { effect, now }: Attempted): ExplanationReason[] {
  const decoded = decodeEffect(effect);
  const words = WORDS[decoded.kind];
  if (words === undefined || !('candidate' in decoded)) return [];
  const candidate = findCandidate(queue, decoded.candidate);
  if (candidate === undefined || !waitsFor(queue, entry, candidate)) return [];
  // The checks run now, whatever went wrong before.
  const hasBegun = candidate.checks.some(({ status }) => status === 'IN_PROGRESS');
  if (decoded.kind === 'start_checks' && effect.dueAt <= now && hasBegun) return [];
  const problem = problemOf(effect.lastError ?? '');
  const begin = `${words(subjectOf(entry, candidate))}: ${problem}${/[.!?]$/.test(problem) ? '' : '.'} Tried ${times(effect.attempts)};`;
  const testRun = candidate.number;
  if (effect.parkedAt !== null) {
    const text = `${begin} it is not tried again automatically. An administrator must look at it and then set the queue to RUNNING.`;
    return [reason('NEEDS_ATTENTION', text, { testRun })];
  }
  return [reason('TRYING_AGAIN', `${begin} ${whenOf(effect.dueAt - now)}`, { testRun })];
}

/** The API shows faults of the forge. Other errors go to the log alone. */
function problemOf(lastError: string): string {
  const [, detail] = /^[A-Z_]+: (.*)/s.exec(lastError) ?? [];
  return detail ?? 'an unexpected error. The log of the server has the details';
}

const WORDS: { readonly [Kind in Effect['kind']]?: (subject: string) => string } = {
  build_candidate: (subject) => `The commit that tests ${subject} could not be built`,
  start_checks: (subject) => `${subject === 'it' ? 'Its checks' : `The checks of ${subject}`} could not be started`,
  land_candidate: (subject) => `Landing ${subject} failed`,
};

function subjectOf({ prNumber }: Entry, { members }: Candidate): string {
  if (members.length === 0) return 'the head of the target';
  if (members.some((member) => member.prNumber === prNumber)) return 'it';
  return members.map((member) => `#${member.prNumber}`).join(', ');
}

/** The candidate has the entry, is beneath the entry's own candidate, or tests the head of the target branch. */
function waitsFor(queue: Queue, entry: Entry, candidate: Candidate): boolean {
  if (candidate.members.length === 0) return true;
  if (candidate.members.some(({ prNumber }) => prNumber === entry.prNumber)) return true;
  const own = ownRunOf(queue, entry);
  const beneath = new Set(own?.beneath.map(({ prNumber }) => prNumber));
  return candidate.members.some(({ prNumber }) => beneath.has(prNumber));
}

function times(attempts: number): string {
  return attempts === 1 ? 'once' : `${attempts} times`;
}

function whenOf(waitMs: number): string {
  return waitMs <= 0 ? 'it is being tried again now.' : `the next try is in ${Math.ceil(waitMs / 1_000)} s.`;
}
