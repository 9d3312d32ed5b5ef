import type { BlockReason, PrNumber, PullRequestFacts } from '../../engine/pull-request.ts';
import { BoundedCache } from '../../git/bounded-cache.ts';
import { createGit, type GitOptions } from '../../git/create-git.ts';
import type { Commit, Git, GitRepository, GitSource } from '../../git/git.ts';
import { branchRef, isBranchName } from '../../git/ref-name.ts';
import { Fault } from '../../lib/fault.ts';
import type { HookNews, Hooks } from '../../lib/hooks.ts';
import type { Sha } from '../../lib/sha.ts';
import { getCommit } from '../candidate/apply-entry.ts';
import { buildCandidate } from '../candidate/build.ts';
import { discardCandidate, listCandidateIds, publishCandidate, testBranch } from '../candidate/candidate-refs.ts';
import { checkShas, listLine, listMissing } from '../candidate/commits.ts';
import { landCandidate } from '../candidate/land.ts';
import {
  findPullRequestNumber,
  isPullRequestNumber,
  printable,
  pullRequestRef,
} from '../candidate/pull-request-ref.ts';
import type {
  AncestryQuestion,
  BuildAnswer,
  BuildRequest,
  CheckOutRequest,
  DiscardRequest,
  Forge,
  ForgeRepository,
  LandAnswer,
  LandRequest,
  LineAnswer,
  LineQuestion,
  PublishAnswer,
  PublishRequest,
  PullRequestQuery,
  TestBranchParts,
} from '../forge.ts';
import { type ParsedLocation, parseLocation } from './location.ts';

/** The pollers list often. A change that this list misses is in the next one. */
const LIST_MAX_AGE_MS = 1_000;

/** Commits never change, so a copy that has them is fresh enough at any age. */
const ANY_AGE = Infinity;

export interface PlainForgeOptions extends Omit<GitOptions, 'onHooks'> {
  /** Prefix of the test branch names. */
  readonly testBranchPrefix?: string;
}

/** A forge without forge software. Pull request N is the ref `refs/pull/N/head` of a bare repository. */
export function createPlainForge({ testBranchPrefix = 'sluice', ...options }: PlainForgeOptions): Forge {
  const listeners = new Set<(news: HookNews) => void>();
  const onHooks = (news: HookNews) => {
    for (const listener of listeners) listener(news);
  };
  return new PlainForge(createGit({ ...options, onHooks }), testBranchPrefix, listeners);
}

class PlainForge implements Forge {
  readonly #git: Git;
  readonly #testBranchPrefix: string;
  readonly #listeners: Set<(news: HookNews) => void>;

  constructor(git: Git, testBranchPrefix: string, listeners: Set<(news: HookNews) => void>) {
    this.#git = git;
    this.#testBranchPrefix = testBranchPrefix;
    this.#listeners = listeners;
  }

  async findPullRequest({ repository, number, targetBranch }: PullRequestQuery): Promise<PullRequestFacts | undefined> {
    if (!isPullRequestNumber(number)) return undefined;
    return this.#read(repository, async (git) => {
      const [head, target] = await Promise.all([git.findCommit(pullRequestRef(number)), findBranch(git, targetBranch)]);
      if (head === undefined) return undefined;
      const standing = target === undefined ? 'no-target' : await getStanding(git, { head, target });
      return pullRequestFacts({ number, targetBranch, head, standing });
    });
  }

  async findBranchHead(repository: ForgeRepository, branch: string): Promise<Sha | undefined> {
    if (!isBranchName(branch)) return undefined;
    return this.#read(repository, async (git) => (await findBranch(git, branch))?.sha);
  }

  async listPullRequestHeads(repository: ForgeRepository): Promise<ReadonlyMap<PrNumber, Sha>> {
    const list = async (git: GitRepository) => {
      const heads = new Map<PrNumber, Sha>();
      for (const ref of await git.listRefs('refs/pull/*/head')) {
        const number = findPullRequestNumber(ref.name);
        if (number === undefined) continue;
        const sha = ref.type === 'tag' ? (await git.findCommit(ref.name))?.sha : ref.sha;
        if (sha !== undefined && (ref.type === 'commit' || ref.type === 'tag')) heads.set(number, sha);
      }
      return heads;
    };
    return this.#read(repository, list, LIST_MAX_AGE_MS);
  }

  async isAncestor({ repository, ancestor, descendant }: AncestryQuestion): Promise<boolean> {
    checkShas([ancestor, descendant]);
    const ask = async (git: GitRepository) => {
      const missing = await listMissing(git, [ancestor, descendant]);
      if (missing.length > 0) await git.refresh();
      await getCommit(git, descendant);
      // A commit that the repository does not have, such as a head that was forced away, is no ancestor.
      const isLost = (await listMissing(git, [ancestor])).length > 0;
      return !isLost && git.isAncestor({ ancestor, descendant });
    };
    return this.#read(repository, ask, ANY_AGE);
  }

  async hasCommit(repository: ForgeRepository, sha: Sha): Promise<boolean> {
    checkShas([sha]);
    // Commits of the last second may be missed. A fetch for every unknown commit would let any caller trigger fetches.
    const ask = async (git: GitRepository) => (await listMissing(git, [sha])).length === 0;
    return (await this.#read(repository, ask, ANY_AGE)) || this.#read(repository, ask, LIST_MAX_AGE_MS);
  }

  async listLine(question: LineQuestion): Promise<LineAnswer> {
    checkShas([question.head, question.since]);
    return this.#read(question.repository, (git) => listLine(git, question), ANY_AGE);
  }

  async buildCandidate(request: BuildRequest): Promise<BuildAnswer> {
    const { base, parent, beneath, members } = request;
    checkShas([base, parent ?? base, ...[...beneath, ...members].map(({ headSha }) => headSha)]);
    return this.#read(request.repository, (git) => buildCandidate(git, request), ANY_AGE);
  }

  testBranchOf(parts: TestBranchParts): string {
    return testBranch(this.#testBranchPrefix, parts);
  }

  async publishCandidate(request: PublishRequest): Promise<PublishAnswer> {
    checkShas([request.sha]);
    return this.#read(request.repository, (git) => publishCandidate(git, this.#testBranchPrefix, request), ANY_AGE);
  }

  async checkOut({ repository, sha, folder, isIsolated }: CheckOutRequest): Promise<string | undefined> {
    checkShas([sha]);
    const fill = async (git: GitRepository) => {
      // Another server may have built it.
      if ((await listMissing(git, [sha])).length > 0) await git.refresh();
      return git.checkOut({ sha, folder, isIsolated });
    };
    return this.#read(repository, fill, ANY_AGE);
  }

  async discardCandidate(request: DiscardRequest): Promise<void> {
    return this.#read(request.repository, (git) => discardCandidate(git, this.#testBranchPrefix, request), ANY_AGE);
  }

  async listCandidateIds(repository: ForgeRepository): Promise<readonly string[]> {
    return this.#read(repository, (git) => listCandidateIds(git, this.#testBranchPrefix), LIST_MAX_AGE_MS);
  }

  async landCandidate(request: LandRequest): Promise<LandAnswer> {
    const { expectedHead, base, sha, tree, entries } = request;
    checkShas([expectedHead, base, sha, tree, ...entries.map(({ headSha }) => headSha)]);
    return this.#read(request.repository, (git) => landCandidate(git, request));
  }

  async checkAccess(repository: ForgeRepository): Promise<string | undefined> {
    const location = parseLocation(repository.git);
    if (location.kind === 'refused') return location.sentence;
    return this.#git.findProblem({ id: repository.id, location });
  }

  async findHooks({ git }: ForgeRepository): Promise<Hooks | undefined> {
    const location = locationOf(git ?? '');
    return location.kind === 'path' ? this.#git.findHooks(location) : undefined;
  }

  onHooks(listener: (news: HookNews) => void): void {
    this.#listeners.add(listener);
  }

  close(): Promise<void> {
    return this.#git.close();
  }

  async #read<Answer>(
    repository: ForgeRepository,
    question: (git: GitRepository) => Promise<Answer>,
    maxAgeMs = 0,
  ): Promise<Answer> {
    const opened = await this.#git.open(sourceOf(repository));
    try {
      await opened.refresh(maxAgeMs);
      return await question(opened);
    } catch (error) {
      // The folder may have been moved or replaced, so the cached facts about it may be wrong.
      if (error instanceof Fault && error.code === 'FORGE_UNAVAILABLE') opened.forget();
      throw error;
    }
  }
}

const locations = new BoundedCache<string, ParsedLocation>(1_000);

function locationOf(git: string): ParsedLocation {
  const known = locations.find(git);
  if (known !== undefined) return known;
  const location = parseLocation(git);
  locations.set(git, location);
  return location;
}

function sourceOf({ id, git, runHooks = false }: ForgeRepository): GitSource {
  const location = locationOf(git ?? '');
  if (location.kind === 'refused') throw new Fault('FORGE_UNAVAILABLE', location.sentence);
  return { id, location: location.kind === 'path' && runHooks ? { ...location, runHooks } : location };
}

async function findBranch(git: GitRepository, branch: string): Promise<Commit | undefined> {
  return isBranchName(branch) ? git.findCommit(branchRef(branch)) : undefined;
}

/**
 * The ancestry question starts a git process, so it is asked only where the answer can be yes: a merge of an ancestor
 * changes nothing. An empty commit changes nothing either, so that alone is no proof.
 */
async function getStanding(git: GitRepository, { head, target }: { head: Commit; target: Commit }): Promise<Standing> {
  if (head.sha === target.sha) return 'merged';
  const merge = await git.testMerge({ target: target.sha, head: head.sha });
  if (merge.kind !== 'clean' || merge.tree !== target.tree) return merge.kind;
  return (await git.isAncestor({ ancestor: head.sha, descendant: target.sha })) ? 'merged' : 'clean';
}

type Standing = 'merged' | 'clean' | 'conflict' | 'unrelated' | 'no-target';

interface PullRequestParts {
  readonly number: PrNumber;
  readonly targetBranch: string;
  readonly head: Commit;
  readonly standing: Standing;
}

const BLOCK_REASONS: Readonly<Record<Standing, readonly BlockReason[]>> = {
  merged: ['closed'],
  clean: [],
  conflict: ['conflict'],
  unrelated: ['other'],
  'no-target': ['other'],
};

function pullRequestFacts({ number, targetBranch, head, standing }: PullRequestParts): PullRequestFacts {
  return {
    number,
    headSha: head.sha,
    baseBranch: targetBranch,
    ...wordsOf(head),
    // Plain git has no page to link to. The ref can at least be fetched.
    url: pullRequestRef(number),
    status: standing === 'merged' ? 'merged' : 'open',
    mergeability: standing === 'clean' ? 'MERGEABLE' : 'NOT_MERGEABLE',
    blockReasons: BLOCK_REASONS[standing],
  };
}

/** The same commit is the same object while git caches it, so its title and author are formatted once. */
const words = new WeakMap<Commit, Pick<PullRequestFacts, 'title' | 'author'>>();

// SPEC C44
function wordsOf(head: Commit): Pick<PullRequestFacts, 'title' | 'author'> {
  const known = words.get(head) ?? { title: titleOf(head.message), author: printable(head.author) };
  words.set(head, known);
  return known;
}

function titleOf(message: string): string {
  return printable(message.trimStart().split('\n', 1)[0] ?? '');
}
