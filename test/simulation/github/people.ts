import type { App } from '../../../src/app/core/app.ts';
import { isRefusal } from '../../../src/app/core/refusal.ts';
import { cancelPullRequest, restartTestsOnPullRequest } from '../../../src/app/queue/pull-request-acts.ts';
import { updateQueue } from '../../../src/app/queue/queues.ts';
import { setImpactedTargets } from '../../../src/app/queue/set-impacted-targets.ts';
import { submitPullRequest } from '../../../src/app/queue/submit-pull-request.ts';
import type { PrNumber } from '../../../src/engine/model/pull-request.ts';
import type { RequestableQueueState } from '../../../src/engine/model/queue.ts';
import type { QueueSettings } from '../../../src/engine/model/settings.ts';
import type { Timing } from '../../../src/lib/clock.ts';
import { Fault } from '../../../src/lib/fault.ts';
import { valuesOf } from '../../../src/lib/int-map.ts';
import { Prng } from '../../../src/lib/prng.ts';
import type { Sha } from '../../../src/lib/sha.ts';
import type { ChangeMaker, MadeChange, Trait } from '../../fake/change-maker.ts';
import type { FakeGithub } from '../../fake/github/fake-github.ts';
import type { Files } from '../../fake/github/make-commit.ts';
import type { PullRequest, Repository } from '../../fake/github/model.ts';
import { branchHead } from '../../fake/github/refs.ts';
import { Refused } from '../../fake/github/refused.ts';
import type { Chronicle } from '../chronicle.ts';
import { ADA, BRANCH } from '../clients.ts';
import { AREAS, drawSettingsChange, listByWeight } from '../conditions.ts';
import type { Coverage } from '../coverage.ts';
import { type GithubConditions, type Planned, planOf } from './conditions.ts';
import { HOST, type Lives } from './lives.ts';
import { readFiles } from './real-git.ts';

export const WRITER = 'grace';
export const READER = 'eve';
export const FORK_OWNER = 'mallory';
export const OTHER_BRANCH = 'release';
export const REPO = { host: HOST, owner: 'acme', name: 'app' } as const;
const QUEUE = { repo: REPO, targetBranch: BRANCH } as const;

const TRIES = 4;
const TITLES = [
  '**Bold** <b>x</b>',
  '@everyone look',
  '`/sluice merge` ![](http://x.test/y)',
  '#1 fixes #2',
  '日本 🎉',
];

export interface PeopleOptions {
  readonly github: FakeGithub;
  readonly repository: Repository;
  readonly fork: Repository;
  readonly clock: Timing;
  readonly seed: number;
  readonly conditions: GithubConditions;
  readonly maker: ChangeMaker;
  readonly lives: Lives;
  readonly chronicle: Chronicle;
  readonly coverage: Coverage;
  readonly onBug: (error: unknown) => void;
}

/** People who open pull requests, change their minds and disturb the queue, at GitHub and over the API. */
export class GithubPeople {
  /** How often the target branch was moved outside the queue. */
  foreignMoves = 0;
  /** Titles of what they changed; messages of commits must not say it twice. */
  readonly #options: PeopleOptions;
  readonly #areas = new Map<number, Set<string>>();
  readonly #random: Prng;
  readonly #goingOn = new Set<Promise<unknown>>();
  #isCalm = false;

  constructor(options: PeopleOptions) {
    this.#options = options;
    this.#random = new Prng(`people ${options.seed}`);
  }

  /** Plans all acts in advance. The same seed gives the same plan, whatever happens. */
  begin(): void {
    const { busyMs, pullRequests, acts } = this.#options.conditions;
    const opens = planOf(this.#random, pullRequests, busyMs * 0.5);
    for (const planned of opens) this.#at(planned, (random) => this.#open(random));
    for (const planned of planOf(this.#random, acts, busyMs * 0.95)) {
      const act = this.#random.pick(ACTS_BY_WEIGHT) ?? 'push';
      this.#at(planned, (random) => this.#act(act, random));
    }
  }

  /** Starts no further act. Resolves when the running ones have ended. */
  async calm(): Promise<void> {
    this.#isCalm = true;
    while (this.#goingOn.size > 0) await Promise.all(this.#goingOn);
  }

  upload(number: number, random = this.#random): void {
    const pr = this.#options.repository.pulls.get(number);
    if (pr === undefined) return;
    const sha = random.chance(0.3) ? undefined : (pr.headSha as Sha);
    const input = { ...QUEUE, prNumber: number as PrNumber, sha, impactedTargets: this.#targetsOf(number, random) };
    this.#ask((app) => setImpactedTargets(app, ADA, input));
  }

  update(settings: Partial<QueueSettings>, state: RequestableQueueState | undefined): void {
    const input = { ...QUEUE, settings, state, keepsUnnamedSettings: this.#random.chance(0.5) };
    this.#ask((app) => updateQueue(app, ADA, input));
  }

  restart(number: number): void {
    this.#ask((app) => restartTestsOnPullRequest(app, ADA, { ...QUEUE, prNumber: number as PrNumber }));
  }

  /** Removes everything from the target branch that makes it red by itself. Returns whether there was anything. */
  async repairTarget(): Promise<boolean> {
    const { github, repository } = this.#options;
    const files = await this.#filesAt(branchHead(repository, BRANCH));
    const bad = [...files].filter(([path, content]) => path.endsWith('.right') || content.startsWith('red: '));
    if (bad.length === 0) return false;
    this.foreignMoves += 1;
    const gone = Object.fromEntries(bad.map(([path]) => [path, null]));
    await github.commit(repository, { branch: BRANCH, files: gone, message: 'Repair', author: 'root' });
    return true;
  }

  /** Runs the act at its time, unless the calm phase has begun. */
  #at({ at, salt }: Planned, act: (random: Prng) => Promise<void> | void): void {
    this.#options.clock.after(at, () => {
      if (!this.#isCalm) this.#go(async () => act(new Prng(`act ${this.#options.seed} ${salt}`)));
    });
  }

  #later(random: Prng, [from, to]: readonly [number, number], act: () => Promise<void> | void): void {
    const salt = `${random.next()}`;
    this.#at({ at: random.between(from, to), salt }, act);
  }

  /** An act that GitHub refuses is dropped. */
  #go(act: () => Promise<void>): void {
    const going = act()
      .catch((error: unknown) => {
        if (!(error instanceof Refused)) this.#options.onBug(error);
      })
      .finally(() => this.#goingOn.delete(going));
    this.#goingOn.add(going);
  }

  #ask(call: (app: App) => Promise<unknown>, tries = TRIES): void {
    const { lives, clock, coverage, onBug } = this.#options;
    const again = () => {
      if (tries > 1) clock.after(this.#random.between(500, 2_500), () => this.#ask(call, tries - 1));
    };
    const app = lives.pick(this.#random);
    if (app === undefined) return again();
    // A server that crashes meanwhile never answers.
    call(app).then(
      (answer) => {
        if (isRefusal(answer)) coverage.note(`refusal.${answer.code}`);
      },
      (error: unknown) => {
        if (!(error instanceof Fault)) onBug(error);
        again();
      },
    );
  }

  async #open(random: Prng): Promise<void> {
    const { github, repository, fork, conditions } = this.#options;
    const change = await this.#make(branchHead(repository, BRANCH));
    const isForked = random.chance(0.15);
    const pr = await github.openPullRequest(repository, {
      ...(isForked ? { from: fork, author: FORK_OWNER } : { author: WRITER }),
      branch: `change-${random.integer(1_000_000)}`,
      files: filesOf(change),
      title: random.chance(0.2) ? `${random.pick(TITLES)} ${change.message}` : (change.message ?? 'A change'),
      isDraft: random.chance(0.05),
    });
    this.#note(pr.number, change);
    if (random.chance(conditions.settings.mode === 'PARALLEL' ? 0.9 : 0.4))
      this.#later(random, [0, 3_000], () => this.upload(pr.number, random));
    const hasToWait = conditions.settings.directMergeMode === 'ALWAYS' || conditions.isProtected;
    this.#later(random, hasToWait ? [0, 20_000] : [0, 4_000], () => this.#submit(pr, random));
  }

  #submit(pr: PullRequest, random: Prng, urgency?: 'urgent'): void {
    const { github, coverage } = this.#options;
    const priority = urgency ?? random.pick([undefined, undefined, undefined, 'high', 'low']);
    const noBatch = random.pick([undefined, undefined, true]);
    const way = random.pick(['api', 'api', 'comment', 'comment', 'label'] as const);
    coverage.note(`submit.${way}`);
    if (way === 'label') github.label(pr, WRITER, 'trunk-merge-queue-submit');
    if (way === 'comment') {
      const words = [
        random.pick(['/sluice', '/trunk']),
        'merge',
        ...(priority === undefined ? [] : ['-p', priority]),
        ...(noBatch === undefined ? [] : ['--no-batch']),
      ];
      github.comment(pr, WRITER, words.join(' '));
    }
    if (way !== 'api') return;
    const input = { ...QUEUE, prNumber: pr.number as PrNumber, priority, noBatch };
    this.#ask((app) => submitPullRequest(app, ADA, input));
  }

  async #make(sha: string | undefined, trait?: Trait): Promise<MadeChange> {
    return this.#options.maker.make(await this.#filesAt(sha), trait);
  }

  async #filesAt(sha: string | undefined): Promise<ReadonlyMap<string, string>> {
    return sha === undefined ? new Map() : readFiles(this.#options.repository.gitDir, sha);
  }

  #note(number: number, { areas }: MadeChange): void {
    this.#areas.set(number, new Set([...(this.#areas.get(number) ?? []), ...areas]));
  }

  #targetsOf(number: number, random: Prng): readonly string[] | 'ALL' {
    if (random.chance(0.05)) return 'ALL';
    if (this.#options.conditions.isHonest) return [...(this.#areas.get(number) ?? [])];
    return random.shuffle(AREAS).slice(0, random.integer(3));
  }

  async #act(act: Act, random: Prng): Promise<void> {
    const { repository, chronicle, coverage } = this.#options;
    const live = [...valuesOf(chronicle.queue.entries)].map(({ prNumber }) => prNumber);
    const known = [...repository.pulls.values()].filter(({ headRef }) => headRef.startsWith('change-'));
    // Mostly a pull request in the queue, where an act does the most harm.
    const chosen = random.chance(0.8) ? random.pick(live) : undefined;
    const pr = chosen === undefined ? random.pick(known) : repository.pulls.get(chosen);
    if (pr === undefined || branchHead(repository, BRANCH) === undefined) return;
    coverage.note(`act.${act}`);
    chronicle.note(`-- somebody: ${act} #${pr.number}`);
    await this[act](pr, random);
  }

  async push(pr: PullRequest, random: Prng): Promise<void> {
    const { github } = this.#options;
    if (pr.state !== 'open') return;
    const isForced = random.chance(0.3);
    const change = await this.#make(isForced ? `${pr.headSha}^` : pr.headSha);
    await github.push(pr, filesOf(change), { isForced });
    this.#note(pr.number, change);
    if (random.chance(0.7)) this.#later(random, [0, 6_000], () => this.upload(pr.number, random));
    if (random.chance(0.7)) this.#later(random, [500, 9_000], () => this.#submit(pr, random));
  }

  #undoLater(pr: PullRequest, random: Prng, undo: () => Promise<void> | void): void {
    this.#later(random, [500, 12_000], async () => {
      await undo();
      this.#submit(pr, random);
    });
  }

  close(pr: PullRequest, random: Prng): void {
    const { github } = this.#options;
    if (pr.state !== 'open') return;
    github.closePullRequest(pr);
    if (random.chance(0.6)) this.#undoLater(pr, random, () => github.reopen(pr));
  }

  draft(pr: PullRequest, random: Prng): void {
    const { github } = this.#options;
    if (pr.state !== 'open') return;
    github.convertToDraft(pr);
    this.#undoLater(pr, random, () => github.markReady(pr));
  }

  retarget(pr: PullRequest, random: Prng): void {
    const { github } = this.#options;
    if (pr.state !== 'open') return;
    github.retarget(pr, OTHER_BRANCH);
    if (random.chance(0.7)) this.#undoLater(pr, random, () => github.retarget(pr, BRANCH));
  }

  async deleteBranch(pr: PullRequest): Promise<void> {
    const { github } = this.#options;
    if (pr.headRepository !== undefined && pr.state === 'open')
      await github.moveBranch(pr.headRepository, pr.headRef, undefined, pr.author.login);
  }

  async mergeByHand(pr: PullRequest, random: Prng): Promise<void> {
    if (pr.baseRef !== BRANCH) return;
    await this.#options.github.mergeByHand(pr, WRITER, random.pick(['merge', 'squash', 'rebase'] as const));
    this.foreignMoves += 1;
  }

  async pushToTarget(_pr: PullRequest, random: Prng): Promise<void> {
    await this.#commitToTarget(random.pick(['own', 'shared', 'clash'] as const));
  }

  async breakTarget(_pr: PullRequest, random: Prng): Promise<void> {
    await this.#commitToTarget('red');
    this.#later(random, [20_000, 60_000], async () => void (await this.repairTarget()));
  }

  async #commitToTarget(trait: Trait): Promise<void> {
    const { github, repository } = this.#options;
    const change = await this.#make(branchHead(repository, BRANCH), trait);
    this.foreignMoves += 1;
    await github.commit(repository, {
      branch: BRANCH,
      files: filesOf(change),
      message: `Past the queue: ${trait}`,
      author: 'root',
    });
  }

  cancel(pr: PullRequest, random: Prng): void {
    const { github } = this.#options;
    const input = { ...QUEUE, prNumber: pr.number as PrNumber };
    if (random.chance(0.5)) github.comment(pr, WRITER, '/sluice cancel');
    else this.#ask((app) => cancelPullRequest(app, ADA, input));
    if (random.chance(0.5)) this.#later(random, [1_000, 8_000], () => this.#submit(pr, random));
  }

  unlabel(pr: PullRequest): void {
    const { github } = this.#options;
    if (pr.labels.some(({ name }) => name === 'trunk-merge-queue-submit'))
      github.unlabel(pr, WRITER, 'trunk-merge-queue-submit');
  }

  /** An account without write access uses commands that need it. */
  meddle(pr: PullRequest, random: Prng): void {
    const { github } = this.#options;
    const words = random.pick(['/sluice merge', '/sluice cancel', '> /sluice cancel', '```\n/sluice cancel\n```']);
    github.comment(pr, random.chance(0.5) ? READER : FORK_OWNER, words ?? '');
    github.comment(pr, WRITER, 'I think that `/sluice cancel` would be wrong here.');
  }

  retitle(pr: PullRequest, random: Prng): void {
    this.#options.github.edit(pr, { title: random.pick(TITLES) ?? '' });
  }

  restartTests(pr: PullRequest): void {
    this.restart(pr.number);
  }

  makeUrgent(pr: PullRequest, random: Prng): void {
    this.#submit(pr, random, 'urgent');
  }

  uploadAgain(pr: PullRequest, random: Prng): void {
    this.upload(pr.number, random);
  }

  halt(_pr: PullRequest, random: Prng): void {
    this.update({}, random.pick(['PAUSED', 'PAUSED', 'DRAINING'] as const));
    this.#later(random, [2_000, 20_000], () => this.update({}, 'RUNNING'));
  }

  changeSettings(_pr: PullRequest, random: Prng): void {
    const { testingTimeoutMinutes: _timeout, ...changes } = drawSettingsChange(random, 1);
    this.update(changes, undefined);
  }

  changeRequired(_pr: PullRequest, random: Prng): void {
    this.update({ requiredStatuses: random.pick([['unit'], ['unit', 'lint'], ['lint'], null]) ?? null }, undefined);
  }

  changeMode(_pr: PullRequest, random: Prng): void {
    this.update({ mode: random.pick(['SINGLE', 'PARALLEL'] as const) }, undefined);
  }
}

function filesOf({ files }: MadeChange): Files {
  return Object.fromEntries(Object.entries(files ?? {}).map(([path, content]) => [path, content ?? null]));
}

const WEIGHTS = {
  push: 4,
  close: 2,
  draft: 1,
  retarget: 1,
  deleteBranch: 1,
  mergeByHand: 2,
  pushToTarget: 3,
  breakTarget: 1,
  cancel: 3,
  unlabel: 2,
  meddle: 2,
  retitle: 1,
  restartTests: 2,
  makeUrgent: 3,
  uploadAgain: 2,
  halt: 2,
  changeSettings: 2,
  changeRequired: 1,
  changeMode: 1,
} as const;

type Act = keyof typeof WEIGHTS;

const ACTS_BY_WEIGHT = listByWeight(WEIGHTS);
