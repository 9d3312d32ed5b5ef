import { resolve } from 'node:path';
import type { BlockReason, PrNumber, PullRequestFacts } from '../../engine/model/pull-request.ts';
import { createGit, type GitOptions } from '../../git/create-git.ts';
import type { Commit, Git, GitLocation, GitRepository, GitSource } from '../../git/git.ts';
import { branchRef, isBranchName } from '../../git/ref-name.ts';
import { bound } from '../../lib/bound.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { Fault } from '../../lib/fault.ts';
import type { HookNews } from '../../lib/hooks.ts';
import { memo } from '../../lib/memo.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import { buildCandidate } from '../candidate/build.ts';
import { discardCandidate, listCandidateIds, publishCandidate, testBranch } from '../candidate/candidate-refs.ts';
import {
  type CommitAccess,
  checkOut,
  checkShas,
  findTree,
  isAncestor,
  listLine,
  listMissing,
  listOwnCommits,
  readFile,
  showConflict,
} from '../candidate/commits.ts';
import { dependenciesIn } from '../candidate/depends-on.ts';
import { landCandidate } from '../candidate/land.ts';
import { listChangedFiles, readFiles } from '../candidate/lane-files.ts';
import {
  findPullRequestNumber,
  isPullRequestNumber,
  printable,
  pullRequestRef,
} from '../candidate/pull-request-ref.ts';
import { readRequiredSources } from '../candidate/required-sources.ts';
import { makeRevert, pushRevert } from '../candidate/revert.ts';
import { PULL_REQUEST } from '../candidate/trailers.ts';
import type { Forge, ForgeRepository } from '../forge.ts';

/** The pollers list often. A change that this list misses is in the next one. */
const LIST_MAX_AGE_MS = 1_000;

/** Commits never change, so a copy that has them is fresh enough at any age. */
const ANY_AGE = Infinity;

/** Landings further back are not looked for. */
const MAX_LINE = 10_000;

export interface PlainForgeOptions extends Omit<GitOptions, 'onHooks'> {
  readonly testBranchPrefix?: string;
}

/** It has everything but accounts, CI and webhooks. */
export type PlainForge = Required<Omit<Forge, 'hosting'>>;

/** A forge without forge software. Pull request N is the ref `refs/pull/N/head` of a bare repository. */
export function createPlainForge({ testBranchPrefix = 'sluice', ...options }: PlainForgeOptions): PlainForge {
  const listeners = new Set<(news: HookNews) => void>();
  const onHooks = (news: HookNews) => {
    for (const listener of listeners) listener(news);
  };
  const git = createGit({ ...options, onHooks });
  const read = createReader(git);
  return {
    ...refReads(read),
    ...bound(accessOf(read), { isAncestor, findTree, listLine, listOwnCommits, checkOut, readFile }),
    ...bound(accessOf(read), { readFiles, listChangedFiles, showConflict }),
    ...candidateParts(read, testBranchPrefix),
    async checkAccess(repository) {
      const location = parseLocation(repository.git);
      if (location.kind === 'refused') return location.sentence;
      return git.findProblem({ id: repository.id, location });
    },
    findRequired: (repository, base) => read(repository, (opened) => readRequiredSources(opened, { repository, base })),
    async findHooks(repository) {
      const location = locationOf(repository.git ?? '');
      return location.kind === 'path' ? git.findHooks(location) : undefined;
    },
    onHooks: (listener) => void listeners.add(listener),
    close: () => git.close(),
  };
}

type Read = ReturnType<typeof createReader>;

function createReader(git: Git) {
  return async <Answer>(
    repository: ForgeRepository,
    question: (git: GitRepository) => Promise<Answer>,
    maxAgeMs = 0,
  ): Promise<Answer> => {
    const opened = await git.open(sourceOf(repository));
    try {
      await opened.refresh(maxAgeMs);
      return await question(opened);
    } catch (error) {
      if (error instanceof Fault && error.code === 'FORGE_UNAVAILABLE') opened.forget();
      throw error;
    }
  };
}

function refReads(read: Read) {
  return {
    async findPullRequest({ repository, number, targetBranch }) {
      if (!isPullRequestNumber(number)) return undefined;
      return read(repository, async (git) => {
        const ref = pullRequestRef(number);
        const [head, target] = await Promise.all([git.findCommit(ref), findBranch(git, targetBranch)]);
        if (head === undefined) return undefined;
        const standing = target === undefined ? NO_TARGET : await getStanding(git, { number, head, target });
        return pullRequestFacts({ number, targetBranch, head, ...standing });
      });
    },
    async findBranchHead(repository, branch) {
      if (!isBranchName(branch)) return undefined;
      return read(repository, (git) =>
        git.whileRefsStay(`branch ${branch}`, async () => (await findBranch(git, branch))?.sha),
      );
    },
    listPullRequestHeads: (repository) =>
      read(repository, (git) => git.whileRefsStay('pull requests', () => listHeads(git)), LIST_MAX_AGE_MS),
  } satisfies Partial<Forge>;
}

async function listHeads(git: GitRepository): Promise<ReadonlyMap<PrNumber, Sha>> {
  const heads = new Map<PrNumber, Sha>();
  for (const ref of await git.listRefs('refs/pull/*/head')) {
    const number = findPullRequestNumber(ref.name);
    if (number === undefined) continue;
    const sha = ref.type === 'tag' ? (await git.findCommit(ref.name))?.sha : ref.sha;
    if (sha !== undefined && (ref.type === 'commit' || ref.type === 'tag')) heads.set(number, sha);
  }
  return heads;
}

function accessOf(read: Read): CommitAccess {
  return {
    ask: (repository, question) => read(repository, question, ANY_AGE),
    async obtain(git, shas, maxAgeMs) {
      const missing = await listMissing(git, shas);
      if (missing.length === 0) return [];
      await git.refresh(maxAgeMs);
      return listMissing(git, missing);
    },
  };
}

function candidateParts(read: Read, prefix: string) {
  return {
    testBranchOf: (parts) => testBranch(prefix, parts),
    async buildCandidate(request) {
      const { base, parent, beneath, members } = request;
      checkShas([base, parent ?? base, ...[...beneath, ...members].map(({ headSha }) => headSha)]);
      return read(request.repository, (git) => buildCandidate(git, request), ANY_AGE);
    },
    async publishCandidate(request) {
      checkShas([request.sha]);
      return read(request.repository, (git) => publishCandidate(git, prefix, request), ANY_AGE);
    },
    discardCandidate: (request) => read(request.repository, (git) => discardCandidate(git, prefix, request), ANY_AGE),
    listCandidateIds: (repository) => read(repository, (git) => listCandidateIds(git, prefix), LIST_MAX_AGE_MS),
    async proposeRevert(request) {
      const { repository, head, commit, before = commit, above } = request;
      checkShas([head, commit, before]);
      return read(repository, async (git) => {
        const made = await makeRevert(git, request);
        return made.kind === 'made' ? pushRevert(git, made.sha, () => listHeads(git), above) : made;
      });
    },
    async landCandidate(request) {
      const { expectedHead, base, sha, tree, entries } = request;
      checkShas([expectedHead, base, sha, tree, ...entries.map(({ headSha }) => headSha)]);
      return read(request.repository, (git) => landCandidate(git, request));
    },
  } satisfies Partial<Forge>;
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

/** It starts a git process, so it is asked only where the answer can be yes. An empty commit is no proof. */
async function getStanding(git: GitRepository, question: StandingQuestion): Promise<Standing> {
  const { head, target } = question;
  if (head.sha === target.sha) return { standing: 'merged' };
  const merge = await git.testMerge({ target: target.sha, head: head.sha });
  if (merge.kind === 'conflict') return { standing: 'conflict', conflictFiles: merge.files };
  if (merge.kind !== 'clean' || merge.tree !== target.tree) return { standing: merge.kind };
  const isMerged = await git.isAncestor({ ancestor: head.sha, descendant: target.sha });
  return { standing: isMerged || (await hasLanded(git, question)) ? 'merged' : 'clean' };
}

/** A squash or a rebase leaves the head out of the history of the target. Its commit names the pull request. */
// SPEC L35
async function hasLanded(git: GitRepository, { number, head, target }: StandingQuestion): Promise<boolean> {
  const range = { tip: target.sha, since: head.sha, limit: MAX_LINE, trailer: PULL_REQUEST };
  return (await git.listLine(range)).some(({ trailer }) => trailer === `${number}`);
}

interface StandingQuestion {
  readonly number: PrNumber;
  readonly head: Commit;
  readonly target: Commit;
}

interface Standing {
  readonly standing: 'merged' | 'clean' | 'conflict' | 'unrelated' | 'no-target';
  readonly conflictFiles?: readonly string[];
}

const NO_TARGET: Standing = { standing: 'no-target' };

interface PullRequestParts extends Standing {
  readonly number: PrNumber;
  readonly targetBranch: string;
  readonly head: Commit;
}

const BLOCK_REASONS: Readonly<Record<Standing['standing'], readonly BlockReason[]>> = {
  merged: ['closed'],
  clean: [],
  conflict: ['conflict'],
  unrelated: ['other'],
  'no-target': ['other'],
};

function pullRequestFacts(parts: PullRequestParts): PullRequestFacts {
  const { number, targetBranch, head, standing, conflictFiles } = parts;
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
    ...present({ conflictFiles }),
  };
}

/** The same commit is the same object while git caches it, so its title and author are formatted once. */
// SPEC C44
const wordsOf = memo((head: Commit): Pick<PullRequestFacts, 'title' | 'author' | 'dependsOn'> => {
  const dependsOn = dependenciesIn(head.message);
  return {
    title: titleOf(head.message),
    author: printable(head.author),
    ...(dependsOn.length > 0 && { dependsOn }),
  };
});

function titleOf(message: string): string {
  return printable(message.trimStart().split('\n', 1)[0] ?? '');
}

type ParsedLocation = GitLocation | { readonly kind: 'refused'; readonly sentence: string };

const MAX_LENGTH = 2048;
const HOST = String.raw`(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])`;
const USER = `(?:[a-z0-9_][a-z0-9_.+~-]*@)`;
const HTTPS = new RegExp(`^https://${USER}?${HOST}(?::\\d{1,5})?/\\S+$`, 'i');
const SSH = new RegExp(`^ssh://${USER}?${HOST}(?::\\d{1,5})?/\\S+$`, 'i');
const SCP = new RegExp(`^${USER}${HOST}:(?![:-])\\S+$`, 'i');

/** Only these forms are accepted: some git transports run commands, and a leading dash would be an option. */
export function parseLocation(value: string | undefined): ParsedLocation {
  if (value === undefined || value === '') return refuse('A plain git repository needs a path or URL.');
  if (value.length > MAX_LENGTH) return refuse(`The path or URL is longer than ${MAX_LENGTH} characters.`);
  if (/\p{Cc}/u.test(value) || !value.isWellFormed()) return refuse('The path or URL holds a control character.');
  if (value.startsWith('-')) return refuse('The path or URL starts with a dash.');
  if (HTTPS.test(value) || SSH.test(value) || SCP.test(value)) return { kind: 'url', url: value };
  if (/^(https|ssh):\/\/[^/]*:[^/]*@/i.test(value)) {
    return refuse(
      "The URL holds a password. Credentials belong into the server's environment, such as a git credential helper.",
    );
  }
  if (/^file:/i.test(value)) return parseFileUrl(value);
  // Git reads a colon before the first slash as host:path.
  if (/^[^/]*:/.test(value)) return refuse('Only a path, file:///, ssh://, git@host:path and https:// are accepted.');
  return { kind: 'path', path: resolve(value) };
}

/** Git decodes `%20` in such a URL, so this does too. */
function parseFileUrl(value: string): ParsedLocation {
  const [, path] = /^file:\/\/(?:localhost)?(\/.*)$/i.exec(value) ?? [];
  const decoded = path === undefined ? undefined : decode(path);
  if (decoded === undefined || /\p{Cc}/u.test(decoded)) {
    return refuse('A file:// URL is file:// and an absolute path of the server, such as file:///srv/git/app.git.');
  }
  return { kind: 'path', path: resolve(decoded) };
}

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

function refuse(sentence: string): ParsedLocation {
  return { kind: 'refused', sentence };
}
