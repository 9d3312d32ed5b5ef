import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Mergeability, PrNumber, PullRequestFacts } from '../../src/engine/model/pull-request.ts';
import type { RequiredSources } from '../../src/engine/model/required.ts';
import { dependenciesIn } from '../../src/forge/candidate/depends-on.ts';
import { landOneByOne } from '../../src/forge/candidate/land-one-by-one.ts';
import { parseConfiguration } from '../../src/forge/candidate/required-sources.ts';
import { digestCommands } from '../../src/forge/digest-commands.ts';
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
} from '../../src/forge/forge.ts';
import { Fault } from '../../src/lib/fault.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { buildCommit, findByTrailers, findPrNumber, type Landed, planLanding } from './fake-candidates.ts';
import { createMergeApi, type MergeHooks } from './fake-merge-api.ts';
import { branchRef, type FakePullRequest, type FakeRepository } from './fake-repository.ts';
import type { ModelCommit } from './git-model.ts';

export interface FakeForgeOptions {
  /** Checks that passed on the head of a pull request. With it, a pull request reports whether it is up to date. */
  readonly passedChecks?: (head: Sha) => readonly string[];
  /** The forge is still computing the mergeability. */
  readonly isUndecided?: (number: PrNumber) => boolean;
  /** Landed pull requests count as merged even when their commits were rewritten. */
  readonly marksLanded?: boolean;
  /** Refusals that replace the act. */
  readonly refuseBuild?: (request: BuildRequest) => Extract<BuildAnswer, { kind: 'unbuildable' }> | undefined;
  readonly refusePublish?: (request: PublishRequest) => Extract<PublishAnswer, { kind: 'refused' }> | undefined;
  /** Faults of landings through a merge API. */
  readonly merging?: MergeHooks;
  /** It lists the commits of a head, as plain git does. */
  readonly listsCommits?: boolean;
  readonly refuseLanding?: (request: LandRequest) => Extract<LandAnswer, { kind: 'refused' }> | undefined;
}

type Standing = Pick<PullRequestFacts, 'mergeability' | 'blockReasons'>;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const CONFIGURATION_FILE = '.sluice.yaml';

/**
 * The forge port over a repository in memory. Every act is atomic and immediate. A wrapper adds delays, failures and
 * lost answers.
 */
export class FakeForge implements Forge {
  /** The checks that branch protection requires. Undefined: registered checks count. */
  protection: readonly string[] | undefined;
  isBroken = false;
  readonly listOwnCommits?: NonNullable<Forge['listOwnCommits']>;
  readonly #repository: FakeRepository;
  readonly #options: FakeForgeOptions;

  constructor(repository: FakeRepository, options: FakeForgeOptions = {}) {
    this.#repository = repository;
    this.#options = options;
    if (options.listsCommits === true) this.listOwnCommits = async ({ head, without }) => this.#listOwn(head, without);
  }

  async findPullRequest({ number }: PullRequestQuery): Promise<PullRequestFacts | undefined> {
    this.#answer();
    const pr = this.#repository.findPullRequest(number);
    if (pr === undefined) return undefined;
    const { base, title, author, status, isHeadUntrusted } = pr;
    const headSha = this.#repository.getPullRequestHead(number);
    const dependsOn = dependenciesIn(this.#repository.git.getCommit(headSha).message);
    return {
      number,
      headSha,
      baseBranch: base,
      title,
      author,
      url: `https://forge.test/pull/${number}`,
      status,
      ...this.#standingOf(pr),
      ...(isHeadUntrusted ? { isHeadUntrusted } : {}),
      ...(dependsOn.length > 0 ? { dependsOn } : {}),
      ...this.#upToDate(pr),
    };
  }

  async findBranchHead(_repository: ForgeRepository, branch: string): Promise<Sha | undefined> {
    this.#answer();
    return this.#repository.findHead(branch);
  }

  async listPullRequestHeads(): Promise<ReadonlyMap<PrNumber, Sha>> {
    this.#answer();
    return this.#repository.listOpenHeads();
  }

  async isAncestor({ ancestor, descendant }: AncestryQuestion): Promise<boolean> {
    const git = this.#answer();
    this.#ensurePresent([descendant]);
    return git.isAncestor(ancestor, descendant);
  }

  async findTree(_repository: ForgeRepository, sha: Sha): Promise<Sha | undefined> {
    return this.#answer().findCommit(sha)?.tree;
  }

  async listLine({ head, since, limit, heads }: LineQuestion): Promise<LineAnswer> {
    const git = this.#answer();
    if ([head, since].some((sha) => git.findCommit(sha) === undefined)) return { kind: 'lost' };
    const line = git.listFirstParents(head, since).toReversed();
    const contains = ({ sha, tree }: ModelCommit, pr: Sha | undefined) => {
      const merge = pr === undefined || git.findCommit(pr) === undefined ? undefined : git.merge(sha, pr);
      return merge?.kind === 'clean' && merge.tree === tree;
    };
    const view = (commit: ModelCommit) => {
      const { sha, tree, author, message } = commit;
      const prNumber = findPrNumber(commit);
      const isLanding = prNumber !== undefined && contains(commit, heads?.get(prNumber));
      return { sha, tree, author, subject: firstLineOf(message), ...(isLanding ? { prNumber } : {}) };
    };
    const isWhole = head === since || line.at(-1)?.parents[0] === since;
    if (line.length > limit || (line.length === limit && !isWhole)) return { kind: 'too_long' };
    if (!git.isAncestor(since, head)) return { kind: 'broken' };
    return isWhole ? { kind: 'line', commits: line.map(view) } : { kind: 'merged' };
  }

  async buildCandidate(request: BuildRequest): Promise<BuildAnswer> {
    const git = this.#answer();
    const { base, parent, beneath, members } = request;
    const isOnParent = parent !== undefined && git.findCommit(parent) !== undefined;
    const entries = isOnParent ? members : [...beneath, ...members];
    this.#ensurePresent([base, ...entries.map(({ headSha }) => headSha)]);
    const refusal = this.#options.refuseBuild?.(request);
    if (refusal !== undefined) return refusal;
    const built = buildCommit(git, request);
    if ('kind' in built) return built;
    git.changeRefs([{ ref: candidateRef(request), sha: built.sha }]);
    return { kind: 'built', sha: built.sha, tree: built.tree, sources: this.#sourcesOf(request) };
  }

  async checkOut({ sha, folder }: CheckOutRequest): Promise<string | undefined> {
    const git = this.#answer();
    this.#ensurePresent([sha]);
    for (const [path, content] of git.getFiles(sha)) {
      const file = join(folder, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    }
    return undefined;
  }

  testBranchOf({ candidateId, prNumber, isBisection }: TestBranchParts): string {
    const subject = prNumber === undefined ? 'head' : `pr-${prNumber}`;
    return `sluice/${subject}/${candidateId}${isBisection ? '-bisection' : ''}`;
  }

  async publishCandidate(request: PublishRequest): Promise<PublishAnswer> {
    const git = this.#answer();
    const { sha, candidateId } = request;
    this.#ensurePresent([sha]);
    const refusal = this.#options.refusePublish?.(request);
    if (refusal !== undefined) return refusal;
    const branch = this.testBranchOf(request);
    if (git.findRef(branchRef(branch)) !== sha) {
      git.changeRefs([{ ref: branchRef(branch), sha }]);
      this.#repository.tell({ kind: 'candidate_published', candidateId, branch, sha });
    }
    return { kind: 'published', branch };
  }

  async discardCandidate(request: DiscardRequest): Promise<void> {
    const git = this.#answer();
    const branch = branchRef(this.testBranchOf(request));
    const wasPublished = git.findRef(branch) !== undefined;
    git.changeRefs([
      ...(request.keepsCommit ? [] : [{ ref: candidateRef(request), sha: undefined }]),
      { ref: branch, sha: undefined },
    ]);
    if (wasPublished) this.#repository.tell({ kind: 'candidate_discarded', candidateId: request.candidateId });
  }

  async listCandidateIds(): Promise<readonly string[]> {
    const git = this.#answer();
    const names = ['refs/sluice/candidates/', branchRef('sluice/')].flatMap((prefix) => git.listRefs(prefix));
    const ids = names.map(([ref]) => (ref.split('/').at(-1) ?? '').replace(/-bisection$/, ''));
    return [...new Set(ids)].filter((id) => UUID.test(id)).sort();
  }

  async landCandidate(request: LandRequest): Promise<LandAnswer> {
    const git = this.#answer();
    if (request.landingMode === 'API') return this.#landOneByOne(request);
    const { targetBranch, expectedHead, entries } = request;
    const head = this.#repository.findHead(targetBranch);
    if (head !== expectedHead) return this.#findEarlierLanding(request, head);
    if (request.isCalledOff) return { kind: 'called_off' };
    const moved = entries.find((entry) => !this.#isAsTested(entry));
    if (moved !== undefined) return { kind: 'pull_request_moved', prNumber: moved.prNumber };
    const refusal = this.#options.refuseLanding?.(request);
    if (refusal !== undefined) return refusal;
    const answer = planLanding(git, request);
    if (answer.kind === 'landed') this.#land(request, answer);
    return answer;
  }

  async checkAccess(): Promise<string | undefined> {
    return this.isBroken ? 'The repository does not answer.' : undefined;
  }

  async close(): Promise<void> {}

  #answer() {
    if (this.isBroken) throw new Fault('FORGE_UNAVAILABLE', 'The forge is down.');
    return this.#repository.git;
  }

  #ensurePresent(shas: readonly Sha[]): void {
    const lost = shas.find((sha) => this.#repository.git.findCommit(sha) === undefined);
    if (lost !== undefined) throw new Fault('FORGE_UNAVAILABLE', `The repository does not have the commit ${lost}.`);
  }

  #listOwn(head: Sha, without: Sha): readonly Sha[] {
    const git = this.#answer();
    const isLost = [head, without].some((sha) => git.findCommit(sha) === undefined);
    return isLost ? [] : git.listOwn(head, without);
  }

  #standingOf({ number, base, status }: FakePullRequest): Standing {
    if (status === 'closed' || status === 'merged') return blocked('NOT_MERGEABLE', 'closed');
    if (status === 'draft') return blocked('NOT_MERGEABLE', 'draft');
    if (this.#options.isUndecided?.(number) === true) return blocked('IN_PROGRESS');
    const target = this.#repository.findHead(base);
    if (target === undefined) return blocked('NOT_MERGEABLE', 'other');
    const merge = this.#repository.git.merge(target, this.#repository.getPullRequestHead(number));
    if (merge.kind === 'clean') return blocked('MERGEABLE');
    return blocked('NOT_MERGEABLE', merge.kind === 'conflict' ? 'conflict' : 'other');
  }

  #upToDate({ number, base, status }: FakePullRequest): Pick<PullRequestFacts, 'upToDate'> {
    const { git } = this.#repository;
    const { passedChecks } = this.#options;
    const [head, targetHead] = [this.#repository.getPullRequestHead(number), this.#repository.findHead(base)];
    if (passedChecks === undefined || status !== 'open' || targetHead === undefined) return {};
    if (!git.isAncestor(targetHead, head)) return {};
    return { upToDate: { targetHead, tree: git.getCommit(head).tree, passedChecks: passedChecks(head) } };
  }

  #sourcesOf({ base, repository }: BuildRequest): RequiredSources {
    const content = this.#repository.git.getFiles(base).get(CONFIGURATION_FILE);
    const { file, fileProblem } =
      content === undefined ? { file: undefined, fileProblem: undefined } : parseConfiguration(Buffer.from(content));
    const names = this.protection ?? repository.checks.map(({ name }) => name);
    const commands = digestCommands(repository.checks);
    return { file, fileProblem, protection: names.length === 0 ? undefined : names, commands };
  }

  /** An earlier request may have pushed and lost its answer. */
  #findEarlierLanding(request: LandRequest, head: Sha | undefined): LandAnswer {
    const { git } = this.#repository;
    const isDescendant = head !== undefined && git.isAncestor(request.expectedHead, head);
    const moved = { kind: 'target_moved', head, isDescendant } as const;
    if (!isDescendant) return moved;
    // The heads of the pull requests are gone, but the trailers still name the landing.
    if (request.entries.some(({ headSha }) => git.findCommit(headSha) === undefined)) {
      return findByTrailers(git, request, head) ?? moved;
    }
    const plan = planLanding(git, request);
    return plan.kind === 'landed' && this.#isOnLine(plan.pushedSha, head) ? plan : moved;
  }

  /** Merges all entries at once, so `isStillWanted` is never asked in between. */
  #landOneByOne({ isStillWanted: _, ...request }: LandRequest): Promise<LandAnswer> {
    return landOneByOne(createMergeApi(this.#repository, request, this.#options.merging ?? {}), request);
  }

  #isOnLine(sha: Sha, head: Sha): boolean {
    const { git } = this.#repository;
    if (head === sha) return true;
    return git.isAncestor(sha, head) && git.listFirstParents(head, sha)[0]?.parents[0] === sha;
  }

  #isAsTested({ prNumber, headSha }: LandRequest['entries'][number]): boolean {
    const status = this.#repository.findPullRequest(prNumber)?.status;
    return this.#repository.findPullRequestHead(prNumber) === headSha && status !== 'closed';
  }

  #land(request: LandRequest, answer: Landed): void {
    this.#repository.moveBranch(request.targetBranch, answer.pushedSha, { request, answer });
    if (this.#options.marksLanded !== true) return;
    for (const { prNumber } of answer.entries) this.#repository.markMerged(prNumber);
  }
}

function blocked(mergeability: Mergeability, ...blockReasons: Standing['blockReasons']): Standing {
  return { mergeability, blockReasons };
}

function firstLineOf(message: string): string {
  return message.split('\n', 1)[0] ?? '';
}

function candidateRef({ candidateId }: { readonly candidateId: string }): string {
  return `refs/sluice/candidates/${candidateId}`;
}
