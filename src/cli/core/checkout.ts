import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { parseRepositoryUrl } from '../../flaky/identity/repository-url.ts';
import { type Checkout, type Remote, type Remotes, readCheckout, readRemotes } from '../../git/read-checkout.ts';
import { Fault } from '../../lib/fault.ts';
import { formatRepo, type RepoRef } from './arguments.ts';
import { usageError } from './exit.ts';

/** The work tree around the current folder; undefined if there is none, or git is missing. */
export function findCheckout(): Promise<Checkout | undefined> {
  return orUndefined(readCheckout(process.cwd()));
}

async function orUndefined<T>(read: Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/** A repository that the server knows, with the address that plain git uses. */
export interface KnownRepository {
  readonly repo: RepoRef;
  readonly git: string | null;
}

export interface FoundRemote {
  readonly repo: RepoRef;
  readonly defaultBranch: string | undefined;
}

interface KnownRemote extends FoundRemote {
  /** Its name in this clone. */
  readonly remote: string;
  /** Pull requests are refs that are pushed there. */
  readonly isPlainGit: boolean;
}

// SPEC W22
export async function getRegisteredRemote(known: readonly KnownRepository[]): Promise<KnownRemote> {
  const read = await readSortedRemotes();
  const match = matchRemote(read, known);
  if (match === undefined) throw usageError(`${SAY_WHICH} ${describeMiss(read, known)}`);
  return match;
}

// SPEC W41
export async function chooseUploadRepo(
  known: readonly KnownRepository[],
  checkout: Checkout | undefined,
): Promise<RepoRef> {
  return matchRemote(await readSortedRemotes(), known)?.repo ?? repoOf(checkout);
}

const SAY_WHICH = 'Say which repository: -R host/owner/name.';

async function readSortedRemotes(): Promise<Remotes | undefined> {
  const found = await orUndefined(readRemotes(process.cwd()));
  return found && { ...found, remotes: found.remotes.toSorted((a, b) => rankOf(a) - rankOf(b)) };
}

function matchRemote(read: Remotes | undefined, known: readonly KnownRepository[]): KnownRemote | undefined {
  for (const { name: remote, url, defaultBranch } of read?.remotes ?? []) {
    const match = known.find((one) => isRepositoryAt(one, url, read?.root ?? ''));
    if (match !== undefined) return { repo: match.repo, defaultBranch, remote, isPlainGit: match.git !== null };
  }
  return undefined;
}

function rankOf({ name }: Remote): number {
  return name === 'origin' ? 0 : name === 'upstream' ? 1 : 2;
}

function describeMiss(read: Remotes | undefined, known: readonly KnownRepository[]): string {
  if (read === undefined) return 'This folder is in no git work tree that would tell it.';
  const { remotes } = read;
  if (remotes.length === 0) return 'The git work tree here has no remote that would tell it.';
  const urls = remotes.map(({ name, url }) => `${name}: ${withoutSecret(url)}`).join(', ');
  const names = known.map(({ repo }) => formatRepo(repo));
  const list =
    names.length === 0 ? 'none yet' : names.slice(0, MAX_NAMED).join(', ') + (names.length > MAX_NAMED ? ', …' : '');
  return `The server knows no repository at the remotes here (${urls}). It knows: ${list}.`;
}

/** A longer list does not help in choosing. */
const MAX_NAMED = 10;

/** `https://user:secret@host/…` without the user. */
function withoutSecret(url: string): string {
  return url.replace(/^([a-z+.-]+:\/\/)[^/@]*@/i, '$1');
}

/** Whether the address of a remote, in a work tree at `root`, leads to the repository. */
export function isRepositoryAt({ repo, git }: KnownRepository, url: string, root: string): boolean {
  const named = parseRepositoryUrl(url);
  if (named !== undefined && keyOf(named) === keyOf(repo)) return true;
  if (git === null) return false;
  const registered = parseRepositoryUrl(git);
  if (named !== undefined && registered !== undefined) return keyOf(named) === keyOf(registered);
  return normalize(url, root) === normalize(git, root);
}

/** Forges ignore the case of names. */
function keyOf(repo: RepoRef): string {
  return formatRepo(repo).toLowerCase();
}

/** A path without symbolic links and endings that git ignores; every other address without its endings. */
function normalize(address: string, root: string): string {
  const text = address.replace(/^file:\/\//, '').replace(/(?:\/+|\/?\.git\/*)$/, '');
  if (/^[^/\\]+:/.test(text)) return text;
  const full = path.resolve(root, text);
  for (const each of [full, `${full}.git`]) {
    if (existsSync(each)) return realpathSync(each).replace(/\/?\.git$/, '');
  }
  return full;
}

export function repoOf(checkout: Checkout | undefined): RepoRef {
  const url = checkout?.originUrl ?? '';
  const repo = parseRepositoryUrl(url);
  if (repo !== undefined) return repo;
  const found =
    checkout === undefined
      ? 'This folder is in no git work tree that would tell it'
      : url === ''
        ? 'The git work tree here has no remote "origin" that would tell it'
        : 'The remote "origin" here is no address of a repository on a host';
  throw usageError(`${SAY_WHICH} ${found}.`);
}

/** The repository that `origin` of this folder is: by its name on its host, or as plain git by its path. */
export async function readOrigin(): Promise<FoundRemote & { readonly git?: string }> {
  const read = await readSortedRemotes();
  const [remote] = read?.remotes ?? [];
  if (read === undefined || remote === undefined) throw usageError(`Say which repository. ${describeMiss(read, [])}`);
  const { url, defaultBranch } = remote;
  const repo = parseRepositoryUrl(url);
  if (repo !== undefined) return { repo, defaultBranch };
  const git = path.resolve(read.root, url.replace(/^file:\/\//, ''));
  return { repo: nameByAddress(git), defaultBranch, git };
}

/** A name on the host `local`, made of the last two names in an address or a path. */
export function nameByAddress(git: string): RepoRef {
  const named = parseRepositoryUrl(git);
  const names = (named === undefined ? path.resolve(git) : `${named.owner}/${named.name}`).split(/[/\\]/);
  const [owner = '', name = ''] = names.filter((part) => part !== '').slice(-2);
  if (name === '') throw usageError(`Say its name too, as in: sluice repo add local/acme/app --git ${git}`);
  return { host: 'local', owner, name: name.replace(/\.git$/, '') };
}

/** The named organization, else SLUICE_ORG, else the one that every server creates. */
export function chooseOrg(named: string | undefined): string {
  return named ?? (process.env['SLUICE_ORG'] || 'default');
}

export const ORG_TEXT = 'The slug of the organization. Default: SLUICE_ORG, then default.';
export const REPO_OPTION_TEXT =
  'The repository as host/owner/name. Default: a git remote of this folder that the server knows.';
