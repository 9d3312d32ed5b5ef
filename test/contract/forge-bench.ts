import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { BuildAnswer, BuildRequest, CandidateEntry } from '../../src/forge/forge.ts';
import type { Sha } from '../../src/lib/sha.ts';
import type { Change, GitWorld } from './forge.ts';
import { runGit } from './plain-repository.ts';

export const PLANNED_AT = Date.UTC(2025, 0, 2, 3, 4, 5);

export const METHODS = ['MERGE_COMMIT', 'SQUASH', 'REBASE'] as const;
/** The commits of a candidate are made by the same code for all forges, so that one method is enough for most of them. */
export type Methods = readonly BuildRequest['mergeMethod'][];

type Built = Extract<BuildAnswer, { kind: 'built' }>;

/** Far enough apart to be changed one by one without a conflict. */
export function lines(changes: Readonly<Record<number, string>> = {}): string {
  return Array.from({ length: 40 }, (_, index) => `${changes[index] ?? index}\n`).join('');
}

/** A world with the requests of a server that builds candidates. */
export class CandidateBench {
  readonly world: GitWorld;
  base: Sha;
  readonly #first: Sha;

  constructor(world: GitWorld, base: Sha) {
    this.world = world;
    this.base = base;
    this.#first = base;
  }

  static async create(createWorld: () => Promise<GitWorld>): Promise<CandidateBench> {
    const world = await createWorld();
    return new CandidateBench(world, await world.commit('main', { files: { 'a.txt': lines(), 'b.txt': lines() } }));
  }

  /** Moves the target branch back to its first commit, for the next test. */
  async reset(): Promise<void> {
    this.base = this.#first;
    const head = await this.git('rev-parse', 'refs/heads/main').catch(() => undefined);
    if (head !== this.base) await this.world.createBranch('main', this.base);
  }

  /** Opens a pull request from the target branch's present head, with one commit per change. */
  async open(title: string, ...changes: readonly Change[]): Promise<CandidateEntry> {
    const [first = {}, ...others] = changes;
    const { number, headSha } = await this.world.openPullRequest('main', first);
    let head = headSha;
    for (const change of others) head = await this.world.pushToPullRequest(number, change);
    return { prNumber: number, headSha: head, title, author: 'Ada' };
  }

  /** The second has two commits, of two authors. */
  async openTwoOnOneFile(): Promise<[CandidateEntry, CandidateEntry]> {
    const grace = { author: 'Grace', email: 'g@x.test' };
    return [
      await this.open('Change the top', { ...grace, files: { 'a.txt': lines({ 2: 'top' }) } }),
      await this.open(
        'Change the end',
        { ...grace, files: { 'a.txt': lines({ 30: 'end' }) }, message: 'One\n\nWhy.' },
        { files: { 'c.txt': 'c\n' }, author: 'Linus', email: 'l@x.test', message: 'Two' },
      ),
    ];
  }

  request(members: readonly CandidateEntry[], more: Partial<BuildRequest> = {}): BuildRequest {
    return {
      repository: this.world.repository,
      targetBranch: 'main',
      candidateId: randomUUID(),
      base: this.base,
      parent: undefined,
      beneath: [],
      members,
      mergeMethod: 'SQUASH',
      plannedAt: PLANNED_AT,
      ...more,
    };
  }

  async build(members: readonly CandidateEntry[], more: Partial<BuildRequest> = {}): Promise<Built & BuildRequest> {
    const request = this.request(members, more);
    const answer = await this.world.forge.buildCandidate(request);
    assert.equal(answer.kind, 'built', JSON.stringify(answer));
    return { ...request, ...(answer as Built) };
  }

  git(...args: readonly string[]): Promise<string> {
    return this.world.git(args);
  }

  show(sha: string, format: string): Promise<string> {
    return this.git('show', '--no-patch', `--format=${format}`, sha);
  }

  /** The tree that `run` leaves at HEAD of a clone of the target branch. */
  async treeBy(run: (git: (...args: readonly string[]) => Promise<string>) => Promise<unknown>): Promise<string> {
    const clone = join(this.world.folder, `clone-${randomUUID()}`);
    await runGit(this.world.folder, ['clone', '--quiet', this.world.path, clone]);
    const git = (...args: readonly string[]) => runGit(clone, args);
    await git('fetch', '--quiet', 'origin', '+refs/pull/*/head:refs/pull/*');
    await run(git);
    return git('rev-parse', 'HEAD^{tree}');
  }
}
