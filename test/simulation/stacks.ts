import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import type { Entry } from '../../src/engine/model/queue.ts';
import { dependenciesIn } from '../../src/forge/candidate/depends-on.ts';
import type { Prng } from '../../src/lib/prng.ts';
import type { Sha } from '../../src/lib/sha.ts';
import type { MadeChange } from '../fake/change-maker.ts';
import type { FakeRepository } from '../fake/fake-repository.ts';
import { BRANCH } from './clients.ts';
import type { Stacks } from './conditions.ts';

export interface StackerOptions extends Stacks {
  readonly repository: FakeRepository;
  readonly random: Prng;
}

/** How often a member edits what the one below it wrote, so that a squash would conflict without the stand-in. */
const SAME_LINE_RATE = 0.4;
/** How often a push forgets to state what it is on. */
const FORGETTING_RATE = 0.1;

/** Puts pull requests on top of each other. Its draws are its own. */
export class Stacker {
  readonly #options: StackerOptions;
  readonly #below = new Map<PrNumber, PrNumber>();
  readonly #depths = new Map<PrNumber, number>();
  readonly #changes = new Map<PrNumber, MadeChange>();
  readonly #submitted = new Set<PrNumber>();

  constructor(options: StackerOptions) {
    this.#options = options;
  }

  /** The open pull request that the next one is put on, if it is put on one. */
  pickBelow(): PrNumber | undefined {
    const { random, rate, depth, repository } = this.#options;
    if (!random.chance(rate)) return undefined;
    const open = repository.listPullRequests().filter(({ status }) => status === 'open');
    const low = open.map(({ number }) => number).filter((number) => this.#depthOf(number) < depth);
    // Mostly the newest, so that stacks grow.
    return random.chance(0.6) ? low.at(-1) : random.pick(low);
  }

  /** The change on top of that pull request. */
  put(made: MadeChange, below: PrNumber): MadeChange {
    const { random } = this.#options;
    const other = this.#changes.get(below);
    const isMild = other !== undefined && ['own', 'shared', 'clash'].includes(other.trait);
    const change = isMild && random.chance(SAME_LINE_RATE) ? this.#rewrite(other, below) : made;
    const title = change.message?.split('\n', 1)[0] ?? '';
    return { ...change, message: `${title}, on #${below}\n\nDepends-On: #${below}` };
  }

  /** The line that the one below wrote. */
  #rewrite({ message = '', ...other }: MadeChange, below: PrNumber): MadeChange {
    const { repository } = this.#options;
    const files = repository.git.getFiles(repository.getPullRequestHead(below));
    const words = (/^Change \d+/.exec(message)?.[0] ?? '').toLowerCase();
    const line = new RegExp(`^${words}(?!\\d).*$`, 'm');
    const rewritten = Object.keys(other.files).flatMap((path) => {
      const before = files.get(path);
      return before === undefined ? [] : [[path, before.replace(line, `${words}, again on ${below}`)]];
    });
    return { ...other, message, files: Object.fromEntries(rewritten) };
  }

  note(number: PrNumber, change: MadeChange, below: PrNumber | undefined): void {
    this.#changes.set(number, change);
    if (below === undefined) return;
    this.#below.set(number, below);
    this.#depths.set(number, this.#depthOf(below) + 1);
  }

  /** The head below it while that is open, for a rebase. */
  findGround(number: PrNumber): Sha | undefined {
    const { repository } = this.#options;
    const below = this.#below.get(number);
    return below !== undefined && repository.isOpen(below) ? repository.findPullRequestHead(below) : undefined;
  }

  /** A change of a member that states what it is on, unless its author forgets. */
  state(number: PrNumber, change: MadeChange): MadeChange {
    const message = this.messageOf(number, change.message);
    return message === undefined ? change : { ...change, message };
  }

  messageOf(number: PrNumber, title = 'Update the branch'): string | undefined {
    const below = this.#below.get(number);
    const isTold = below !== undefined && !this.#options.random.chance(FORGETTING_RATE);
    return isTold ? `${title}\n\nDepends-On: #${below}` : undefined;
  }

  /** True once for each: authors do not try again for ever. */
  mayTryAgain(number: PrNumber): boolean {
    if (this.#submitted.has(number) || !this.#options.repository.isOpen(number)) return false;
    this.#submitted.add(number);
    return true;
  }

  #depthOf(number: PrNumber): number {
    return this.#depths.get(number) ?? 1;
  }
}

/** The numbers that its text stated when it was submitted. */
export function statedBy({ pr: { dependsOn = [] } }: Pick<Entry, 'pr'>): readonly PrNumber[] {
  return dependsOn.flatMap((each) => ('number' in each ? each.number : []));
}

/** The heads that the message of a commit names and that the commit contains. */
export function headsBelow(repository: FakeRepository, head: Sha): readonly Sha[] {
  const { git } = repository;
  const stated = dependenciesIn(git.findCommit(head)?.message ?? '');
  const heads = stated.flatMap((each) => ('number' in each && repository.findPullRequestHead(each.number)) || []);
  return heads.filter((sha) => git.findCommit(sha) !== undefined && git.isAncestor(sha, head));
}

/** Something below it has not been merged. */
export function isWaitingRightly(repository: FakeRepository, entry: Pick<Entry, 'pr'>): boolean {
  return statedBy(entry).some((number) => {
    const pr = repository.findPullRequest(number);
    return pr?.status !== 'merged' || pr.base !== BRANCH;
  });
}
