import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Answer } from '../hosted/answer.ts';
import { type GitAsk, type GitPlace, NO_HOOKS, readCommands, runBackend } from '../hosted/git-http.ts';
import { authorize, canSee, whoIs } from './auth.ts';
import type { Ask } from './exchange.ts';
import type { Caller, Repository } from './model.ts';
import { isStraight, pushBlock } from './pushes.ts';
import { catchUp } from './refs.ts';
import { Refused } from './refused.ts';
import { findRenamed, findRepository, fullNameOf, inTurn } from './world.ts';

/** Git over HTTP, served by git itself. */
export async function serveGit(ask: Ask, place: GitPlace): Promise<Answer> {
  const { world, caller } = ask;
  const { tail, fullName } = place;
  const gitAsk: GitAsk = { ...place, headers: ask.headers, body: ask.body, who: whoIs(caller) };
  const isPush = place.service === 'git-receive-pack';
  const repository = findRepository(world, fullName);
  if (repository === undefined) return redirect(ask, fullName, tail);
  if (caller.kind === 'nobody' && (isPush || repository.isPrivate)) return askForName();
  if (!canSee(caller, repository)) return plain(404, 'Repository not found.');
  if (isPush && repository.isArchived) return plain(403, 'This repository was archived so it is read-only.');
  try {
    const access = isPush ? 'write' : 'read';
    authorize(caller, repository, { permission: 'contents', access, role: access });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return plain(403, `Permission to ${fullNameOf(repository)}.git denied to ${whoIs(caller) ?? 'nobody'}.`);
  }
  if (!isPush || tail === 'info/refs' || caller.kind === 'nobody') return runBackend(gitAsk, repository.gitDir);
  return inTurn(repository, async () => {
    const push = (extra: Readonly<Record<string, string>>) => runBackend(gitAsk, repository.gitDir, extra);
    const answer = await withRefusals(gitAsk, repository, caller, push);
    await catchUp(world, repository, caller.user);
    return answer;
  });
}

function redirect({ world, query }: Ask, fullName: string, tail: string): Answer {
  const renamed = findRenamed(world, fullName);
  if (renamed === undefined) return plain(404, 'Repository not found.');
  const search = query.size === 0 ? '' : `?${query.toString()}`;
  return { status: 301, headers: { location: `${world.url}/${fullNameOf(renamed)}.git/${tail}${search}` } };
}

function askForName(): Answer {
  return { ...plain(401, 'No anonymous write access.'), headers: { 'www-authenticate': 'Basic realm="GitHub"' } };
}

function plain(status: number, text: string): Answer {
  return { status, headers: { 'content-type': 'text/plain' }, body: Buffer.from(`${text}\n`) };
}

/** The repository's hook cannot know the caller, so the refusals are computed here. Without refusals no hook runs. */
async function withRefusals(
  ask: GitAsk,
  repository: Repository,
  caller: Caller,
  push: (extra: Readonly<Record<string, string>>) => Promise<Answer>,
): Promise<Answer> {
  const changes = readCommands(ask);
  const refused = changes.flatMap((change) => {
    const why = pushBlock(repository, caller, change);
    return why === undefined ? [] : [`${change.ref}\t${why}`];
  });
  const straight = changes.filter(({ ref }) => isStraight(repository, caller, ref)).map(({ ref }) => ref);
  const isTrusted = caller.kind !== 'installation' || caller.permissions['workflows'] === 'write';
  if (isTrusted && refused.length + straight.length === 0) return push(NO_HOOKS);
  const folder = await mkdtemp(join(repository.gitDir, 'push-'));
  try {
    const [refusedFile, straightFile] = [join(folder, 'refused'), join(folder, 'straight')];
    await writeFile(refusedFile, refused.map((line) => `${line}\n`).join(''));
    await writeFile(straightFile, straight.map((line) => `${line}\n`).join(''));
    const workflows = isTrusted ? '' : '1';
    return await push({ FAKE_REFUSED: refusedFile, FAKE_STRAIGHT: straightFile, FAKE_NO_WORKFLOWS: workflows });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
