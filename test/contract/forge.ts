import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import type { Forge, ForgeRepository } from '../../src/forge/forge.ts';
import { Fault } from '../../src/lib/fault.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { until } from '../e2e/harness.ts';
import { madeOnce } from '../helpers/made.ts';

export interface Change {
  readonly files?: Readonly<Record<string, string>>;
  readonly message?: string | Buffer;
  readonly author?: string;
  readonly email?: string;
  /** The encoding header of the commit. */
  readonly encoding?: string;
}

/** A forge with one empty repository, and the acts of people on it. */
export interface ForgeWorld {
  readonly forge: Forge;
  readonly repository: ForgeRepository;
  /** Adds a commit to a branch. Creates the branch if needed. */
  commit(branch: string, change: Change): Promise<Sha>;
  createBranch(branch: string, sha: Sha): Promise<void>;
  deleteBranch(branch: string): Promise<void>;
  /** Opens it from the branch's present head. */
  openPullRequest(branch: string, change: Change): Promise<{ readonly number: PrNumber; readonly headSha: Sha }>;
  pushToPullRequest(number: PrNumber, change: Change): Promise<Sha>;
  closePullRequest(number: PrNumber): Promise<void>;
  /** Moves the branch to the pull request's head, which must be ahead of it. */
  landPullRequest(number: PrNumber, branch: string): Promise<void>;
  /** Makes the repository unavailable until the returned function is called. */
  breakRepository(): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** A world with a git repository that tests can inspect. */
export interface GitWorld extends ForgeWorld {
  /** Path of the bare repository. */
  readonly path: string;
  /** A folder for the test's own use, removed with the world. */
  readonly folder: string;
  /** Runs git on the bare repository. */
  git(args: readonly string[], input?: string | Buffer): Promise<string>;
  /** Adds a commit to any ref, from any commit or none. */
  commitTo(ref: string, from: string | undefined, change: Change): Promise<Sha>;
  /** Moves a pull request to the HEAD of a clone. */
  pushFromClone(number: PrNumber, clone: string): Promise<void>;
  /** The forge of another server. */
  createForge(options?: { readonly directory?: string; readonly testBranchPrefix?: string }): Forge;
}

/** The promises of src/forge/forge.ts that every adapter has to keep. */
export function forgeContract(name: string, createWorld: () => Promise<ForgeWorld>): void {
  describe(`forge contract: ${name}`, () => {
    const world = madeOnce(() => createWorld());
    before(async () => {
      await world.commit('main', { files: { 'a.txt': 'a\n', 'b.txt': 'b\n' } });
    });

    const find = (number: PrNumber, targetBranch = 'main') =>
      world.forge.findPullRequest({ repository: world.repository, number, targetBranch });

    test('an open pull request is told with its head, title, author and base', async () => {
      const { number, headSha } = await world.openPullRequest('main', {
        files: { 'c.txt': 'c\n' },
        message: 'Add c\n\nBecause.',
        author: 'Grace',
      });
      const facts = await find(number);
      assert.equal(facts?.number, number);
      assert.equal(facts?.headSha, headSha);
      assert.equal(facts?.title, 'Add c');
      assert.equal(facts?.author, 'Grace');
      assert.equal(facts?.baseBranch, 'main');
      assert.equal(facts?.status, 'open');
      assert.equal(facts?.mergeability, 'MERGEABLE');
      assert.deepEqual(facts?.blockReasons, []);
    });

    test('a pull request that was never opened is undefined', async () => {
      assert.equal(await find(4_000_000_000 as PrNumber), undefined);
    });

    test('a push to a pull request is seen by the next question', async () => {
      const { number } = await world.openPullRequest('main', { files: { 'd.txt': '0\n' } });
      for (const content of ['1\n', '2\n', '3\n']) {
        const sha = await world.pushToPullRequest(number, { files: { 'd.txt': content } });
        assert.equal((await find(number))?.headSha, sha);
      }
    });

    test('a push to the target is seen by the next question, and may bring a conflict', async () => {
      const { number } = await world.openPullRequest('main', { files: { 'a.txt': 'ours\n' } });
      assert.equal((await find(number))?.mergeability, 'MERGEABLE');
      const sha = await world.commit('main', { files: { 'a.txt': 'theirs\n' } });
      assert.equal(await world.forge.findBranchHead(world.repository, 'main'), sha);
      // A forge may need a while to find it.
      const facts = await until('the conflict', 30_000, async () => {
        const now = await find(number);
        return now?.mergeability === 'NOT_MERGEABLE' ? now : undefined;
      });
      assert.deepEqual(facts.blockReasons, ['conflict']);
      assert.equal(facts.status, 'open');
    });

    test('a landed pull request is merged', async () => {
      const { number } = await world.openPullRequest('main', { files: { 'e.txt': 'e\n' } });
      await world.landPullRequest(number, 'main');
      assert.equal((await find(number))?.status, 'merged');
      await world.commit('main', { files: { 'f.txt': 'f\n' } });
      assert.equal((await find(number))?.status, 'merged');
    });

    test('a closed pull request is no longer open', async () => {
      const { number } = await world.openPullRequest('main', { files: { 'g.txt': 'g\n' } });
      await world.closePullRequest(number);
      assert.ok(['closed', undefined].includes((await find(number))?.status));
      assert.notEqual((await world.forge.listPullRequestHeads?.(world.repository))?.has(number), true);
    });

    test('open pull requests are listed with their heads, unless a poll reads them', async () => {
      const first = await world.openPullRequest('main', { files: { 'h.txt': 'h\n' } });
      const second = await world.openPullRequest('main', { files: { 'i.txt': 'i\n' } });
      const moved = await world.pushToPullRequest(second.number, { files: { 'i.txt': 'j\n' } });
      const heads = await world.forge.listPullRequestHeads?.(world.repository);
      assert.equal(heads === undefined, world.forge.hosting !== undefined);
      if (heads === undefined) return;
      assert.equal(heads.get(first.number), first.headSha);
      assert.equal(heads.get(second.number), moved);
    });

    test('a branch has a head while it exists, whatever its name', async () => {
      const sha = await world.commit('main', { files: { 'k.txt': 'k\n' } });
      for (const branch of ['release/1.0', 'ümlaut', 'a@b', "quote'd", 'semi;colon', '$(id)', 'per%cent', '#1']) {
        assert.equal(await world.forge.findBranchHead(world.repository, branch), undefined);
        await world.createBranch(branch, sha);
        assert.equal(await world.forge.findBranchHead(world.repository, branch), sha);
        await world.deleteBranch(branch);
        assert.equal(await world.forge.findBranchHead(world.repository, branch), undefined);
      }
    });

    test('a name that cannot be a branch is no branch', async () => {
      const names = [
        '',
        '-h',
        '--all',
        'main~1',
        'main^',
        'main^{tree}',
        'main\nmain',
        'a..b',
        'ma*',
        'HEAD:a.txt',
        'main@{0}',
        'x'.repeat(5000),
      ];
      for (const name of names) assert.equal(await world.forge.findBranchHead(world.repository, name), undefined);
    });

    test('the repository can be accessed', async () => {
      assert.equal(await world.forge.checkAccess(world.repository), undefined);
    });

    test('an unavailable repository is a fault, and works again once it is back', async () => {
      const { number, headSha } = await world.openPullRequest('main', { files: { 'l.txt': 'l\n' } });
      assert.equal((await find(number))?.headSha, headSha);
      const repair = await world.breakRepository();
      const questions = [
        () => find(number),
        () => world.forge.findBranchHead(world.repository, 'main'),
        () => world.forge.isAncestor({ repository: world.repository, ancestor: headSha, descendant: headSha }),
        () => world.forge.findTree(world.repository, headSha),
      ];
      for (const ask of [...questions, ...questions]) await assert.rejects(ask(), isUnavailable);
      assert.equal(typeof (await world.forge.checkAccess(world.repository)), 'string');
      await repair();
      for (const ask of questions) assert.ok(await ask());
      assert.equal((await find(number))?.headSha, headSha);
    });

    test('the tree of a commit is known on whatever branch or pull request, and that of one that was never pushed is not [U45] [F86]', async () => {
      const { headSha } = await world.openPullRequest('main', { files: { 'known.txt': 'k\n' } });
      const tree = await world.forge.findTree(world.repository, headSha);
      assert.match(tree ?? '', /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
      assert.notEqual(tree, headSha);
      assert.equal(await world.forge.findTree(world.repository, 'd'.repeat(headSha.length) as Sha), undefined);
    });

    test('many questions at once are all answered', async () => {
      const { number, headSha } = await world.openPullRequest('main', { files: { 'm.txt': 'm\n' } });
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          index % 2 === 0 ? find(number) : find((3_000_000_000 + index) as PrNumber),
        ),
      );
      for (const [index, facts] of answers.entries())
        assert.equal(facts?.headSha, index % 2 === 0 ? headSha : undefined);
    });
  });
}

export function isUnavailable(error: unknown): boolean {
  assert.ok(error instanceof Fault, String(error));
  assert.equal(error.code, 'FORGE_UNAVAILABLE');
  return true;
}
