import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { audit } from '../../../src/app/upkeep/audit.ts';
import { sweepRefs } from '../../../src/app/upkeep/sweep-refs.ts';
import { createQueue, type Entry } from '../../../src/engine/model/queue.ts';
import { pause, systemClock, type Timing } from '../../../src/lib/clock.ts';
import { Fault } from '../../../src/lib/fault.ts';
import { valuesOf } from '../../../src/lib/int-map.ts';
import type { Log } from '../../../src/lib/log.ts';
import { Prng } from '../../../src/lib/prng.ts';
import { createMemoryStore } from '../../../src/storage/sqlite/create-memory-store.ts';
import type { Store } from '../../../src/storage/store.ts';
import { ChangeMaker } from '../../fake/change-maker.ts';
import { createFakeGithub, type FakeGithub } from '../../fake/github/fake-github.ts';
import { findOut } from '../../fake/github/mergeability.ts';
import type { Repository } from '../../fake/github/model.ts';
import { branchHead } from '../../fake/github/refs.ts';
import type { Chapter } from '../chronicle.ts';
import { BRANCH } from '../clients.ts';
import { AREAS, CHECKS } from '../conditions.ts';
import { findStuck, OF_STORED } from '../invariants.ts';
import { prepareStore, QUEUE_ID } from '../prepare-store.ts';
import { runToItsEnd } from '../run-to-its-end.ts';
import type { RunOptions, RunReport } from '../simulate.ts';
import { Witness } from '../witness.ts';
import { GithubCi } from './ci.ts';
import { drawGithubConditions, type GithubConditions } from './conditions.ts';
import { type Evidence, IN_THE_END, readTarget } from './judge.ts';
import { Lives, SECRET } from './lives.ts';
import { FORK_OWNER, GithubPeople, OTHER_BRANCH, READER, REPO, WRITER } from './people.ts';
import { judgeRemovals } from './truth.ts';
import { spoilWeather } from './weather.ts';

/** A minute of the world passes in three seconds. */
const SPEED = 20;
/** In the time of the world. */
const SETTLE_MS = 75 * 60_000;
const TICK_MS = 3_000;
const NUDGES = [1, 10, 40];
const KEPT_LINES = 60;
/** A run on real git cannot be repeated exactly, so its report keeps more events. */
const KEPT_EVENTS = 1_000;

/** One run of one seed on a fake GitHub with real HTTP and real git. */
export async function simulateGithub({ seed }: RunOptions): Promise<RunReport> {
  return runToItsEnd(await GithubRun.create(seed, createMemoryStore()));
}

interface Parts {
  readonly seed: number;
  readonly bare: Store;
  readonly clock: Timing;
  readonly conditions: GithubConditions;
  readonly github: FakeGithub;
  readonly repository: Repository;
  readonly fork: Repository;
  readonly folder: string;
  readonly maker: ChangeMaker;
}

class GithubRun {
  readonly #parts: Parts;
  readonly #witness: Witness;
  readonly #lives: Lives;
  readonly #ci: GithubCi;
  readonly #people: GithubPeople;
  readonly #lines: string[] = [];
  readonly #said: string[] = [];
  readonly #crashRandom: Prng;
  readonly #removals: Chapter[] = [];
  #isCalm = false;

  private constructor(parts: Parts) {
    this.#parts = parts;
    const { seed, clock, conditions, github, repository, bare } = parts;
    this.#crashRandom = new Prng(`crashes ${seed}`);
    this.#witness = new Witness({
      created: createQueue(BRANCH, conditions.settings, 'RUNNING', { hasPages: true }),
      now: () => clock.now(),
      onChapter: (chapter) => this.#judgeChapter(chapter),
      keptEvents: KEPT_EVENTS,
    });
    const { coverage, noteBug: onBug, chronicle } = this.#witness;
    const store = this.#witness.watch(bare);
    this.#lives = new Lives({
      github,
      clock,
      store,
      servers: conditions.servers,
      folder: parts.folder,
      log: this.#createLog(),
      random: new Prng(`lives ${seed}`),
    });
    const testsHeads = conditions.isProtected || conditions.settings.directMergeMode === 'ALWAYS';
    const { rates, statuses, outage } = conditions;
    const shared = { github, repository, clock, seed, coverage, onBug };
    this.#ci = new GithubCi({ ...shared, rates: rates.ci, statuses, testsHeads, outage });
    this.#people = new GithubPeople({
      ...shared,
      conditions,
      fork: parts.fork,
      maker: parts.maker,
      lives: this.#lives,
      chronicle,
    });
  }

  static async create(seed: number, bare: Store): Promise<GithubRun> {
    const conditions = drawGithubConditions(seed);
    const clock = createFastClock(SPEED);
    const github = await createFakeGithub({ clock, mergeability: conditions.mergeability });
    const maker = new ChangeMaker({
      random: new Prng(`changes ${seed}`),
      areas: AREAS,
      checks: CHECKS,
      weights: { own: 5, shared: 2, red: 1 },
      wideRate: conditions.wideRate,
    });
    const roles = { [WRITER]: 'write', root: 'admin', [READER]: 'read' } as const;
    const repository = await github.createRepository('acme/app', { roles, files: maker.initialFiles });
    await github.moveBranch(repository, OTHER_BRANCH, branchHead(repository, BRANCH));
    const fork = await github.fork(repository, FORK_OWNER);
    github.install(github.app, 'acme');
    if (conditions.isProtected) {
      const checks = conditions.protection.map((context) => ({ context, appId: undefined }));
      github.protect(repository, BRANCH, { checks, bypassers: [github.app.slug] });
    }
    const folder = await mkdtemp(join(tmpdir(), 'sluice-simulated-'));
    return new GithubRun({ seed, bare, clock, conditions, github, repository, fork, folder, maker });
  }

  async go(): Promise<void> {
    const { github, conditions, seed, clock } = this.#parts;
    await this.#prepare();
    const url = await this.#lives.start();
    github.app.hook = { url, secret: SECRET, isActive: true };
    const clearUp = spoilWeather(github, conditions, { seed, clock, coverage: this.#witness.coverage });
    this.#planCrashes();
    this.#people.begin();
    await this.#until(conditions.busyMs, () => false);
    await this.#people.calm();
    this.#isCalm = true;
    clearUp();
    this.#ci.calm();
    await this.#lives.untilUp();
    if (this.#witness.failure === undefined) await this.#settle();
    if (this.#witness.failure === undefined) await this.#judge();
  }

  async close(): Promise<void> {
    const { github, folder, bare } = this.#parts;
    this.#isCalm = true;
    await this.#people.calm();
    await this.#lives.close();
    await github.close();
    await bare.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }

  noteBug(error: unknown): void {
    this.#witness.noteBug(error);
  }

  report(): RunReport {
    const { seed, github, conditions } = this.#parts;
    const { lastEvents, ...report } = this.#witness.report({ lives: this.#lives.count });
    return {
      seed,
      forge: 'github',
      conditions,
      tasks: github.world.requests.length,
      trace: '',
      ...report,
      lastEvents: report.failure === undefined ? [] : [...lastEvents, ...this.#said],
    };
  }

  #judgeChapter(chapter: Chapter): void {
    for (const [name, find] of Object.entries(OF_STORED))
      this.#witness.fail(name, find({ chronicle: this.#witness.chronicle }, chapter));
    if (chapter.step.ended.some(({ state }) => state === 'FAILED')) this.#removals.push(chapter);
    const { transitions, ended } = chapter.step;
    for (const { because, to } of transitions) {
      this.#witness.coverage.note(`reason.${because.reason}`);
      this.#witness.coverage.note(`state.${to}`);
    }
    for (const { landed } of ended) if (landed !== undefined) this.#witness.coverage.note(`landed.${landed.kind}`);
  }

  /** Keeps all log lines, to search them for secrets. */
  #createLog(): Log {
    const { clock } = this.#parts;
    const write = (level: string) => (facts: object, text: string) => {
      const err = 'err' in facts ? facts.err : undefined;
      const cause = err instanceof Error ? `${err.stack} ${String(err.cause ?? '')}` : '';
      const line = `${level} ${text} ${JSON.stringify(facts)} ${cause}`;
      this.#lines.push(line);
      if (level === 'warn' || level === 'error') {
        const detail = err instanceof Fault ? err.detail : '';
        this.#said.push(`${new Date(clock.now()).toISOString().slice(11, 23)} ${level} ${text} ${detail}`);
        if (this.#said.length > KEPT_LINES) this.#said.shift();
        if (err !== undefined && !(err instanceof Fault)) this.noteBug(err);
      }
      if ('alarm' in facts) this.#witness.coverage.note(`alarm.${String(facts.alarm)}`);
    };
    return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  }

  #prepare(): Promise<void> {
    const { bare, clock } = this.#parts;
    return prepareStore(bare, { repo: REPO, queue: this.#witness.chronicle.queue, at: clock.now() });
  }

  /** Crashes at random times, and right after a server moved the target branch. */
  #planCrashes(): void {
    const { conditions, clock, github, repository } = this.#parts;
    for (const { at } of conditions.crashes) clock.after(at, () => this.#crash('at any time'));
    github.world.onHappening((happening) => {
      if (happening.event !== 'push' || happening.repository !== repository) return;
      if (happening.ref !== `refs/heads/${BRANCH}` || happening.sender !== github.app.bot) return;
      if (this.#crashRandom.chance(0.08 * conditions.strength)) this.#crash('after the push');
    });
  }

  #crash(when: string): void {
    if (this.#isCalm || !this.#lives.crash(this.#crashRandom)) return;
    this.#witness.coverage.note(`crash ${when}`);
    this.#witness.chronicle.note(`-- a server crashes ${when}`);
  }

  async #until(withinMs: number, isSo: () => boolean | Promise<boolean>): Promise<boolean> {
    const { clock } = this.#parts;
    const deadline = clock.now() + withinMs;
    while (clock.now() < deadline) {
      if (this.#witness.failure !== undefined || (await isSo())) return true;
      await pause(clock, TICK_MS);
    }
    return false;
  }

  /** The calm phase. With some help from an operator, everything comes to an end. */
  async #settle(): Promise<void> {
    const { github } = this.#parts;
    let ticks = 0;
    let quiet = 0;
    const isSettled = async () => {
      await this.#tick(ticks);
      ticks += 1;
      const isQuiet = (await this.#findUnsettled()) === undefined;
      quiet = isQuiet ? quiet + 1 : 0;
      return quiet > 2;
    };
    if (await this.#until(SETTLE_MS, isSettled)) {
      await github.webhooks.settle();
      return;
    }
    this.#witness.fail('liveness', (await this.#findUnsettled()) ?? 'it does not come to rest');
  }

  async #findUnsettled(): Promise<string | undefined> {
    const { bare, clock } = this.#parts;
    const admissible = new Set<number>();
    for (const entry of valuesOf(this.#witness.chronicle.queue.entries)) {
      if (await this.#isAdmissible(entry)) admissible.add(entry.prNumber);
    }
    const stuck = findStuck({ chronicle: this.#witness.chronicle }, ({ prNumber }) => admissible.has(prNumber));
    if (stuck !== undefined) return stuck;
    const [effect] = await bare.effects.list(QUEUE_ID);
    if (effect !== undefined) return `the effect ${effect.kind} is never done: ${effect.lastError}`;
    const overdue = await bare.hints.countOverdue(clock.now());
    return overdue === 0 ? undefined : `${overdue} hints are never looked at`;
  }

  async #isAdmissible({ prNumber, submission, targets }: Entry): Promise<boolean> {
    const { repository, github, conditions } = this.#parts;
    const { queue } = this.#witness.chronicle;
    const pr = repository.pulls.get(prNumber);
    const base = branchHead(repository, BRANCH);
    if (pr?.state !== 'open' || base === undefined) return true;
    if (pr.baseRef !== BRANCH || pr.isDraft) return false;
    const needsTargets = queue.settings.mode === 'PARALLEL' && submission > queue.submissionsBeforeParallel;
    if (needsTargets && targets === undefined) return true;
    if (
      conditions.isProtected &&
      conditions.protection.some((name) => !this.#ci.record.names('passed', pr.headSha).includes(name))
    )
      return false;
    return (await findOut(github.world, pr, base)).kind === 'clean';
  }

  /** The regular acts of the operator on duty. */
  async #tick(count: number): Promise<void> {
    const { queue } = this.#witness.chronicle;
    const people = this.#people;
    if (queue.state === 'PAUSED' || queue.state === 'DRAINING') people.update({}, 'RUNNING');
    // The operator repairs a red target branch. If nothing is required, the operator sets a required check.
    if (queue.hold?.cause.kind === 'checks') await people.repairTarget();
    else if (queue.hold !== undefined && !this.#parts.conditions.isProtected)
      people.update({ requiredStatuses: ['unit'] }, undefined);
    if (!NUDGES.includes(count)) return;
    for (const { prNumber, state, targets } of valuesOf(queue.entries))
      if (state === 'NOT_READY' && targets === undefined) people.upload(prNumber);
  }

  async #judge(): Promise<void> {
    const { bare, github, repository, conditions } = this.#parts;
    await this.#witness.chronicle.verify(bare);
    const app = this.#lives.pick();
    if (app === undefined) return this.#witness.fail('a server is up', 'none is');
    await sweepRefs(app);
    await audit(app);
    await github.settle();
    const evidence: Evidence = {
      github,
      repository,
      chronicle: this.#witness.chronicle,
      ci: this.#ci,
      conditions,
      foreignMoves: this.#people.foreignMoves,
      alarms: await bare.alarms.list([QUEUE_ID], 0, 100),
      line: await readTarget(repository),
    };
    for (const [name, find] of Object.entries(IN_THE_END)) this.#witness.fail(name, await find(evidence));
    const { gitDir } = repository;
    const removals = { chronicle: this.#witness.chronicle, ci: this.#ci, gitDir, chapters: this.#removals };
    for (const { invariant, text } of await judgeRemovals(removals)) this.#witness.fail(invariant, text);
    this.#witness.fail('no secret is written down', this.#findSecret());
  }

  #findSecret(): string | undefined {
    const { github } = this.#parts;
    const [, keyLine = ''] = github.privateKey.split('\n');
    const tokens = [...github.world.tokens.keys()];
    const basic = tokens.map((token) => Buffer.from(`x-access-token:${token}`).toString('base64'));
    const secrets = [SECRET, keyLine, ...tokens, ...basic];
    return this.#lines.find((line) => secrets.some((secret) => line.includes(secret)));
  }
}

/** Real time multiplied by `speed`. */
function createFastClock(speed: number): Timing {
  const startedAt = systemClock.now();
  const from = performance.now();
  return {
    now: () => Math.floor(startedAt + (performance.now() - from) * speed),
    after: (ms, act) => systemClock.after(ms / speed, act),
  };
}
