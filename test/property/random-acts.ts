import fc from 'fast-check';
import { type Candidate, compositionOf } from '../../src/engine/candidate.ts';
import { landingEntries } from '../../src/engine/evolve-landing.ts';
import type { PrNumber } from '../../src/engine/pull-request.ts';
import { isAdmitted } from '../../src/engine/queue.ts';
import type { QueueSettings } from '../../src/engine/settings.ts';
import { valuesOf } from '../../src/lib/int-map.ts';
import type { Scenario } from '../worlds/engine/scenario.ts';
import { letter } from '../worlds/engine/words.ts';

/** One random act. Its numbers select the subject among those present when it runs. */
export interface Act {
  readonly kind: (typeof ACTS)[number];
  readonly pr: number;
  readonly pick: number;
}

const ACTS = [
  'submit',
  'submit',
  'submit',
  'submitUrgent',
  'submitAlone',
  'pass',
  'pass',
  'pass',
  'pass',
  'fail',
  'cut',
  'unbuildable',
  'waive',
  'waive',
  'deny',
  'rerun',
  'cancel',
  'restart',
  'push',
  'close',
  'draft',
  'retarget',
  'block',
  'ready',
  'merge',
  'foreign',
  'rewind',
  'conflict',
  'targets',
  'wait',
  'pause',
  'resume',
  'drain',
  'hold',
  'release',
  'refuse',
  'stop',
  'stop',
  'settings',
  'mode',
] as const;

export const MANY_PRS = 8;

export const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom(...ACTS),
  pr: fc.integer({ min: 1, max: MANY_PRS }),
  pick: fc.nat({ max: 1_000 }),
});

export const settings: fc.Arbitrary<Partial<QueueSettings>> = fc.record({
  mode: fc.constantFrom('SINGLE' as const, 'PARALLEL' as const),
  concurrency: fc.integer({ min: 1, max: 5 }),
  bisectionConcurrency: fc.constantFrom(null, 0, 1, 3),
  batch: fc.boolean(),
  batchingMinSize: fc.integer({ min: 1, max: 5 }),
  batchingMaxWaitTimeMinutes: fc.constantFrom(0, 5),
  canOptimisticallyMerge: fc.boolean(),
  pendingFailureDepth: fc.constantFrom(0, 0, 1, 2),
  optimizationMode: fc.constantFrom('OFF' as const, 'BISECTION_SKIP_REDUNDANT_TESTS' as const),
  landingMode: fc.constantFrom('PUSH' as const, 'API' as const),
  exactLanding: fc.boolean(),
  reusePassedTrees: fc.boolean(),
  notReadyTimeoutHours: fc.constantFrom(0, 1),
  honorQuarantine: fc.constantFrom('OFF' as const, 'SHADOW' as const, 'ON' as const, 'ON' as const),
});

const TARGETS = ['[x]', '[y]', '[x,y]', '[z]', '[]', '[ALL]', '[y,z]'];
const SETTINGS = [
  'concurrency=1',
  'concurrency=4',
  'batch=true',
  'batch=false',
  'canOptimisticallyMerge=true',
  'honorQuarantine=ON',
  'honorQuarantine=SHADOW',
];

export function perform(story: Scenario, { kind, pr, pick }: Act): void {
  const name = letter(pr);
  switch (kind) {
    case 'submit':
      return void story.play(`submit ${name}${targetsFor(story, pick)}`);
    case 'submitUrgent':
      return void story.play(`submit ${name}${targetsFor(story, pick)} urgent`);
    case 'submitAlone':
      return void story.play(`submit ${name}${targetsFor(story, pick)} nobatch`);
    case 'pass':
      return report(story, pick, 'SUCCESS');
    case 'fail':
      return report(story, pick, 'FAILURE');
    case 'cut':
      return report(story, pick, 'CANCELLED');
    case 'unbuildable':
      return makeUnbuildable(story, pick);
    case 'waive':
    case 'deny':
      return judge(story, pick, kind === 'waive');
    case 'rerun':
      return rerun(story, pick);
    case 'targets':
      return void story.play(`targets ${name}${TARGETS[pick % TARGETS.length]}`);
    case 'wait':
      return void story.play(`wait ${(pick % 90) + 1}m`);
    case 'settings':
      return void story.play(`set ${SETTINGS[pick % SETTINGS.length]}`);
    case 'mode':
      return void story.play(`set mode=${pick % 2 === 0 ? 'SINGLE' : 'PARALLEL'}`);
    case 'hold':
      return void story.play(pick % 2 === 0 ? 'hold landings' : 'hold builds');
    case 'release':
      return release(story);
    case 'refuse':
      return refuse(story, pick);
    case 'stop':
      return stop(story, pick);
    case 'foreign':
    case 'rewind':
      return story.queue.landing === undefined ? void story.play(`${kind} X${pick}`) : undefined;
    case 'merge':
      return story.queue.landing === undefined ? void story.play(`merge ${name}`) : undefined;
    case 'conflict':
      return conflict(story, pr, (pick % MANY_PRS) + 1);
    case 'pause':
    case 'resume':
    case 'drain':
      return void story.play(kind);
    default:
      return void story.play(`${kind} ${name}`);
  }
}

/** A conflict is a property of two pull requests, so two that were built together cannot conflict later. */
function conflict(story: Scenario, pr: number, other: number): void {
  const isTogether = valuesOf(story.queue.candidates).some((candidate) => {
    // The entries beneath a candidate under construction were built together before.
    const members = candidate.commit === undefined ? candidate.beneath : compositionOf(candidate);
    const built = members.map(({ prNumber }) => letter(prNumber));
    const tree = [...built, ...candidate.base.sha.split('+')];
    return [pr, other].every((one) => tree.includes(letter(one)));
  });
  if (!isTogether) story.play(`conflict ${letter(pr)} ${letter(other)}`);
}

export function release(story: Scenario): void {
  story.play('release builds\nrelease landings');
}

function targetsFor(story: Scenario, pick: number): string {
  return story.queue.settings.mode === 'PARALLEL' || pick % 2 === 0 ? (TARGETS[pick % TARGETS.length] ?? '') : '';
}

function underTest(story: Scenario): Candidate[] {
  return story.candidates().filter(({ state, sameTreeAs }) => state === 'testing' && sameTreeAs === undefined);
}

function report(story: Scenario, pick: number, conclusion: 'SUCCESS' | 'FAILURE' | 'CANCELLED'): void {
  const open = underTest(story);
  const candidate = open[pick % Math.max(1, open.length)];
  if (candidate !== undefined) story.reportCheck(candidate.number, { conclusion });
}

/** The candidate cannot be built, or its test branch cannot be pushed. */
function makeUnbuildable(story: Scenario, pick: number): void {
  const open = story.candidates().filter(({ state }) => state === 'building' || state === 'testing');
  const candidate = open[pick % Math.max(1, open.length)];
  if (candidate === undefined) return;
  const problem = { reason: 'START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH' as const, detail: 'no' };
  story.tell({ kind: 'candidate_unbuildable', at: story.now, candidate: candidate.number, ...problem });
}

/** A judgement of a failure arrives, for a live or an ended candidate. */
function judge(story: Scenario, pick: number, isWaived: boolean): void {
  const failed = [...story.candidates(), ...story.endedCandidates.values()].filter(({ checks }) =>
    checks.some(({ conclusion, judgement }) => conclusion === 'FAILURE' && judgement?.kind !== 'judged'),
  );
  const candidate = failed[pick % Math.max(1, failed.length)];
  if (candidate !== undefined) judgeOne(story, candidate, isWaived);
}

function judgeOne(story: Scenario, { number, checks }: Candidate, isWaived: boolean): void {
  const check = checks.find(({ conclusion }) => conclusion === 'FAILURE');
  if (check === undefined) return;
  story.judgeCheck(number, { check: check.name, attempt: check.startedAt, tests: ['t'], isWaived });
}

/** A reported check runs and reports again. */
function rerun(story: Scenario, pick: number): void {
  const candidates = story.candidates();
  const candidate = candidates[pick % Math.max(1, candidates.length)];
  if (candidate === undefined) return;
  const startedAt = story.now - 60_000 + pick;
  story.reportCheck(candidate.number, { status: 'IN_PROGRESS', startedAt });
  if (pick % 3 > 0)
    story.reportCheck(candidate.number, { conclusion: pick % 3 === 1 ? 'SUCCESS' : 'FAILURE', startedAt });
}

function refuse(story: Scenario, pick: number): void {
  const { landing } = story.queue;
  if (landing === undefined) return;
  const candidate = story.candidates().find(({ number }) => number === landing.candidate);
  const member = candidate?.members[pick % Math.max(1, candidate.members.length)];
  if (member === undefined || !story.isLandingHeld) return;
  const ways = ['moved X', 'composition', `${letter(member.prNumber)} PR_UPDATED_AT_MERGE_TIME`];
  const way = ways[pick % ways.length] as string;
  if (way === 'composition' && candidate?.composedWith.length === 0) return;
  story.play(`refuse ${way}`);
}

/** A merge API lands a part and stops. */
function stop(story: Scenario, pick: number): void {
  const { landing } = story.queue;
  const candidate = story.candidates().find(({ number }) => number === landing?.candidate);
  if (landing?.landingMode !== 'API' || candidate === undefined || !story.isLandingHeld) return;
  const asked = landingEntries(story.queue, candidate).map(({ prNumber }) => letter(prNumber));
  const count = pick % asked.length;
  const next = asked[count];
  const ways = [
    `strayed ${next} X${pick}`,
    ...(count === 0 ? [] : ['', `moved X${pick}`, `refused ${next} GITHUB_API_MERGE_PR_FAILED`]),
  ];
  story.play(`stop ${asked.slice(0, count).join('') || '-'} ${ways[(pick >> 3) % ways.length]}`);
}

/** A push repairs the branch: nothing on it makes any check red from now on. */
function mend(story: Scenario, mended: Set<string>, round: number): void {
  for (const part of story.branch.history) mended.add(part);
  mended.add(`x${round}`);
  story.play(`foreign x${round}`);
}

/** Answers everything that is open until nothing is left. The verdict depends on the tested tree only. */
export function settle(story: Scenario, isGreen: (tree: string) => boolean): void {
  release(story);
  story.play('resume');
  const mended = new Set<string>();
  for (let round = 0; round < 2_000; round += 1) {
    const [candidate] = underTest(story);
    if (candidate?.checks.some(({ judgement }) => judgement?.kind === 'awaited')) {
      judgeOne(story, candidate, false);
    } else if (candidate !== undefined) {
      const parts = story.branch.treeOf(candidate).replace('tree:', '').split('+');
      const left = parts.filter((part) => !mended.has(part)).join('+');
      const conclusion = isGreen(left) ? 'SUCCESS' : 'FAILURE';
      story.reportCheck(candidate.number, { conclusion });
    } else if ([...valuesOf(story.queue.entries)].some(isAdmitted) || story.queue.state !== 'RUNNING') {
      if (story.queue.hold !== undefined) mend(story, mended, round);
      else story.play('wait 61m');
      if (story.queue.state === 'PAUSED' || story.queue.state === 'DRAINING') story.play('resume');
    } else return;
  }
  throw new Error(`it never settles\n${story.describe()}`);
}

export function outcomeOf(story: Scenario): Record<string, string | undefined> {
  const names = Array.from({ length: MANY_PRS }, (_, index) => letter((index + 1) as PrNumber));
  return Object.fromEntries(names.map((name) => [name, story.stateOf(name)]));
}
