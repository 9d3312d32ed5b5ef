import { candidateIdOf } from '../../src/app/core/entry-id.ts';
import { decodeCandidate } from '../../src/app/core/queue-codec.ts';
import { voucherOf } from '../../src/engine/line/vouch.ts';
import { isKept } from '../../src/engine/model/candidate.ts';
import type { Check } from '../../src/engine/model/check.ts';
import { quarantineVerdictOf } from '../../src/engine/model/judgement.ts';
import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import { createQueue, type Entry } from '../../src/engine/model/queue.ts';
import { getIn, valuesOf } from '../../src/lib/int-map.ts';
import { Prng } from '../../src/lib/prng.ts';
import { createMemoryStore } from '../../src/storage/sqlite/create-memory-store.ts';
import type { Store } from '../../src/storage/store.ts';
import { ChangeMaker } from '../fake/change-maker.ts';
import { Courier } from '../fake/courier.ts';
import { type CiReport, FakeCi } from '../fake/fake-ci.ts';
import { FakeForge } from '../fake/fake-forge.ts';
import { type BranchMove, FakeRepository, type Hint } from '../fake/fake-repository.ts';
import { createBadMerging } from './bad-merging.ts';
import { Jury } from './blame.ts';
import type { Chapter } from './chronicle.ts';
import { BRANCH, Clients, REPO } from './clients.ts';
import { AREAS, CHECKS, type Conditions, drawConditions, type Stacks } from './conditions.ts';
import { withFakeResults } from './fake-results.ts';
import {
  type Evidence,
  findPausedLanding,
  findStuck,
  findUnrecorded,
  isLandingMove,
  MOVABLE,
  OF_CHAPTERS,
  OF_LANDINGS,
  staysGreen,
} from './invariants.ts';
import { findUnmoved } from './movers.ts';
import { OTHER_BRANCH, People } from './people.ts';
import { prepareStore, QUEUE_ID } from './prepare-store.ts';
import { runToItsEnd } from './run-to-its-end.ts';
import { Servers } from './servers.ts';
import { SimWorld } from './sim-world.ts';
import { isWaitingRightly, Stacker } from './stacks.ts';
import { Troubles } from './troubles.ts';
import { truthOf } from './truth.ts';
import { Witness } from './witness.ts';

export interface RunOptions {
  readonly seed: number;
  readonly stacks?: Stacks | undefined;
}

export interface RunReport {
  readonly seed: number;
  /** Present for a run on the fake GitHub. */
  readonly forge?: 'github';
  readonly failure: string | undefined;
  /** The latest events, oldest first, and the queue after them. Only for a failed run. */
  readonly lastEvents: readonly string[];
  readonly conditions: Conditions;
  readonly tasks: number;
  readonly events: number;
  /** The moves of the target branch with their times. The same for the same seed. */
  readonly trace: string;
  readonly coverage: Readonly<Record<string, number>>;
}

const SETTLE_MS = 90 * 60_000;
const TICK_MS = 3_000;
const LOOK_MS = 5_000;
/** Longer than an answer of the store takes. */
const TOLD_MS = 1_000;
const MAX_TASKS = 200_000;
/** The last nudge comes after every late message has arrived. */
const NUDGES = [1, 6, 30];

export function simulate({ seed, stacks }: RunOptions): Promise<RunReport> {
  return runToItsEnd(new Run(seed, createMemoryStore(), stacks));
}

/** One run of one seed: the world, its contents and its observers. */
class Run {
  readonly #world: SimWorld;
  readonly #conditions: Conditions;
  readonly #witness: Witness;
  readonly #bare: Store;
  readonly #store: Store;
  readonly #repository: FakeRepository;
  readonly #forge: FakeForge;
  readonly #ci: FakeCi;
  readonly #evidence: Evidence;
  readonly #jury: Jury;
  readonly #servers: Servers;
  readonly #people: People;
  readonly #troubles: Troubles;
  readonly #hints: Courier<Hint>;
  readonly #undecided = new Map<PrNumber, number>();
  /** Candidates whose refs were created after they had ended. */
  readonly #late = new Set<string>();
  #ticks = 0;

  constructor(seed: number, store: Store, stacks: Stacks | undefined) {
    const world = new SimWorld({ seed, maxTasks: MAX_TASKS });
    const conditions = { ...drawConditions(world.random.fork(), seed), ...(stacks && { stacks }) };
    this.#world = world;
    this.#conditions = conditions;
    this.#bare = store;
    this.#witness = new Witness({
      created: createQueue(BRANCH, conditions.settings, 'RUNNING'),
      now: () => world.now,
      onChapter: (chapter) => this.#judgeChapter(chapter),
    });
    const keepsAll = conditions.settings.landingMode === 'API';
    this.#repository = new FakeRepository(() => world.now, { keepsAll });
    const maker = this.#createMaker();
    this.#repository.commit(BRANCH, { files: maker.initialFiles });
    this.#repository.moveBranch(OTHER_BRANCH, this.#repository.getHead(BRANCH));
    this.#forge = this.#createForge();
    this.#store = this.#witness.watch(withFakeResults(store, { seed, now: () => world.now }));
    this.#servers = this.#createServers();
    const { coverage, noteBug: onBug, chronicle } = this.#witness;
    const clients = new Clients({ world, servers: this.#servers, random: world.random.fork(), coverage, onBug });
    this.#ci = this.#createCi(clients);
    this.#hints = this.#createCourier('hint', (hint: Hint) => clients.notify(hint));
    this.#evidence = {
      chronicle,
      repository: this.#repository,
      ci: this.#ci,
      landed: new Map(),
      strays: new Set(),
    };
    const isBlind = conditions.rates.ci.blind > 0;
    this.#jury = new Jury(chronicle, truthOf({ repository: this.#repository, ci: this.#ci, isBlind }));
    const stacker =
      stacks && new Stacker({ ...stacks, repository: this.#repository, random: new Prng(`stacks ${seed}`) });
    this.#people = new People({
      ...(stacker && { stacker }),
      world,
      conditions,
      repository: this.#repository,
      maker,
      ci: this.#ci,
      servers: this.#servers,
      clients,
      chronicle,
      coverage,
      random: world.random.fork(),
    });
    this.#troubles = new Troubles({
      world,
      conditions,
      random: new Prng(`troubles ${seed}`),
      people: this.#people,
      ci: this.#ci,
      forge: this.#forge,
    });
    this.#repository.watch((hint) => this.#hear(hint));
  }

  async go(): Promise<void> {
    await this.#prepare();
    const world = this.#world;
    const endAt = world.now + this.#conditions.busyMs;
    this.#people.begin();
    this.#troubles.begin();
    this.#poll();
    await world.runUntilTrue(() => this.#witness.failure !== undefined, endAt - this.#conditions.busyMs / 3);
    await this.#witness.chronicle.verify(this.#bare);
    await world.runUntilTrue(() => this.#witness.failure !== undefined, endAt);
    world.now = Math.max(world.now, endAt);
    world.calm();
    this.#troubles.calm();
    if (this.#witness.failure === undefined) await this.#settle();
    if (this.#witness.failure === undefined) await this.#audit();
  }

  close(): Promise<void> {
    return this.#bare.close();
  }

  noteBug(error: unknown): void {
    this.#witness.noteBug(error);
  }

  report(): RunReport {
    return {
      seed: this.#world.seed as number,
      conditions: this.#conditions,
      tasks: this.#world.tasks,
      trace: this.#repository.moves.map(({ at, to }) => `${at} ${to}`).join('\n'),
      ...this.#witness.report({ ...this.#world.faultCounts(), lives: this.#servers.lives }),
    };
  }

  #createMaker(): ChangeMaker {
    const weights = { own: 5, shared: 2, red: 1 };
    const { wideRate } = this.#conditions;
    return new ChangeMaker({ random: this.#world.random.fork(), areas: AREAS, checks: CHECKS, weights, wideRate });
  }

  #createForge(): FakeForge {
    const random = this.#world.random.fork();
    const isDirect = this.#conditions.settings.directMergeMode === 'ALWAYS';
    const happens = (what: string) => {
      const isDrawn = random.chance(this.#conditions.rates.refusal) && !this.#world.isCalm;
      if (isDrawn) this.#witness.coverage.note(`forge.${what}`);
      return isDrawn;
    };
    const detail = 'Simulated.';
    const forge = new FakeForge(this.#repository, {
      marksLanded: true,
      listsCommits: this.#conditions.stacks !== undefined,
      isUndecided: (number) => (this.#undecided.get(number) ?? 0) > this.#world.now,
      ...(isDirect ? { passedChecks: (head) => this.#ci.record.names('passed', head) } : {}),
      refuseBuild: ({ candidateId }) =>
        !this.#isLate(candidateId) && happens('refusesBuild')
          ? { kind: 'unbuildable', reason: 'START_TEST_RUN_RETRY_EXHAUSTED', detail }
          : undefined,
      refusePublish: ({ candidateId }) =>
        !this.#isLate(candidateId) && happens('refusesPublish')
          ? { kind: 'refused', reason: 'START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH', detail }
          : undefined,
      refuseLanding: ({ entries: [first] }) =>
        first !== undefined && happens('refusesLanding')
          ? { kind: 'refused', prNumber: first.prNumber, reason: 'GITHUB_API_MERGE_PR_FAILED', detail }
          : undefined,
      merging: createBadMerging({
        repository: this.#repository,
        random: new Prng(`merging ${this.#world.seed}`),
        world: this.#world,
        coverage: this.#witness.coverage,
      }),
    });
    forge.protection = this.#conditions.protection;
    return forge;
  }

  /** A request was executed after its candidate had been discarded, so nothing undoes it. */
  #isLate(candidateId: string): boolean {
    const isLate = this.#witness.chronicle.candidates.get(candidateId)?.endedAt !== undefined;
    if (isLate) this.#late.add(candidateId);
    return isLate;
  }

  #createServers(): Servers {
    return new Servers({
      world: this.#world,
      conditions: this.#conditions,
      store: this.#store,
      forge: this.#forge,
      random: this.#world.random.fork(),
      onLandingCalled: () =>
        this.#witness.fail(
          '6 a paused queue lands nothing',
          findPausedLanding(this.#witness.chronicle, this.#world.now),
        ),
      onCrash: () => this.#noteCrash(),
      onAlarm: (code) => this.#witness.coverage.note(`alarm.${code}`),
      onBug: (error) => this.noteBug(error),
    });
  }

  #createCi(clients: Clients): FakeCi {
    const world = this.#world;
    const reports = this.#createCourier('report', (report: CiReport) => clients.report(report));
    return new FakeCi({
      repository: this.#repository,
      timers: world.timers,
      random: world.random.fork(),
      weather: world,
      checks: CHECKS,
      durationMs: [1_000, 9_000],
      rates: this.#conditions.rates.ci,
      report: (report) => reports.send(report),
    });
  }

  #createCourier<Message>(name: string, deliver: (message: Message) => void): Courier<Message> {
    const { random, timers: clock } = this.#world;
    const rates = this.#conditions.rates.hints;
    const delays = { delayMs: [10, 1_000], lateMs: [5_000, 60_000] } as const;
    return new Courier<Message>({
      name,
      clock,
      random: random.fork(),
      weather: this.#world,
      rates,
      ...delays,
      deliver,
    });
  }

  #prepare(): Promise<void> {
    return prepareStore(this.#bare, { repo: REPO, queue: this.#witness.chronicle.queue, at: this.#world.now });
  }

  #hear(hint: Hint): void {
    const world = this.#world;
    if (hint.kind === 'pull_request_changed' && world.random.chance(0.2) && !world.isCalm) {
      this.#undecided.set(hint.prNumber, world.now + world.random.between(100, 6_000));
    }
    if (hint.kind === 'branch_moved' && hint.branch === BRANCH) this.#judgeMove();
    if (hint.kind === 'pull_request_changed' || hint.kind === 'branch_moved') this.#hints.send(hint);
  }

  /** Checks periodically that something can move each entry. */
  #poll(): void {
    const world = this.#world;
    world.schedule(LOOK_MS, () => {
      if (this.#witness.failure !== undefined) return;
      void world.track(async () => {
        const found = await this.#findUnmoved();
        // The store may already contain what no server has been told yet.
        if (found !== undefined) world.schedule(TOLD_MS, () => void world.track(() => this.#lookAgain(found)));
      });
      this.#poll();
    });
  }

  async #lookAgain(found: string): Promise<void> {
    if ((await this.#findUnmoved()) === found) this.#witness.fail(MOVABLE, found);
  }

  async #findUnmoved(): Promise<string | undefined> {
    const effects = await this.#bare.effects.list(QUEUE_ID);
    const now = this.#conditions.hasBadClocks ? undefined : this.#world.now;
    return findUnmoved(this.#witness.chronicle.queue, { now, effects });
  }

  #judgeMove(): void {
    const move = this.#repository.moves.at(-1) as BranchMove;
    const { landed, strays } = this.#evidence;
    this.#witness.chronicle.note(`-- ${BRANCH} ${short(move.from)} -> ${short(move.to)} by ${describeMover(move)}`);
    if (!isLandingMove(move)) {
      const { from, to } = move;
      const isRewound = from === undefined || to === undefined || !this.#repository.git.isAncestor(from, to);
      // Entries that a force-push removed from the target branch may land again.
      if (isRewound) landed.clear();
      return;
    }
    const { landing } = this.#witness.chronicle.queue;
    if (landing === undefined || candidateIdOf(QUEUE_ID, landing.candidate) !== move.by) strays.add(move);
    this.#witness.coverage.note(`landed.${move.landing.answer.how}`);
    for (const [name, find] of Object.entries(OF_LANDINGS)) this.#witness.fail(name, find(this.#evidence, move));
    const { isHonest, rates } = this.#conditions;
    if (isHonest && rates.ci.blind === 0)
      this.#witness.fail('1 the target stays green', staysGreen(this.#evidence, move, this.#conditions.protection));
  }

  #judgeChapter(chapter: Chapter): void {
    for (const [name, find] of Object.entries(OF_CHAPTERS)) this.#witness.fail(name, find(this.#evidence, chapter));
    for (const { invariant, text } of this.#jury.judge(chapter)) this.#witness.fail(invariant, text);
    this.#noteSights(chapter);
    const { landing, candidates } = chapter.step.queue;
    const isBegun = landing !== undefined && chapter.before.landing !== landing;
    const member = isBegun ? getIn(candidates, landing.candidate)?.members[0] : undefined;
    if (member !== undefined) this.#people.meddle(member.prNumber);
    if (landing?.isBegun === true && chapter.before.landing?.isBegun !== true) this.#troubles.hearOfLanding();
  }

  #noteSights({ before, step: { queue, transitions, endedCandidates, outcome } }: Chapter): void {
    const coverage = this.#witness.coverage;
    coverage.note(`outcome.${outcome.kind}`);
    for (const { because, to } of transitions) {
      coverage.note(`reason.${because.reason}`);
      coverage.note(`state.${to}`);
      if (because.reason === 'MERGE_GRAPH_DIRECT_MERGE') coverage.note('direct merge');
    }
    if (queue.bisectionsEver > before.bisectionsEver) coverage.note('bisection');
    if (queue.hold !== undefined && before.hold === undefined) coverage.note('red target');
    if (queue.frozen !== undefined && queue.landing === undefined && before.landing)
      coverage.note('landing in a freeze');
    if (queue.frozen === undefined && before.frozen !== undefined) coverage.note('thaw');
    if (queue.modeSwitch !== undefined && before.modeSwitch === undefined) coverage.note('mode switch');
    if (queue.entries !== before.entries) this.#noteEntries([...valuesOf(queue.entries)]);
    for (const { pass } of endedCandidates) {
      if (pass?.by === 'reused_run') coverage.note('reuse');
      if (pass?.by === 'nothing_required') coverage.note('nothing required');
      if (pass?.waived !== undefined) coverage.note('waived pass');
    }
    for (const { checks } of endedCandidates) this.#noteJudgements(checks);
    if ([...valuesOf(queue.candidates)].some(({ sameTreeAs }) => sameTreeAs !== undefined)) coverage.note('twin');
  }

  #noteJudgements(checks: readonly Check[]): void {
    for (const { judgement } of checks) {
      if (judgement !== undefined) this.#witness.coverage.note(`quarantine.${quarantineVerdictOf(judgement)}`);
    }
  }

  #noteEntries(entries: readonly Entry[]): void {
    const isVouched = (entry: Entry) => voucherOf(this.#witness.chronicle.queue, entry) !== undefined;
    if (entries.some(isVouched)) this.#witness.coverage.note('vouch');
    if (entries.some(({ place }) => place.kind === 'aside')) this.#witness.coverage.note('set aside');
  }

  #noteCrash(): void {
    const { landing } = this.#witness.chronicle.queue;
    if (landing === undefined) return;
    this.#witness.coverage.note('crash during a landing');
    const id = candidateIdOf(QUEUE_ID, landing.candidate);
    if (this.#repository.moves.some(({ by }) => by === id)) this.#witness.coverage.note('crash after the push');
  }

  /** The calm phase. With some help from an operator, everything comes to an end. */
  async #settle(): Promise<void> {
    const world = this.#world;
    const deadline = world.now + SETTLE_MS;
    this.#tick(deadline);
    while (this.#witness.failure === undefined && world.now < deadline) {
      await world.runUntilTrue(() => this.#witness.failure !== undefined || this.#isQuiet(), deadline);
      await world.runFor(2 * TICK_MS);
      if (this.#isQuiet() && (await this.#bare.effects.list(QUEUE_ID)).length === 0) return;
    }
    const [effect] = await this.#bare.effects.list(QUEUE_ID);
    this.#witness.fail(
      'liveness',
      this.#findStuck() ?? `the effect ${effect?.kind} is never done: ${effect?.lastError}`,
    );
  }

  #isQuiet(): boolean {
    const { candidates, landing } = this.#witness.chronicle.queue;
    return candidates.size === 0 && landing === undefined && this.#findStuck() === undefined;
  }

  #findStuck(): string | undefined {
    return findStuck(this.#evidence, (entry) => this.#isAdmissible(entry));
  }

  #isAdmissible(entry: Entry): boolean {
    const { prNumber, submission, targets } = entry;
    const { queue } = this.#witness.chronicle;
    const pr = this.#repository.findPullRequest(prNumber);
    const target = this.#repository.findHead(BRANCH);
    if (pr?.status !== 'open' || target === undefined) return true;
    if (pr.base !== BRANCH || isWaitingRightly(this.#repository, entry)) return false;
    const needsTargets = queue.settings.mode === 'PARALLEL' && submission > queue.submissionsBeforeParallel;
    if (needsTargets && targets === undefined) return true;
    // It is applied to those below it, where it conflicts with nothing until it is built.
    if (entry.pr.dependsOn !== undefined) return true;
    const head = this.#repository.getPullRequestHead(prNumber);
    return this.#repository.git.merge(target, head).kind === 'clean';
  }

  /** The regular acts of the operator on duty. */
  #tick(deadline: number): void {
    const { queue } = this.#witness.chronicle;
    const people = this.#people;
    if (queue.state === 'PAUSED' || queue.state === 'DRAINING') people.update({}, 'RUNNING');
    // The operator repairs a red target branch. Every other hold ends without help.
    if (queue.hold !== undefined) people.repairTarget();
    people.mendStacks();
    if (NUDGES.includes(this.#ticks)) this.#nudge();
    this.#ticks += 1;
    if (this.#world.now < deadline) this.#world.schedule(TICK_MS, () => this.#tick(deadline));
  }

  /** Repeats lost messages once. More repetitions would hide work that must happen by itself. */
  #nudge(): void {
    const { queue } = this.#witness.chronicle;
    for (const { prNumber, state, targets } of valuesOf(queue.entries)) {
      if (state === 'NOT_READY' && targets === undefined) this.#people.upload(prNumber);
      this.#hints.send({ kind: 'pull_request_changed', prNumber });
    }
    const open = new Set([...valuesOf(queue.candidates)].map(({ commit }) => commit?.sha));
    this.#ci.redeliver((sha) => open.has(sha));
  }

  /** People may still fetch the commit of a failed run. */
  async #isKept(ref: string): Promise<boolean> {
    const [, id] = /^refs\/sluice\/candidates\/(.*)$/.exec(ref) ?? [];
    const row = id === undefined ? undefined : await this.#bare.queueRecords.findCandidateById(id);
    return row !== undefined && isKept(decodeCandidate(row));
  }

  async #audit(): Promise<void> {
    await this.#witness.chronicle.verify(this.#bare);
    const { git } = this.#repository;
    const left = [...git.listRefs('refs/sluice/'), ...git.listRefs('refs/heads/sluice/')].map(([ref]) => ref);
    for (const ref of left.filter((name) => ![...this.#late].some((id) => name.includes(id)))) {
      if (!(await this.#isKept(ref))) this.#witness.fail('refs of ended candidates are gone', `${ref} is left`);
    }
    this.#witness.fail('2 every landing is recorded', findUnrecorded(this.#evidence));
    for (const { invariant, text } of this.#jury.judgeReturns()) this.#witness.fail(invariant, text);
    if (this.#servers.busiest < 2) this.#witness.fail('a run interleaves', 'no two calls were ever under way at once');
  }
}

function short(sha: string | undefined): string {
  return sha?.slice(0, 10) ?? 'nothing';
}

function describeMover({ landing }: BranchMove): string {
  if (landing === undefined) return 'somebody else';
  const { request, answer } = landing;
  const numbers = request.entries.map(({ prNumber }) => `#${prNumber}`).join(' ');
  return `us: ${numbers} ${answer.how} tested as ${short(request.sha)} on ${short(request.base)}`;
}
