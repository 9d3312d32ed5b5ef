import fc from 'fast-check';
import { landingEntries } from '../../../src/engine/facts/evolve-landing.ts';
import { type Candidate, compositionOf } from '../../../src/engine/model/candidate.ts';
import type { Check } from '../../../src/engine/model/check.ts';
import type { Answer } from '../../../src/engine/model/judgement.ts';
import type { PrNumber } from '../../../src/engine/model/pull-request.ts';
import { askedIn, probeNameOf } from '../../../src/engine/model/question.ts';
import { isAdmitted } from '../../../src/engine/model/queue.ts';
import { composedWithOf } from '../../../src/engine/model/roster.ts';
import type { QueueSettings } from '../../../src/engine/model/settings.ts';
import { valuesOf } from '../../../src/lib/int-map.ts';
import type { Scenario } from './scenario.ts';
import { letter } from './words.ts';

/** One random act. Its numbers select the subject among those present when it runs. */
export interface Act {
  readonly kind: keyof typeof ACTS;
  readonly pr: number;
  readonly pick: number;
}

type Perform = (story: Scenario, act: Act) => unknown;

/** Plays a line of a story about the pull request. */
function plays(line: (name: string, pick: number, story: Scenario) => string): Perform {
  return (story, { pr, pick }) => story.play(line(letter(pr), pick, story));
}

/** The branch moves, unless a landing moves it at this moment. */
function moves(line: (name: string, pick: number) => string): Perform {
  return (story, { pr, pick }) => story.queue.landing ?? story.play(line(letter(pr), pick));
}

const ACTS = {
  submit: plays((name, pick, story) => `submit ${name}${targetsFor(story, pick)}`),
  submitAsBot: plays((name, pick, story) => `submit ${name}${targetsFor(story, pick)} by=bot${pick % 2}`),
  submitUrgent: plays((name, pick, story) => `submit ${name}${targetsFor(story, pick)} urgent`),
  submitAlone: plays((name, pick, story) => `submit ${name}${targetsFor(story, pick)} nobatch`),
  stack: plays((name, pick) => `stack ${letter(((pick % MANY_PRS) + 1) as PrNumber)} ${name}; submit ${name}`),
  pass: (story, { pick }) => report(story, pick, 'SUCCESS'),
  fail: (story, { pick }) => report(story, pick, 'FAILURE'),
  shard: plays((_, pick) => `set failFastStatuses=${pick % 3 === 0 ? '[]' : '["s*"]'}`),
  failShard: (story, { pick }) => report(story, pick, 'FAILURE', false, 'shard'),
  cut: (story, { pick }) => report(story, pick, 'CANCELLED'),
  unbuildable: (story, { pick }) => makeUnbuildable(story, pick),
  green: (story, { pick }) => report(story, pick, 'SUCCESS', true),
  waive: (story, { pick }) => judge(story, pick, true),
  repeat: (story, { pick }) => judge(story, pick, false, true),
  deny: (story, { pick }) => judge(story, pick, false),
  answer: (story, { pick }) => answer(story, pick),
  rerun: (story, { pick }) => rerun(story, pick),
  cancel: plays((name) => `cancel ${name}`),
  restart: plays((name) => `restart ${name}`),
  push: plays((name) => `push ${name}`),
  close: plays((name) => `close ${name}`),
  draft: plays((name) => `draft ${name}`),
  retarget: plays((name) => `retarget ${name}`),
  block: plays((name) => `block ${name}`),
  ready: plays((name) => `ready ${name}`),
  merge: moves((name) => `merge ${name}`),
  foreign: moves((_, pick) => `foreign X${pick}`),
  rewind: moves((_, pick) => `rewind X${pick}`),
  conflict: (story, { pr, pick }) => conflict(story, pr, (pick % MANY_PRS) + 1),
  targets: plays((name, pick) => `targets ${name}${TARGETS[pick % TARGETS.length]}`),
  wait: plays((_, pick) => `wait ${(pick % 90) + 1}m`),
  pause: plays(() => 'pause'),
  resume: plays(() => 'resume'),
  drain: plays(() => 'drain'),
  hold: plays((_, pick) => (pick % 2 === 0 ? 'hold landings' : 'hold builds')),
  release: (story) => release(story),
  refuse: (story, { pick }) => refuse(story, pick),
  stop: (story, { pick }) => stop(story, pick),
  settings: plays((_, pick) => `set ${SETTINGS[pick % SETTINGS.length]}`),
  mode: plays((_, pick) => `set mode=${pick % 2 === 0 ? 'SINGLE' : 'PARALLEL'}`),
  line: plays(() => 'line'),
  find: plays((_, pick) => (pick % 2 === 0 ? 'find' : 'find again')),
} satisfies Record<string, Perform>;

/** Acts that are drawn more often than others. */
const FREQUENT = ['submit', 'submit', 'pass', 'pass', 'pass', 'waive', 'stop'] as const;

export const MANY_PRS = 8;

export const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom(...(Object.keys(ACTS) as Act['kind'][]), ...FREQUENT),
  pr: fc.integer({ min: 1, max: MANY_PRS }),
  pick: fc.nat({ max: 1_000 }),
});

export function perform(story: Scenario, act: Act): void {
  ACTS[act.kind](story, act);
}

export const settings: fc.Arbitrary<Partial<QueueSettings>> = fc.record({
  mode: fc.constantFrom('SINGLE' as const, 'PARALLEL' as const),
  concurrency: fc.integer({ min: 1, max: 5 }),
  bisectionConcurrency: fc.constantFrom(null, 0, 1, 3),
  batch: fc.boolean(),
  batchingMinSize: fc.integer({ min: 1, max: 5 }),
  batchingMaxWaitTimeMinutes: fc.constantFrom(0, 5),
  canOptimisticallyMerge: fc.boolean(),
  pendingFailureDepth: fc.constantFrom(0, 0, 1, 2),
  optimizationMode: fc.constantFrom('OFF' as const, 'BISECTION_SKIP_REDUNDANT_TESTS' as const, 'ADAPTIVE' as const),
  runCost: fc.constantFrom(0.25, 2, 16),
  landingMode: fc.constantFrom('PUSH' as const, 'API' as const),
  exactLanding: fc.boolean(),
  reusePassedTrees: fc.boolean(),
  notReadyTimeoutHours: fc.constantFrom(0, 1),
  maxEntriesPerActor: fc.constantFrom(0, 1, 2),
  probeStatuses: fc.constantFrom([], ['ci']),
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
  'probeStatuses=["ci"]',
];

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

function report(
  story: Scenario,
  pick: number,
  conclusion: 'SUCCESS' | 'FAILURE' | 'CANCELLED',
  hasUploads = false,
  name = 'ci',
): void {
  const open = underTest(story);
  const candidate = open[pick % Math.max(1, open.length)];
  if (candidate === undefined) return;
  story.reportCheck(candidate.number, {
    name: nameIn(candidate, name, pick),
    conclusion,
    ...(hasUploads && { hasUploads }),
  });
}

/** Sometimes a required check reports on a probe. */
function nameIn({ question }: Candidate, name: string, pick: number): string {
  return question === undefined || pick % 20 === 0 ? name : probeNameOf(name);
}

const ANSWERS = ['passed', 'failed', 'failed', 'none'] as const;

/** The reports of a probe are read. */
function answer(story: Scenario, pick: number): void {
  const probes = story.candidates().filter(({ question, checks }) => question !== undefined && checks.length > 0);
  const { number, question = [], checks = [] } = probes[pick % Math.max(1, probes.length)] ?? {};
  const check = checks[0];
  if (number === undefined || check === undefined) return;
  const given = { check: check.name, attempt: check.startedAt, tests: [], isWaived: false };
  const its = ANSWERS[pick % ANSWERS.length] ?? 'none';
  story.judgeCheck(number, { ...given, answer: its, signature: askedIn(question, check.name) });
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
function judge(story: Scenario, pick: number, isWaived: boolean, isRepeat = false): void {
  const failed = [...story.candidates(), ...story.endedCandidates.values()].filter(({ checks }) =>
    checks.some(isUnjudged),
  );
  const candidate = failed[pick % Math.max(1, failed.length)];
  const check = candidate?.checks.find(isUnjudged);
  if (candidate === undefined || check === undefined) return;
  const given = { check: check.name, attempt: check.startedAt, tests: ['t'], isWaived };
  // Reports say the same each time.
  const signature = candidate.number % 3 === 0 ? [] : [{ id: 't', name: 't' }];
  const isWhole = candidate.number % 2 === 0 && { isWhole: true as const };
  story.judgeCheck(candidate.number, { ...given, signature, ...isWhole, ...(isRepeat && { isRepeat }) });
}

function isUnjudged({ conclusion, hasUploads, judgement }: Check): boolean {
  return (conclusion === 'FAILURE' || hasUploads === true) && judgement?.kind !== 'judged';
}

/** A reported check runs and reports again. */
function rerun(story: Scenario, pick: number): void {
  const candidates = story.candidates();
  const candidate = candidates[pick % Math.max(1, candidates.length)];
  if (candidate === undefined) return;
  const startedAt = story.now - 60_000 + pick;
  const name = nameIn(candidate, pick % 2 === 0 ? 'ci' : 'shard', pick);
  story.reportCheck(candidate.number, { name, status: 'IN_PROGRESS', startedAt });
  if (pick % 3 > 0)
    story.reportCheck(candidate.number, { name, conclusion: pick % 3 === 1 ? 'SUCCESS' : 'FAILURE', startedAt });
}

function refuse(story: Scenario, pick: number): void {
  const { landing } = story.queue;
  if (landing === undefined) return;
  const candidate = story.candidates().find(({ number }) => number === landing.candidate);
  const member = candidate?.members[pick % Math.max(1, candidate.members.length)];
  if (member === undefined || !story.forge.isLandingHeld) return;
  const name = letter(member.prNumber);
  const ways = ['moved X', 'composition', `${name} PR_UPDATED_AT_MERGE_TIME`, `${name} reviewRequired`];
  const way = ways[pick % ways.length] as string;
  if (way === 'composition' && (candidate === undefined || composedWithOf(story.queue, candidate).length === 0)) return;
  story.play(`refuse ${way}`);
}

/** A merge API lands a part and stops. */
function stop(story: Scenario, pick: number): void {
  const { landing } = story.queue;
  const candidate = story.candidates().find(({ number }) => number === landing?.candidate);
  if (landing?.landingMode !== 'API' || candidate === undefined || !story.forge.isLandingHeld) return;
  // A landing can begin between a merge by hand and its observation. The forge answers that the target moved.
  if (landing.expectedHead !== story.branch.head) return release(story);
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

/** The tests that fail on a tree, and what a probe of them says. */
export interface Tests {
  readonly failingOn: (tree: string) => readonly string[];
  /** Undefined: as the tests that fail on the tree say. */
  readonly answerTo?: (asked: readonly string[], tree: string) => Answer | undefined;
}

/** Without tests, only the tree decides. */
function answerOf(asked: readonly string[], tree: string, isGreen: boolean, tests: Tests | undefined): Answer {
  if (tests === undefined) return isGreen ? 'passed' : 'failed';
  const failing = tests.failingOn(tree);
  return tests.answerTo?.(asked, tree) ?? (asked.some((id) => failing.includes(id)) ? 'failed' : 'passed');
}

/** Answers everything that is open until nothing is left. The verdict depends on the tested tree only. */
export function settle(story: Scenario, isGreen: (tree: string) => boolean, tests?: Tests): void {
  release(story);
  story.play('resume');
  const mended = new Set<string>();
  for (let round = 0; round < 2_000; round += 1) {
    const [candidate] = underTest(story);
    const awaited = candidate?.checks.find(({ judgement }) => judgement?.kind === 'awaited');
    const parts = candidate === undefined ? [] : story.branch.treeOf(candidate).replace('tree:', '').split('+');
    const left = parts.filter((part) => !mended.has(part)).join('+');
    if (candidate?.question !== undefined && awaited !== undefined) {
      const asked = askedIn(candidate.question, awaited.name);
      const ids = asked.map(({ id }) => id);
      const failing = tests?.failingOn(left) ?? ids;
      const given = { check: awaited.name, attempt: awaited.startedAt, tests: [], isWaived: false };
      const its = answerOf(ids, left, isGreen(left), tests);
      const failed = asked.filter(({ id }) => failing.includes(id));
      story.judgeCheck(candidate.number, { ...given, answer: its, signature: failed.length > 0 ? failed : asked });
    } else if (candidate !== undefined && awaited !== undefined) {
      const { name: check, startedAt: attempt, conclusion } = awaited;
      story.judgeCheck(candidate.number, { check, attempt, tests: ['t'], isWaived: conclusion === 'SUCCESS' });
    } else if (candidate !== undefined) {
      const name = candidate.required?.names[0] ?? 'ci';
      const conclusion = isGreen(left) ? 'SUCCESS' : 'FAILURE';
      story.reportCheck(candidate.number, { name, conclusion });
      if (tests !== undefined && conclusion === 'FAILURE' && candidate.question === undefined) {
        const signature = tests.failingOn(left).map((id) => ({ id, name: id }));
        const given = { check: name, attempt: undefined, tests: [], isWaived: false };
        story.judgeCheck(candidate.number, { ...given, signature, isWhole: true });
      }
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
