import { cancelPullRequest, restartTestsOnPullRequest } from '../../src/app/queue/pull-request-acts.ts';
import { updateQueue } from '../../src/app/queue/queues.ts';
import { setImpactedTargets } from '../../src/app/queue/set-impacted-targets.ts';
import { submitPullRequest } from '../../src/app/queue/submit-pull-request.ts';
import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import { findEntry, type RequestableQueueState } from '../../src/engine/model/queue.ts';
import type { QueueSettings } from '../../src/engine/model/settings.ts';
import { valuesOf } from '../../src/lib/int-map.ts';
import type { Prng } from '../../src/lib/prng.ts';
import type { Sha } from '../../src/lib/sha.ts';
import type { ChangeMaker, MadeChange, Trait } from '../fake/change-maker.ts';
import type { FakeCi } from '../fake/fake-ci.ts';
import type { FakeRepository } from '../fake/fake-repository.ts';
import type { Chronicle } from './chronicle.ts';
import { ADA, BRANCH, type Clients, QUEUE } from './clients.ts';
import { AREAS, type Conditions, drawSettingsChange, listByWeight } from './conditions.ts';
import type { Coverage } from './coverage.ts';
import type { Servers } from './servers.ts';
import type { SimWorld } from './sim-world.ts';
import type { Stacker } from './stacks.ts';

export interface PeopleOptions {
  readonly world: SimWorld;
  readonly conditions: Conditions;
  readonly repository: FakeRepository;
  readonly maker: ChangeMaker;
  readonly ci: FakeCi;
  readonly servers: Servers;
  readonly clients: Clients;
  readonly chronicle: Chronicle;
  readonly coverage: Coverage;
  readonly random: Prng;
  /** Absent: nobody stacks. */
  readonly stacker?: Stacker;
}

export const OTHER_BRANCH = 'release';

/** People who open pull requests, change their minds and disturb the queue. */
export class People {
  readonly #options: PeopleOptions;
  readonly #random: Prng;
  /** The true impact of each pull request. */
  readonly #areas = new Map<PrNumber, Set<string>>();
  #isRetargeting = false;

  constructor(options: PeopleOptions) {
    this.#options = options;
    this.#random = options.random;
  }

  /** Plans all acts in advance. */
  begin(): void {
    const { world, conditions } = this.#options;
    const { busyMs, pullRequests, acts, hasBadClocks } = conditions;
    const within = (share: number) => this.#random.between(0, Math.round(busyMs * share));
    for (let index = 0; index < pullRequests; index += 1) world.schedule(within(0.6), () => this.#open());
    for (let index = 0; index < acts; index += 1) world.schedule(within(0.95), () => this.#act());
    if (hasBadClocks) for (let jump = 0; jump < 4; jump += 1) world.schedule(within(0.9), () => this.#jumpClock());
  }

  /** Changes a pull request just before it lands. */
  meddle(number: PrNumber): void {
    const { world, clients } = this.#options;
    if (this.#isRetargeting && !world.isCalm) {
      const input = { ...QUEUE, prNumber: number, sha: undefined, impactedTargets: 'ALL' as const };
      world.schedule(this.#random.between(0, 400), () => clients.ask((app) => setImpactedTargets(app, ADA, input)));
    }
    if (world.isCalm || !this.#random.chance(MEDDLING_RATE)) return;
    world.schedule(this.#random.between(0, 400), () => this.#do(this.#random.pick(MEDDLINGS), number));
  }

  upload(number: PrNumber): void {
    const sha = this.#options.repository.findPullRequestHead(number);
    if (sha === undefined) return;
    const given = this.#random.chance(0.3) ? undefined : sha;
    const impactedTargets = this.#targetsOf(number);
    const input = { ...QUEUE, prNumber: number, sha: given, impactedTargets };
    this.#options.clients.ask((app) => setImpactedTargets(app, ADA, input));
  }

  update(settings: Partial<QueueSettings>, state: RequestableQueueState | undefined): void {
    const input = { ...QUEUE, settings, state, keepsUnnamedSettings: this.#random.chance(0.5) };
    this.#options.clients.ask((app) => updateQueue(app, ADA, input));
  }

  restartTests(number: PrNumber): void {
    this.#options.clients.ask((app) => restartTestsOnPullRequest(app, ADA, { ...QUEUE, prNumber: number }));
  }

  /** Removes everything from the target branch that makes it red by itself. */
  repairTarget(): boolean {
    const { repository } = this.#options;
    const head = repository.findHead(BRANCH);
    if (head === undefined) return false;
    const files = repository.git.getFiles(head);
    const bad = [...files].filter(([path, content]) => path.endsWith('.right') || content.startsWith('red: '));
    if (bad.length === 0) return false;
    const gone = Object.fromEntries(bad.map(([path]) => [path, undefined]));
    repository.commit(BRANCH, { files: gone, message: 'Repair' });
    return true;
  }

  /** In the calm phase, authors rebase what contains rewritten commits, and submit what others wait for. */
  mendStacks(): void {
    const { repository, stacker, chronicle } = this.#options;
    if (stacker === undefined || repository.findHead(BRANCH) === undefined) return;
    for (const { prNumber, pr } of valuesOf(chronicle.queue.entries)) {
      for (const { number } of pr.below ?? []) {
        if (findEntry(chronicle.queue, number) !== undefined || !stacker.mayTryAgain(number)) continue;
        this.upload(number);
        this.#submit(number);
      }
      if (!pr.blockReasons.includes('stackNeedsRebase') || !repository.isOpen(prNumber)) continue;
      const made = this.#make(stacker.findGround(prNumber) ?? repository.getHead(BRANCH), 'own');
      const change = stacker.state(prNumber, made);
      this.note(`the author rebases #${prNumber}`);
      this.#test(repository.push(prNumber, change, { isForced: true, on: stacker.findGround(prNumber) }));
      this.#note(prNumber, change);
      this.upload(prNumber);
      this.#submit(prNumber);
    }
  }

  /** Adds a line to the report. */
  note(text: string): void {
    this.#options.chronicle.note(`-- ${text}`);
  }

  openSome(trait: Trait): void {
    this.#open(trait);
  }

  /** An entry in the queue, or formerly in it, becomes urgent. */
  hurry(): void {
    const number = this.#pick();
    if (number !== undefined) this.makeUrgent(number);
  }

  /** From now on every landing entry gets targets that impact everything, during its landing. */
  retargetWhileLanding(): void {
    this.#isRetargeting = true;
  }

  restartSome(): void {
    const number = this.#pick();
    if (number !== undefined) this.restartTests(number);
  }

  #pick(): PrNumber | undefined {
    const { repository, chronicle } = this.#options;
    const live = [...valuesOf(chronicle.queue.entries)].map(({ prNumber }) => prNumber);
    return this.#random.chance(0.8)
      ? this.#random.pick(live)
      : this.#random.pick(repository.listPullRequests())?.number;
  }

  #open(trait?: Trait): void {
    const { repository, world, conditions } = this.#options;
    if (repository.findHead(BRANCH) === undefined) return;
    const { stacker } = this.#options;
    const below = trait === undefined ? stacker?.pickBelow() : undefined;
    const on = below === undefined ? undefined : repository.getPullRequestHead(below);
    const made = this.#make(on ?? repository.getHead(BRANCH), trait);
    const change = below === undefined ? made : (stacker as Stacker).put(made, below);
    const isDraft = this.#random.chance(0.05);
    const { number, headSha } = repository.openPullRequest({ base: BRANCH, isDraft, on, ...change });
    this.#note(number, change);
    stacker?.note(number, change, below);
    this.#test(headSha);
    if (this.#random.chance(conditions.settings.mode === 'PARALLEL' ? 0.9 : 0.4)) {
      world.schedule(this.#random.between(0, 3_000), () => this.upload(number));
    }
    // A candidate for a direct merge is submitted when the checks on its head have reported.
    const waitMs = this.#isDirect ? this.#random.between(0, 15_000) : this.#random.between(0, 2_000);
    world.schedule(waitMs, () => this.#submit(number));
  }

  get #isDirect(): boolean {
    return this.#options.conditions.settings.directMergeMode === 'ALWAYS';
  }

  #submit(number: PrNumber, priority?: string | number): void {
    const drawn = priority ?? this.#random.pick([undefined, undefined, undefined, 'high', 'low', 42]);
    const noBatch = this.#random.pick([undefined, undefined, undefined, true, false]);
    const input = { ...QUEUE, prNumber: number, priority: drawn, noBatch };
    this.#options.clients.ask((app) => submitPullRequest(app, ADA, input));
  }

  #make(base: Sha, trait?: Trait): MadeChange {
    const { maker, repository } = this.#options;
    return maker.make(repository.git.getFiles(base), trait);
  }

  #note(number: PrNumber, { areas }: MadeChange): void {
    this.#areas.set(number, new Set([...(this.#areas.get(number) ?? []), ...areas]));
  }

  #test(sha: Sha): void {
    if (this.#isDirect) this.#options.ci.test(sha);
  }

  #targetsOf(number: PrNumber): readonly string[] | 'ALL' {
    if (this.#random.chance(0.05)) return 'ALL';
    if (this.#options.conditions.isHonest) return [...(this.#areas.get(number) ?? [])];
    return this.#random.shuffle(AREAS).slice(0, this.#random.integer(3));
  }

  #jumpClock(): void {
    this.#options.servers.jumpClock();
  }

  #act(): void {
    const { repository } = this.#options;
    const act = this.#random.pick(ACTS_BY_WEIGHT);
    const known = repository.listPullRequests();
    const live = [...valuesOf(this.#options.chronicle.queue.entries)].map(({ prNumber }) => prNumber);
    // Mostly a pull request in the queue, where an act does the most harm.
    const number = this.#random.chance(0.8) ? this.#random.pick(live) : this.#random.pick(known)?.number;
    if (act !== undefined && number !== undefined) this.#do(act, number);
  }

  #do(act: Act, number: PrNumber): void {
    const { repository, coverage, chronicle } = this.#options;
    if (repository.findPullRequest(number) === undefined || repository.findHead(BRANCH) === undefined) return;
    coverage.note(`act.${act}`);
    chronicle.note(`-- somebody: ${act} #${number}`);
    this[act](number);
  }

  push(number: PrNumber): void {
    const { repository, world } = this.#options;
    if (!repository.isOpen(number)) return;
    const isForced = this.#random.chance(0.3);
    const on = this.#options.stacker?.findGround(number);
    const start = isForced ? (on ?? repository.getHead(BRANCH)) : repository.getPullRequestHead(number);
    const made = this.#make(start);
    const change = this.#options.stacker?.state(number, made) ?? made;
    const sha = repository.push(number, change, { isForced, isUntrusted: this.#random.chance(0.2), on });
    this.#note(number, change);
    this.#test(sha);
    if (this.#random.chance(0.7)) world.schedule(this.#random.between(0, 6_000), () => this.upload(number));
    if (this.#random.chance(0.7)) world.schedule(this.#random.between(0, 6_000), () => this.#submit(number));
  }

  catchUp(number: PrNumber): void {
    const { repository, world } = this.#options;
    const message = this.#options.stacker?.messageOf(number);
    const sha = repository.isOpen(number) ? repository.updatePullRequest(number, message) : undefined;
    if (sha === undefined) return;
    this.#test(sha);
    this.upload(number);
    world.schedule(this.#random.between(0, 12_000), () => this.#submit(number));
  }

  /** Undoes an act on a pull request and submits it again. */
  #later(number: PrNumber, undo: () => void): void {
    const { repository, world } = this.#options;
    world.schedule(this.#random.between(100, 10_000), () => {
      if (repository.findPullRequest(number) === undefined) return;
      undo();
      this.#submit(number);
    });
  }

  close(number: PrNumber): void {
    const { repository } = this.#options;
    repository.close(number);
    if (this.#random.chance(0.6)) {
      this.#later(number, () => repository.reopen(number));
    }
  }

  draft(number: PrNumber): void {
    const { repository } = this.#options;
    repository.setDraft(number, true);
    this.#later(number, () => repository.setDraft(number, false));
  }

  retarget(number: PrNumber): void {
    const { repository } = this.#options;
    repository.retarget(number, OTHER_BRANCH);
    if (this.#random.chance(0.7)) {
      this.#later(number, () => repository.retarget(number, BRANCH));
    }
  }

  remove(number: PrNumber): void {
    this.#options.repository.deletePullRequest(number);
  }

  mergeByHand(number: PrNumber): void {
    this.#options.repository.mergeByHand(number, this.#random.pick(['MERGE_COMMIT', 'SQUASH'] as const));
  }

  pushToTarget(): void {
    const { repository } = this.#options;
    repository.commit(
      BRANCH,
      this.#make(repository.getHead(BRANCH), this.#random.pick(['own', 'shared', 'clash'] as const)),
    );
  }

  /** Makes the target branch red for a while. */
  breakTarget(forMs: PrNumber | readonly [min: number, max: number]): void {
    const { repository, world } = this.#options;
    if (repository.findHead(BRANCH) === undefined) return;
    repository.commit(BRANCH, this.#make(repository.getHead(BRANCH), 'red'));
    const [min, max] = typeof forMs === 'number' ? [20_000, 60_000] : forMs;
    world.schedule(this.#random.between(min, max), () => {
      this.repairTarget();
    });
  }

  /** Removes the last commit from the target branch. */
  rewindTarget(): void {
    const { repository } = this.#options;
    const [parent] = repository.git.getCommit(repository.getHead(BRANCH)).parents;
    if (parent !== undefined) repository.moveBranch(BRANCH, parent);
  }

  removeTarget(): void {
    const { repository, world } = this.#options;
    const head = repository.getHead(BRANCH);
    repository.moveBranch(BRANCH, undefined);
    world.schedule(this.#random.between(500, 6_000), () => repository.moveBranch(BRANCH, head));
  }

  collectGarbage(): void {
    this.#options.repository.git.collectGarbage();
  }

  cancel(number: PrNumber): void {
    const { clients, world } = this.#options;
    clients.ask((app) => cancelPullRequest(app, ADA, { ...QUEUE, prNumber: number }));
    if (this.#random.chance(0.5)) world.schedule(this.#random.between(0, 5_000), () => this.#submit(number));
  }

  makeUrgent(number: PrNumber): void {
    this.#submit(number, 'urgent');
  }

  pauseFor([min, max]: readonly [number, number]): void {
    this.update({}, 'PAUSED');
    this.#options.world.schedule(this.#random.between(min, max), () => this.update({}, 'RUNNING'));
  }

  halt(): void {
    const { world } = this.#options;
    this.update({}, this.#random.pick(['PAUSED', 'PAUSED', 'DRAINING'] as const));
    world.schedule(this.#random.between(1_000, 15_000), () => this.update({}, 'RUNNING'));
  }

  changeSettings(): void {
    this.update(drawSettingsChange(this.#random, this.#options.world.seed as number), undefined);
  }

  changeRequired(): void {
    this.update({ requiredStatuses: this.#random.pick([['unit'], ['unit', 'lint'], ['lint'], null]) }, undefined);
  }

  changeMode(): void {
    this.update({ mode: this.#random.pick(['SINGLE', 'PARALLEL'] as const) }, undefined);
  }
}

const WEIGHTS = {
  push: 4,
  catchUp: 3,
  close: 2,
  draft: 1,
  retarget: 1,
  remove: 1,
  mergeByHand: 2,
  pushToTarget: 2,
  breakTarget: 1,
  rewindTarget: 1,
  removeTarget: 1,
  collectGarbage: 2,
  cancel: 3,
  restartTests: 3,
  makeUrgent: 4,
  upload: 4,
  halt: 3,
  changeSettings: 3,
  changeRequired: 2,
  changeMode: 2,
} as const;

type Act = keyof typeof WEIGHTS;

const ACTS_BY_WEIGHT = listByWeight(WEIGHTS);

const MEDDLING_RATE = 0.12;
const MEDDLINGS = ['upload', 'upload', 'cancel', 'push', 'close', 'halt', 'pushToTarget', 'rewindTarget'] as const;
