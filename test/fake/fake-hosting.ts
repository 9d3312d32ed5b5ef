import type { CheckConclusion } from '../../src/engine/model/check.ts';
import type { PrNumber, PullRequestFacts } from '../../src/engine/model/pull-request.ts';
import type { Forge, ForgeRepository } from '../../src/forge/forge.ts';
import type {
  BaseChange,
  ChangedPullRequest,
  CheckReport,
  CheckRunDraft,
  CommentDraft,
  CommentFacts,
  CommentQuestion,
  Delivery,
  DeliveryAnswer,
  ForgeSnapshot,
  HintSubject,
  Hosting,
  LabelChange,
  LabelFacts,
  LabelQuestion,
  OwnCommentQuestion,
  PairedAnswers,
  PairedDrafts,
  Permission,
  Person,
  RepositoryIdentity,
  RepositoryName,
  SnapshotQuery,
  TargetJudgement,
  TargetQuestion,
  WebhookHint,
  Written,
} from '../../src/forge/hosting.ts';
import type { Instant } from '../../src/lib/clock.ts';
import { Fault } from '../../src/lib/fault.ts';
import type { Sha } from '../../src/lib/sha.ts';
import type { FakeRepository } from './fake-repository.ts';
import { PullRequestPages } from './pull-request-pages.ts';

interface FakeComment {
  readonly id: string;
  readonly number: PrNumber;
  readonly author: Person;
  readonly createdAt: Instant;
  text: string;
}

interface FakeLabel {
  readonly name: string;
  isPresent: boolean;
  last: { readonly id: string; readonly by: Person; readonly at: Instant };
}

const OWN: Person = { login: 'sluice', isBot: true, isOwn: true };

/**
 * Comments, CI and webhooks of a repository in memory. Every change appends a webhook to `deliveries`, which waits
 * until the test sends it. Acts of `Hosting` are immediate.
 */
export class FakeHosting implements Hosting {
  /** The present name of the repository. */
  name: RepositoryName;
  forgeId = '1';
  /** Present names of repositories whose old name was taken over, by id. */
  readonly moved = new Map<string, RepositoryName>();
  /** Operations that fail. */
  readonly failing = new Set<string>();
  /** While set, every operation fails with this sentence. */
  outage: string | undefined;
  readonly deliveries: Delivery[] = [];
  readonly permissions = new Map<string, Permission>();
  readonly forgotten: string[] = [];
  /** Number of calls of each operation. */
  readonly asked = new Map<string, number>();
  /** Texts that Sluice writes. */
  readonly #pages = new PullRequestPages();
  readonly #forge: Forge;
  readonly #repository: FakeRepository;
  readonly #now: () => Instant;
  readonly #comments: FakeComment[] = [];
  readonly #labels = new Map<PrNumber, FakeLabel[]>();
  #labelChanges = 0;
  readonly #checks = new Map<Sha, Map<string, CheckReport>>();
  readonly #updatedAt = new Map<PrNumber, Instant>();

  constructor(options: {
    readonly forge: Forge;
    readonly repository: FakeRepository;
    readonly now: () => Instant;
    readonly name: RepositoryName;
  }) {
    this.#forge = options.forge;
    this.#repository = options.repository;
    this.#now = options.now;
    this.name = options.name;
    options.repository.watch((hint) => {
      if (hint.kind === 'branch_moved') this.tell(`branch ${hint.branch}`, { kind: 'branch', branch: hint.branch });
      if (hint.kind !== 'pull_request_changed') return;
      const { prNumber: number } = hint;
      const headSha = options.repository.findPullRequestHead(number);
      this.#touch(number);
      this.tell(`pull_request ${number}`, { kind: 'pull_request', number, headSha, changedAt: this.#now() });
    });
  }

  /** Appends a webhook. `owner` and `name` are those that it names. */
  tell(about: string, facts: HintSubject, { owner, name } = this.name): void {
    const hint: WebhookHint = { ...facts, owner, name, key: `${owner}/${name} ${about}` };
    this.deliveries.push({ headers: { 'x-fake-signature': 'good' }, body: Buffer.from(JSON.stringify([hint])) });
  }

  /** A person comments on a pull request. */
  comment(number: PrNumber, login: string, text: string): string {
    const id = String(this.#comments.length + 1);
    const author = { login, isBot: login.endsWith('[bot]'), isOwn: false };
    this.#comments.push({ id, number, author, createdAt: this.#now(), text });
    this.#touch(number);
    this.tell(`comment ${id}`, { kind: 'comment', number, commentId: id, nodeId: `C_${id}` });
    return id;
  }

  label(number: PrNumber, login: string, name: string, isPresent = true): void {
    this.#setLabel(number, name, { isPresent, by: { login, isBot: false, isOwn: false } });
  }

  /** CI reports the state of a check. */
  report(sha: Sha, name: string, conclusion: CheckConclusion | undefined, values: Partial<CheckReport> = {}): void {
    const status = conclusion === undefined ? 'IN_PROGRESS' : 'COMPLETED';
    const facts = { reporter: 'ci', startedAt: this.#now(), url: undefined, summary: undefined };
    const report = { name, status, conclusion, ...facts, ...values } as const;
    const ofCommit = this.#checks.get(sha) ?? new Map<string, CheckReport>();
    this.#checks.set(sha, ofCommit.set(`${report.reporter} ${name}`, report));
    if (status === 'COMPLETED') this.tell(`checks ${sha} ${name}`, { kind: 'checks', sha, check: name });
  }

  rename(name: RepositoryName): void {
    const former = this.name;
    this.name = name;
    this.tell('access', { kind: 'access' }, former);
  }

  /** The repository was deleted, or renamed to `moved`, and another one has its name. */
  replace(moved?: RepositoryName): void {
    if (moved !== undefined) this.moved.set(this.forgeId, moved);
    this.forgeId = String(Number(this.forgeId) + 1);
    this.tell('access', { kind: 'access' });
  }

  #labelsOf(number: PrNumber): readonly string[] {
    return (this.#labels.get(number) ?? []).filter(({ isPresent }) => isPresent).map(({ name }) => name);
  }

  readonly kind = 'github';
  readonly usualLanding = 'API';
  readonly proofHeaders = ['x-hub-signature-256'];
  readonly idHeader = 'x-github-delivery';

  readDelivery({ headers, body }: Delivery): DeliveryAnswer {
    if (headers['x-fake-signature'] !== 'good') return { kind: 'unsigned' };
    return { kind: 'hints', hints: JSON.parse(body.toString()) as WebhookHint[] };
  }

  forget(owner: string, name = '*'): void {
    this.forgotten.push(`${owner}/${name}`);
  }

  async identify(): Promise<RepositoryIdentity> {
    this.#answer('identify');
    return { ...this.name, forgeId: this.forgeId };
  }

  async findById({ forgeId = '' }: ForgeRepository): Promise<RepositoryIdentity | undefined> {
    this.#answer('findById');
    const name = forgeId === this.forgeId ? this.name : this.moved.get(forgeId);
    return name && { ...name, forgeId };
  }

  async poll({ repository, branches, entries, commits, since }: SnapshotQuery): Promise<ForgeSnapshot> {
    this.#answer('poll');
    const facts = entries.map(async (number) => [number, await this.#facts(repository, number)] as const);
    return {
      identity: { ...this.name, forgeId: this.forgeId },
      heads: new Map(branches.map((branch) => [branch, this.#repository.findHead(branch)])),
      pullRequests: new Map(await Promise.all(facts)),
      checks: new Map(commits.map((sha) => [sha, this.#reportsOf(sha)])),
      changed: this.#repository
        .listPullRequests()
        .filter(({ number }) => this.#repository.isOpen(number) && (this.#updatedAt.get(number) ?? 0) > since)
        .map(({ number, base }) => this.#changed(number, base, since)),
    };
  }

  #changed(number: PrNumber, baseBranch: string, since: Instant): ChangedPullRequest {
    return {
      number,
      baseBranch,
      headSha: this.#repository.getPullRequestHead(number),
      updatedAt: this.#updatedAt.get(number) ?? 0,
      labels: this.#labelsOf(number),
      comments: this.#comments
        .filter((comment) => comment.number === number && comment.createdAt > since)
        .map(({ id, createdAt }) => ({ id, nodeId: `C_${id}`, createdAt })),
    };
  }

  async findPullRequests(
    repository: ForgeRepository,
    numbers: readonly PrNumber[],
  ): Promise<ReadonlyMap<PrNumber, PullRequestFacts>> {
    this.#answer('findPullRequests');
    const facts = await Promise.all(numbers.map((number) => this.#facts(repository, number)));
    return new Map(facts.flatMap((pr) => (pr === undefined ? [] : [[pr.number, pr]])));
  }

  async readChecks(
    _repository: ForgeRepository,
    commits: readonly Sha[],
  ): Promise<ReadonlyMap<Sha, readonly CheckReport[]>> {
    this.#answer('readChecks');
    return new Map(commits.map((sha) => [sha, this.#reportsOf(sha)]));
  }

  async readComment({ repository, number, id }: CommentQuestion): Promise<CommentFacts | undefined> {
    this.#answer('readComment');
    const comment = this.#comments.find((each) => each.id === id);
    const pr = await this.#facts(repository, number);
    if (comment === undefined || pr === undefined) return undefined;
    const { text: body, author, createdAt } = comment;
    const changedAt = this.#updatedAt.get(number);
    return { body, author, permission: this.#permissionOf(author.login), createdAt, isEdited: false, pr, changedAt };
  }

  async readLabel({ repository, number, label }: LabelQuestion): Promise<LabelFacts | undefined> {
    this.#answer('readLabel');
    const pr = await this.#facts(repository, number);
    const known = this.#labels.get(number)?.find(({ name }) => name === label);
    if (pr === undefined) return undefined;
    const last = known && { ...known.last, permission: this.#permissionOf(known.last.by.login) };
    return { isPresent: known?.isPresent === true, last, pr, changedAt: this.#updatedAt.get(number) };
  }

  async findPermission(_repository: ForgeRepository, login: string): Promise<Permission> {
    this.#answer('findPermission');
    return this.#permissionOf(login);
  }

  async judgeForTarget({ repository, number }: TargetQuestion): Promise<TargetJudgement> {
    this.#answer('judgeForTarget');
    return (await this.#facts(repository, number)) ?? { mergeability: 'NOT_MERGEABLE', blockReasons: ['closed'] };
  }

  async retarget({ number, branch }: BaseChange): Promise<string | undefined> {
    this.#answer('retarget');
    if (!this.#repository.isOpen(number)) return `Pull request #${number} is closed.`;
    this.#repository.retarget(number, branch);
    return undefined;
  }

  async findWorkflowRun(): Promise<undefined> {
    this.#answer('findWorkflowRun');
    return undefined;
  }

  async findByBranch(): Promise<undefined> {
    this.#answer('findByBranch');
    return undefined;
  }

  async writeComment(draft: CommentDraft): Promise<Written | undefined> {
    this.#answer('writeComment');
    return this.#pages.writeComment(draft);
  }

  async findOwnComment(question: OwnCommentQuestion): Promise<{ readonly id: string } | undefined> {
    this.#answer('findOwnComment');
    return this.#pages.findOwnComment(question);
  }

  async react(question: CommentQuestion, reaction: string): Promise<void> {
    this.#answer('react');
    return this.#pages.react(question, reaction);
  }

  async writeCheck(draft: CheckRunDraft): Promise<Written | undefined> {
    this.#answer('writeCheck');
    return this.#pages.writeCheck(draft);
  }

  async writePaired(drafts: PairedDrafts): Promise<PairedAnswers> {
    this.#answer('writePaired');
    return this.#pages.writePaired(drafts);
  }

  async changeLabels({ number, add, remove }: LabelChange): Promise<void> {
    this.#answer('changeLabels');
    for (const name of add) this.#setLabel(number, name, { isPresent: true, by: OWN });
    for (const name of remove) this.#setLabel(number, name, { isPresent: false, by: OWN });
  }

  needsSettling(mergeMethod: string): boolean {
    return mergeMethod !== 'MERGE_COMMIT';
  }

  async settleLanded({ number }: { readonly number: PrNumber }): Promise<void> {
    this.#answer('settleLanded');
    this.#repository.close(number);
  }

  async inspect(): Promise<readonly []> {
    return [];
  }

  #answer(question: string): void {
    this.asked.set(question, (this.asked.get(question) ?? 0) + 1);
    if (this.outage !== undefined) throw new Fault('FORGE_UNAVAILABLE', this.outage);
    if (this.failing.has(question)) throw new Fault('FORGE_UNAVAILABLE', 'The forge does not say.');
  }

  #facts(repository: ForgeRepository, number: PrNumber): Promise<PullRequestFacts | undefined> {
    return this.#forge.findPullRequest({ repository, number, targetBranch: 'main' });
  }

  #permissionOf(login: string): Permission {
    return this.permissions.get(login) ?? 'write';
  }

  #reportsOf(sha: Sha): readonly CheckReport[] {
    return [...(this.#checks.get(sha)?.values() ?? [])];
  }

  #setLabel(
    number: PrNumber,
    name: string,
    { isPresent, by }: { readonly isPresent: boolean; readonly by: Person },
  ): void {
    const labels = this.#labels.get(number) ?? [];
    this.#labelChanges += 1;
    this.#labels.set(number, [
      ...labels.filter((label) => label.name !== name),
      { name, isPresent, last: { id: `LE_${this.#labelChanges}`, by, at: this.#now() } },
    ]);
    this.#touch(number);
    this.tell(`label ${number} ${name}`, { kind: 'label', number, label: name });
  }

  #touch(number: PrNumber): void {
    this.#updatedAt.set(number, this.#now());
  }
}
