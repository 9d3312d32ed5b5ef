import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
// Compares the target branches, read with git alone, with the records of Sluice.
import type { EntryView, LandedView } from '../../src/app/queue/entry-view.ts';
import type { Line, PlannedChange } from './plan.ts';
import { RULES } from './project.ts';
import type { Violations } from './verdict.ts';

export type Git = (args: readonly string[]) => Promise<string>;

export interface History {
  readonly git: Git;
  readonly line: Line;
  /** The first commit of the target branch. */
  readonly start: string;
  readonly changes: readonly PlannedChange[];
  readonly entries: ReadonlyMap<number, EntryView>;
  /** Trees that passed every check, as recorded by the checks themselves. */
  readonly passedTrees: ReadonlySet<string>;
}

interface Commit {
  readonly sha: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: string;
  /** The pull request whose last commit it is. */
  readonly prNumber: number | undefined;
}

interface Landing {
  readonly change: PlannedChange;
  readonly entry: EntryView;
  readonly landed: LandedView;
}

/** Returns the pushed heads, oldest first. */
export async function checkHistory(violations: Violations, history: History): Promise<readonly string[]> {
  const { line } = history;
  const commits = await readLine(history);
  const landings = listLandings(violations, history);
  checkOnce(violations, line, { commits, landings });
  for (const landing of landings) await checkLanding(violations, history, { landing, commits });
  checkCommits(violations, history, { commits, landings });
  return checkPushes(violations, history, { commits, landings });
}

/** The first-parent line of the target branch since the start, oldest first. */
async function readLine({ git, line, start }: History): Promise<readonly Commit[]> {
  const format = ['%H', '%T', '%P', '%an <%ae>', '%(trailers:key=Sluice-Pull-Request,valueonly,separator=%x2C)'];
  const range = `${start}..refs/heads/${line.branch}`;
  const text = await git(['log', '--first-parent', '--reverse', `--format=${format.join('%x1f')}`, range, '--']);
  return text
    .split('\n')
    .filter((row) => row !== '')
    .map((row) => {
      const [sha = '', tree = '', parents = '', author = '', prNumber = ''] = row.split('\x1f');
      return {
        sha,
        tree,
        parents: parents.split(' '),
        author,
        prNumber: prNumber === '' ? undefined : Number(prNumber),
      };
    });
}

function listLandings(violations: Violations, { changes, entries }: History): readonly Landing[] {
  return changes.flatMap((change) => {
    const entry = entries.get(change.number);
    if (entry?.state !== 'MERGED') return [];
    const { landed } = entry;
    if (landed !== undefined) return [{ change, entry, landed }];
    violations.add(`#${change.number} is MERGED without a record of its landing`);
    return [];
  });
}

interface Found {
  readonly commits: readonly Commit[];
  readonly landings: readonly Landing[];
}

function checkOnce(violations: Violations, { branch }: Line, { commits, landings }: Found): void {
  const named = commits.flatMap(({ prNumber }) => prNumber ?? []);
  const twice = named.filter((number, index) => named.indexOf(number) !== index);
  violations.expect(twice.length === 0, `${branch} holds these pull requests twice: ${twice.join(' ')}`);
  const merged = new Set(landings.map(({ change }) => change.number));
  const foreign = named.filter((number) => !merged.has(number));
  violations.expect(foreign.length === 0, `${branch} holds these, which are not MERGED: ${foreign.join(' ')}`);
  for (const { change, landed } of landings) {
    const { prNumber } = commits.find(({ sha }) => sha === landed.sha) ?? {};
    violations.expect(prNumber === change.number, `#${change.number} is MERGED, but ${landed.sha} is not its commit`);
  }
}

async function checkLanding(
  violations: Violations,
  { git, line, passedTrees }: History,
  { landing, commits }: { readonly landing: Landing; readonly commits: readonly Commit[] },
): Promise<void> {
  const { change, entry, landed } = landing;
  const expect = (isSo: boolean, text: string) =>
    violations.expect(isSo, `#${change.number} on ${line.branch}: ${text}`);
  const own = commits.find(({ sha }) => sha === landed.sha);
  const pushed = commits.find(({ sha }) => sha === landed.pushedSha);
  expect(own?.tree === landed.tree, 'the tree of its commit is not the one in its record');
  expect(pushed !== undefined, `the pushed head ${landed.pushedSha} is not on the first-parent line`);
  expect(pushed?.tree === landed.pushedTree, 'the tree of the pushed head is not the one in its record');
  const testedTree = await git(['rev-parse', '--verify', `${landed.testedSha}^{tree}`]).catch(() => undefined);
  const isKept = testedTree !== undefined || landed.kind === 'COMPOSED' || landed.kind === 'SAME_TREE';
  expect(isKept, `the tested commit ${landed.testedSha} is gone`);
  expect(
    testedTree === undefined || testedTree === landed.testedTree,
    'the tested tree is not that of the tested commit',
  );
  expect(passedTrees.has(landed.testedTree), `no check passed on the tested tree ${landed.testedTree}`);
  if (landed.kind === 'IDENTICAL') expect(landed.pushedSha === landed.testedSha, 'pushed is not what was tested');
  if (landed.kind !== 'COMPOSED') expect(landed.pushedTree === landed.testedTree, 'the pushed tree was not tested');
  const [ours, theirs] = await Promise.all([
    changesOf(git, own, change, commits),
    pullRequestFiles(git, entry, landed),
  ]);
  expect(ours === theirs, `it changed ${JSON.stringify(ours)} and not ${JSON.stringify(theirs)}`);
}

/** The files that its commits changed on the target branch. */
async function changesOf(
  git: Git,
  own: Commit | undefined,
  { line }: PlannedChange,
  commits: readonly Commit[],
): Promise<string> {
  if (own === undefined) return '';
  const first = line.mergeMethod === 'REBASE' ? firstOf(own, commits) : own;
  return git(['diff-tree', '-r', '--name-only', '--no-renames', `${first.parents[0]}`, own.sha]);
}

/** A rebased pull request has several commits, and only the last one names it. */
function firstOf(own: Commit, commits: readonly Commit[]): Commit {
  const end = commits.indexOf(own);
  const before = commits.slice(0, end).findLastIndex(({ prNumber }) => prNumber !== undefined);
  return commits[before + 1] ?? own;
}

/** The files that the pull request itself changes. */
async function pullRequestFiles(git: Git, { prSha }: EntryView, { base }: LandedView): Promise<string> {
  const mergeBase = await git(['merge-base', base, prSha]);
  // Once its merge commit has landed, the head is an ancestor. `base` is from before that.
  return git(['diff-tree', '-r', '--name-only', '--no-renames', mergeBase, prSha]);
}

/** Every commit belongs to a pull request and names it. */
function checkCommits(violations: Violations, { line, changes }: History, { commits, landings }: Found): void {
  const authors = new Map(changes.map(({ number, author }) => [number, `${author.name} <${author.email}>`]));
  const { branch, mergeMethod } = line;
  for (const [index, commit] of commits.entries()) {
    const owner = commits.slice(index).find(({ prNumber }) => prNumber !== undefined)?.prNumber;
    const isWhole = commit.prNumber !== undefined || mergeMethod === 'REBASE';
    violations.expect(owner !== undefined && isWhole, `${branch}: nobody knows whose commit ${commit.sha} is`);
    if (mergeMethod === 'MERGE_COMMIT') {
      const head = landings.find(({ change }) => change.number === owner)?.entry.prSha;
      violations.expect(commit.parents[1] === head, `${branch}: ${commit.sha} does not merge the head of #${owner}`);
    } else {
      violations.expect(commit.author === authors.get(owner ?? 0), `${branch}: ${commit.sha} is by ${commit.author}`);
    }
  }
}

/** Each push started at the head that the previous push left. */
function checkPushes(
  violations: Violations,
  { line, start }: History,
  { commits, landings }: Found,
): readonly string[] {
  const place = new Map(commits.map(({ sha }, index) => [sha, index]));
  const pushes = new Map(landings.map(({ landed }) => [landed.pushedSha, landed]));
  const inOrder = [...pushes.values()].sort((a, b) => (place.get(a.pushedSha) ?? -1) - (place.get(b.pushedSha) ?? -1));
  let head = start;
  let at = '';
  for (const { base, pushedSha, at: pushedAt } of inOrder) {
    violations.expect(base === head, `${line.branch}: ${pushedSha} was pushed onto ${base}, but ${head} was there`);
    violations.expect(pushedAt >= at, `${line.branch}: ${pushedSha} landed before what is beneath it`);
    head = pushedSha;
    at = pushedAt;
  }
  violations.expect(head === (commits.at(-1)?.sha ?? start), `${line.branch}: its head is none that was pushed`);
  return inOrder.map(({ pushedSha }) => pushedSha);
}

const run = promisify(execFile);
const UNPACK = 'git --git-dir="$1" archive "$2" | tar -x';

/** The rules of the project hold on every pushed head. */
export async function checkHeads(
  violations: Violations,
  { repository, heads }: { readonly repository: string; readonly heads: readonly string[] },
): Promise<void> {
  for (const head of heads) {
    const cwd = await mkdtemp(join(tmpdir(), 'sluice-storm-head-'));
    try {
      await run('sh', ['-c', UNPACK, 'sh', repository, head], { cwd });
      await run('sh', ['-c', RULES], { cwd }).catch(() => violations.add(`the rules do not hold on the head ${head}`));
    } finally {
      await rm(cwd, { recursive: true, force: true });
    }
  }
}
