import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { plainQueue, plainQueues } from '../../test/helpers/plain-queue.ts';
import { type Act, act, outcomeOf, perform, settings, settle } from '../../test/worlds/engine/random-acts.ts';
import { Scenario } from '../../test/worlds/engine/scenario.ts';
import { decodeQueue, encodeCandidate, encodeEntry, encodeQueue, encodeTargetSet } from '../app/core/queue-codec.ts';
import { valuesOf } from '../lib/int-map.ts';
import { Prng } from '../lib/prng.ts';
import type { QueueId, QueueSnapshot } from '../storage/queues.ts';
import type { RepositoryId } from '../storage/repositories.ts';
import { explain } from '../words/explain.ts';
import { formGroups } from './line/batch.ts';
import type { Landed } from './model/candidate.ts';
import type { Answer } from './model/judgement.ts';
import { createQueue, type Queue } from './model/queue.ts';
import type { QueueSettings } from './model/settings.ts';
import type { Proposal, Strategy } from './model/strategy.ts';
import { proposeSearches } from './policy/reference.ts';
import { step } from './step.ts';
import { nextWakeAt } from './wake.ts';

/** Histories are long, because most failures need many earlier acts. */
const history = fc.array(act, { minLength: 1, maxLength: 400, size: 'max' });
const ID = 'queue' as QueueId;

/** `PROPERTY_RUNS=10` runs ten times as many histories. */
function bounds(runs: number): { readonly numRuns: number; readonly interruptAfterTimeLimit: number } {
  const factor = Number(process.env.PROPERTY_RUNS ?? 1);
  return { numRuns: runs * factor, interruptAfterTimeLimit: 60_000 * factor };
}

/** The queue after a round trip through the store. */
function stored(queue: Queue): Queue {
  const entries = [...valuesOf(queue.entries)];
  const candidates = [...valuesOf(queue.candidates), ...valuesOf(queue.passes)];
  const row = { id: ID, repositoryId: 'r' as RepositoryId, branch: queue.branch, version: 1, createdAt: 0 };
  const snapshot: QueueSnapshot = {
    queue: { ...row, body: encodeQueue(queue) },
    entries: entries.map((entry) => encodeEntry(entry, ID, 1)),
    candidates: candidates.map((candidate) => encodeCandidate(candidate, { queueId: ID, version: 1, isLive: true })),
    targetSets: entries.flatMap(({ targets }) => (targets === undefined ? [] : (encodeTargetSet(targets) ?? []))),
  };
  return decodeQueue(snapshot);
}

/** Proposes anything: groups of any size, searches of anybody, prefixes that are not there. */
function anyStrategy(seed: string): Strategy {
  const propose = (queue: Queue, at: number): Proposal[] => {
    const random = new Prng(
      `${seed} ${queue.candidatesEver} ${queue.bisectionsEver} ${queue.index.pending.size} ${at}`,
    );
    const sizing = { most: 5, isFull: () => random.chance(0.4), mayJoin: () => true };
    const groups = formGroups(queue, at, undefined, sizing).map((group) => ({ kind: 'line', group }) as const);
    const everybody = [...valuesOf(queue.entries)].filter(() => random.chance(0.3));
    const prefixes = queue.bisections.map(({ number: search }) => {
      const again = random.chance(0.5) ? { isAgain: true as const } : {};
      return { kind: 'prefix', search, length: random.integer(5) - 1, ...again } as const;
    });
    const lost = { kind: 'prefix', search: 999, length: 1 } as const;
    const proposals: Proposal[] = [
      ...proposeSearches(queue),
      ...groups,
      { kind: 'search', entries: everybody },
      ...prefixes,
      lost,
    ];
    return proposals.filter(() => random.chance(0.7));
  };
  return { propose, wakeAt: () => undefined };
}

/** The test of the head had failed before the queue was resumed, so it is over as soon as it begins. */
const RED_AT_RESUME: [Partial<QueueSettings>, Act[], number] = [
  { optimizationMode: 'ADAPTIVE', concurrency: 1, runCost: 0.25, reusePassedTrees: false },
  [['submit'], ['hold', 747], ['fail'], ['rerun', 353], ['pause'], ['submit']].map(
    ([kind, pick = 0]) => ({ kind, pr: 1, pick }) as Act,
  ),
  0,
];

/** Those of EIGHT that share a target. */
const LANE = ['A', 'C', 'D', 'F', 'G'];
const EIGHT = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'] as const;

describe('any history', () => {
  it('keeps every invariant after every step, and can be explained [I1] [E12] [E91]', () => {
    fc.assert(
      fc.property(settings, history, (chosen, acts) => {
        const story = new Scenario(chosen);
        for (const each of acts) {
          perform(story, each);
          for (const entry of valuesOf(story.queue.entries)) {
            const { summary, next } = explain(story.queue, entry, story.now);
            // A program obeys `next`, and others wrote the titles.
            assert.ok(summary.length > 0 && !/Change [A-Z]\b/.test(next), next);
          }
          nextWakeAt(story.queue, story.now);
        }
      }),
      bounds(60),
    );
  });

  it('lands nothing whose checks neither passed nor were waived by name, and lets no waiver prove another [V12] [V13] [V47]', () => {
    fc.assert(
      fc.property(settings, history, (chosen, acts) => {
        const story = new Scenario({ ...chosen, honorQuarantine: 'ON' });
        for (const each of acts) perform(story, each);
        for (const entry of story.ended.values()) if (entry.landed !== undefined) assertProven(story, entry.landed);
      }),
      bounds(40),
    );
  });

  it('lands nothing unproven, whatever a strategy proposes [I5]', () => {
    fc.assert(
      fc.property(settings, history, fc.string(), (chosen, acts, seed) => {
        const story = new Scenario({ ...chosen, optimizationMode: 'ADAPTIVE' }, anyStrategy(seed));
        for (const each of acts) perform(story, each);
        for (const { landed } of story.ended.values()) if (landed !== undefined) assertProven(story, landed);
      }),
      bounds(20),
    );
  });

  it('lands every sound entry and removes every broken one, whatever a strategy proposes [I5] [K8] [K10] [K11] [K13]', () => {
    const broken = fc.uniqueArray(fc.constantFrom(...EIGHT), { maxLength: 4 });
    const world = fc.record({
      isRed: fc.boolean(),
      isFlaky: fc.boolean(),
      needs: fc.subarray(LANE, { minLength: 2, maxLength: 2 }),
    });
    fc.assert(
      fc.property(
        settings,
        broken,
        fc.string(),
        fc.boolean(),
        world,
        (chosen, bad, seed, isAdaptive, { isRed, isFlaky, needs }) => {
          const story = new Scenario(
            { ...chosen, optimizationMode: 'ADAPTIVE' },
            isAdaptive ? undefined : anyStrategy(seed),
          );
          story.play(`submit ${EIGHT.map((name, index) => `${name}[${'xyx'[index % 3]}]`).join(' ')}`);
          const flaked = new Set<string>();
          settle(story, (tree) => {
            const parts = tree.split('+');
            const isFlake = isFlaky && !flaked.has(tree) && new Prng(`${seed} ${tree}`).chance(0.2);
            flaked.add(tree);
            const [needed, needy] = needs as [string, string];
            const isLacking =
              parts.includes(needy) && !story.branch.history.includes(needed) && !parts.includes(needed);
            return (
              !isFlake && !isLacking && !(isRed && parts.includes('M')) && !bad.some((name) => parts.includes(name))
            );
          });
          const [needed, needy] = needs as [string, string];
          const isOut = (name: string) =>
            bad.includes(name as never) || (name === needy && bad.includes(needed as never));
          for (const name of EIGHT) assert.equal(story.stateOf(name), isOut(name) ? 'FAILED' : 'MERGED', name);
        },
      ),
      bounds(60),
    );
  });

  it('lands every sound entry on sound ones, removes the lowest broken ones, and keeps those above out [O31] [O35] [O38]', () => {
    const broken = fc.uniqueArray(fc.constantFrom(...EIGHT), { maxLength: 3 });
    /** Each is on one before it, or on none. */
    const chains = fc.tuple(...EIGHT.map((_, index) => fc.option(fc.nat({ max: Math.max(0, index - 1) }))));
    const how = fc.constantFrom('settings' as const, 'settings' as const, 'any strategy' as const);
    fc.assert(
      fc.property(settings, broken, chains, fc.string(), how, (chosen, bad, belows, seed, proposer) => {
        const isAny = proposer === 'any strategy';
        const mode = isAny ? ({ optimizationMode: 'ADAPTIVE' } as const) : {};
        const story = new Scenario({ ...chosen, ...mode }, isAny ? anyStrategy(seed) : undefined);
        const belowOf = (name: string): string | undefined => {
          const index = EIGHT.indexOf(name as never);
          const below = belows[index];
          return index === 0 || below === null || below === undefined ? undefined : EIGHT[below];
        };
        for (const name of EIGHT) if (belowOf(name) !== undefined) story.play(`stack ${belowOf(name)} ${name}`);
        const random = new Prng(seed);
        for (const name of random.shuffle(EIGHT)) story.play(`submit ${name}[${random.pick(['x', 'y', 'x,y'])}]`);
        settle(story, (tree) => !bad.some((name) => tree.split('+').includes(name)));
        const isOnBroken = (name: string): boolean => {
          const below = belowOf(name);
          return below !== undefined && (bad.includes(below as never) || isOnBroken(below));
        };
        for (const name of EIGHT) {
          const state = story.stateOf(name) ?? '';
          if (isOnBroken(name)) assert.ok(['NOT_READY', 'CANCELLED'].includes(state), `${name} is ${state}`);
          else assert.equal(state, bad.includes(name) ? 'FAILED' : 'MERGED', `${name}\n${story.describe()}`);
        }
      }),
      bounds(60),
    );
  });

  it('removes exactly the broken entries, though probes always fail, always pass or say nothing [B19] [B21] [B22]', () => {
    const broken = fc.uniqueArray(fc.constantFrom(...EIGHT), { maxLength: 4 });
    const probes = fc.constantFrom('honest', 'honest', 'failed', 'passed', 'none', 'random' as const);
    fc.assert(
      fc.property(settings, broken, fc.string(), probes, (chosen, bad, seed, kind) => {
        const adaptive = { optimizationMode: 'ADAPTIVE', probeStatuses: ['ci'] } as const;
        const story = new Scenario({ ...chosen, ...adaptive, testingTimeoutMinutes: 0 });
        story.play(`together ${EIGHT.map((name, index) => `${name}[${'xyx'[index % 3]}]`).join(' ')}`);
        const random = new Prng(seed);
        const failingOn = (tree: string) => bad.filter((name) => tree.split('+').includes(name));
        const answerTo = (): Answer | undefined => {
          if (kind === 'random') return random.chance(0.3) ? random.pick(['passed', 'none'] as const) : undefined;
          return kind === 'honest' ? undefined : kind;
        };
        settle(story, (tree) => failingOn(tree).length === 0, { failingOn, answerTo });
        for (const name of EIGHT)
          assert.equal(story.stateOf(name), bad.includes(name) ? 'FAILED' : 'MERGED', `${name} ${kind}`);
      }),
      bounds(60),
    );
  });

  it('replays from its events, and comes back from the store as it was [I3]', () => {
    fc.assert(
      fc.property(settings, history, (chosen, acts) => {
        const story = new Scenario(chosen);
        const first = createQueue('main', story.queue.settings, 'RUNNING');
        for (const each of acts) perform(story, each);
        const replayed = story.events.reduce((queue, event) => step(queue, event).queue, first);
        assert.deepEqual(plainQueue(replayed), plainQueue(story.queue));
        assert.deepEqual(plainQueue(stored(story.queue)), plainQueue(story.queue));
        assert.deepEqual(stored(story.queue).index, story.queue.index);
      }),
      bounds(40),
    );
  });

  it('is changed by nothing that is delivered again, at once or late [I4] [V24] [C11]', () => {
    fc.assert(
      fc.property(settings, history, (chosen, acts) => {
        const story = new Scenario(chosen);
        for (const each of acts) {
          perform(story, each);
          for (const event of story.events.filter((_, index) => isTaken(story, index)).slice(-6)) {
            const again = step(story.queue, { ...event, at: story.now });
            assert.deepEqual(...plainQueues(again.queue, story.queue), `${event.kind} again`);
            assert.deepEqual(again.effects, []);
          }
        }
      }),
      bounds(20),
    );
  });

  it('ends for every entry once CI answers [V5] [L2]', () => {
    fc.assert(
      fc.property(settings, history, fc.nat({ max: 7 }), (chosen, acts, bad) => {
        const story = new Scenario({ ...chosen, testingTimeoutMinutes: 0 });
        for (const each of acts) perform(story, each);
        settle(story, (tree) => !tree.includes(String.fromCharCode(65 + bad)));
      }),
      { ...bounds(60), examples: [RED_AT_RESUME] },
    );
  });
});

function assertProven(story: Scenario, landed: Landed): void {
  const run = story.endedCandidates.get(landed.candidate) ?? story.candidate(`#${landed.candidate}`);
  const waived = landed.waived?.map(({ check }) => check) ?? [];
  assert.deepEqual(
    run.pass?.waived?.map(({ check }) => check) ?? [],
    waived,
    'a waiver of another run is not passed on',
  );
  for (const name of run.required?.names ?? []) {
    const check = run.checks.find((other) => other.name === name);
    const isJudged = check?.judgement?.kind === 'judged' && check.judgement.isWaived && !check.judgement.isShadow;
    assert.ok(check?.conclusion === 'SUCCESS' || (isJudged && waived.includes(name)), `${name} of ${run.number}`);
  }
}

const REPEATED: readonly string[] = [
  'check_reported',
  'check_judged',
  'candidate_built',
  'candidate_landed',
  'candidate_conflicted',
  'candidate_unbuildable',
  'landing_refused',
];

/** Facts from outside that may arrive twice and were applied the first time. */
function isTaken(story: Scenario, index: number): boolean {
  const kind = story.events[index]?.kind ?? '';
  if (story.steps[index]?.outcome.kind !== 'applied') return false;
  return REPEATED.includes(kind);
}

describe('pausing', () => {
  it('anywhere changes only when things happen, not what happens, where CI judges by the tree alone [Q3] [L5] [V11]', () => {
    const bad = fc.uniqueArray(fc.constantFrom('A', 'B', 'C', 'D', 'E', 'F'), { maxLength: 2 });
    const pair = fc.option(fc.constantFrom(['A', 'B'], ['B', 'D'], ['C', 'F']));
    const pauses = fc.array(fc.boolean(), { minLength: 12, maxLength: 12 });
    const chosen = fc.record({
      concurrency: fc.integer({ min: 1, max: 4 }),
      mode: fc.constantFrom('SINGLE' as const, 'PARALLEL' as const),
    });
    fc.assert(
      fc.property(chosen, bad, pair, pauses, (settingsChosen, badOnes, badPair, isPaused) => {
        const isGreen = (tree: string) =>
          !badOnes.some((name) => tree.includes(name)) && !(badPair ?? ['?']).every((name) => tree.includes(name));
        const run = (pausing: readonly boolean[]) => {
          const story = new Scenario({ ...settingsChosen, testingTimeoutMinutes: 0 });
          for (const [index, name] of ['A', 'B', 'C', 'D', 'E', 'F'].entries()) {
            if (pausing[2 * index]) story.play('pause');
            story.play(`submit ${name}[x]`);
            if (pausing[2 * index + 1]) story.play('resume');
          }
          settle(story, isGreen);
          return outcomeOf(story);
        };
        assert.deepEqual(run(isPaused), run([]));
      }),
      bounds(40),
    );
  });
});

describe('lanes that share nothing', () => {
  it('do not notice each other [C1] [C2]', () => {
    const lane = fc.array(fc.constantFrom('pass', 'fail', 'cancel', 'restart', 'push'), { maxLength: 12 });
    const order = fc.array(fc.boolean(), { minLength: 24, maxLength: 24 });
    fc.assert(
      fc.property(lane, lane, order, (left, right, isLeftNext) => {
        const alone = playLanes({ left, right: [], isLeftNext: [] });
        const together = playLanes({ left, right, isLeftNext });
        for (const name of ['A', 'B', 'C']) {
          assert.equal(together.stateOf(name), alone.stateOf(name), name);
          assert.deepEqual(reasonsOf(together, name), reasonsOf(alone, name), name);
        }
      }),
      bounds(40),
    );
  });
});

interface Lanes {
  readonly left: readonly string[];
  readonly right: readonly string[];
  readonly isLeftNext: readonly boolean[];
}

function playLanes({ left, right, isLeftNext }: Lanes): Scenario {
  const story = new Scenario({ mode: 'PARALLEL', concurrency: 20 });
  story.play('submit A[x] B[x] C[x]');
  if (right.length > 0) story.play('submit D[y] E[y] F[y]');
  const queues = { left: [...left], right: [...right] };
  for (const isLeft of [...isLeftNext, ...left.map(() => true), ...right.map(() => false)]) {
    const verb = (isLeft ? queues.left : queues.right).shift();
    if (verb !== undefined) playInLane(story, verb, isLeft ? ['A', 'B', 'C'] : ['D', 'E', 'F']);
    clearHead(story);
  }
  return story;
}

function playInLane(story: Scenario, verb: string, names: readonly string[]): void {
  const isOurs = (label: string) => names.some((name) => label.includes(name));
  const open = story.candidates().find((c) => c.state === 'testing' && isOurs(story.label(c)));
  if (verb === 'pass' || verb === 'fail') {
    if (open !== undefined) story.reportCheck(open.number, { conclusion: verb === 'pass' ? 'SUCCESS' : 'FAILURE' });
    return;
  }
  const live = names.find((name) => ['PENDING', 'TESTING', 'TESTS_PASSED'].includes(story.stateOf(name) ?? ''));
  if (live !== undefined) story.play(`${verb} ${live}`);
}

/** Failures in several lanes make the head suspect, although it is green. */
function clearHead(story: Scenario): void {
  const head = story.candidates().find(({ purpose, state }) => purpose.kind === 'head' && state === 'testing');
  if (head !== undefined) story.reportCheck(head.number, { conclusion: 'SUCCESS' });
}

function reasonsOf(story: Scenario, name: string): string[] {
  const prNumber = name.charCodeAt(0) - 64;
  return story.transitions.filter((t) => t.prNumber === prNumber).map(({ because }) => because.reason);
}
