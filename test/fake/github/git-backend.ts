import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { AskGit, orGit } from '../git-files/object-files.ts';
import { authorize, canSee, whoIs } from './auth.ts';
import type { Answer, Ask } from './exchange.ts';
import { gitEnv } from './git.ts';
import { advertiseRefs, listRefs, packetOf, readPackets } from './list-refs.ts';
import type { Caller, Repository } from './model.ts';
import { isStraight, pushBlock } from './pushes.ts';
import { catchUp, type RefChange } from './refs.ts';
import { Refused } from './refused.ts';
import { findRenamed, findRepository, fullNameOf, inTurn } from './world.ts';

const PATH = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/;

/** The git service of a request. Undefined when it is none. */
export function findGitService(path: string, query: URLSearchParams): string | undefined {
  const [, , , tail] = PATH.exec(path) ?? [];
  return tail === 'info/refs' ? (query.get('service') ?? 'git-upload-pack') : tail;
}

/** Git over HTTP, served by git itself. */
export async function serveGit(ask: Ask): Promise<Answer> {
  const { world, path, caller } = ask;
  const [, owner = '', name = '', tail = ''] = PATH.exec(path) ?? [];
  const isPush = ask.route === 'git-receive-pack';
  const repository = findRepository(world, `${owner}/${name}`);
  if (repository === undefined) return redirect(ask, `${owner}/${name}`, tail);
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
  if (!isPush || tail === 'info/refs' || caller.kind === 'nobody') return runBackend(ask, repository, tail, {});
  return inTurn(repository, async () => {
    const answer = await withRefusals(ask, repository, caller, (extra) => runBackend(ask, repository, tail, extra));
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
  ask: Ask,
  repository: Repository,
  caller: Caller,
  push: (extra: Readonly<Record<string, string>>) => Promise<Answer>,
): Promise<Answer> {
  const changes = readCommands(bodyOf(ask));
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

const NO_HOOKS = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.hooksPath', GIT_CONFIG_VALUE_0: '/dev/null' };

/** Parses the commands of a push: `old new ref`. */
function readCommands(body: Buffer): readonly RefChange[] {
  return readPackets(body).flatMap((packet) => {
    const [, before, after, ref] = /^([0-9a-f]{40}) ([0-9a-f]{40}) ([^\s\0]+)/.exec(packet) ?? [];
    return before === undefined || after === undefined || ref === undefined ? [] : [{ before, after, ref }];
  });
}

function bodyOf({ body, headers }: Ask): Buffer {
  return headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
}

/** Serves as `git http-backend` does, without starting that process. Lists of refs are read without git. */
async function runBackend(
  ask: Ask,
  { gitDir }: Repository,
  tail: string,
  extra: Readonly<Record<string, string>>,
): Promise<Answer> {
  const service = ask.route;
  if (tail === 'info/refs') return advertise(ask, gitDir);
  const askGit = () => collect([service, '--stateless-rpc', gitDir], environmentOf(ask, extra), bodyOf(ask));
  const isList = service === 'git-upload-pack' && isVersion2(ask);
  const body = await (isList ? orGit(() => listRefs(gitDir, bodyOf(ask)), askGit) : askGit());
  return answerWith(`application/x-${service}-result`, body);
}

/** The capabilities of git, by protocol and service. They are the same for all repositories. */
const abilities = new Map<string, Buffer>();

async function advertise(ask: Ask, gitDir: string): Promise<Answer> {
  const service = ask.route;
  const key = `${protocolOf(ask)} ${service}`;
  const known = abilities.get(key);
  const askGit = () => collect([service, '--stateless-rpc', '--advertise-refs', gitDir], environmentOf(ask, {}));
  const advertisement = await orGit(() => advertiseAgain(service, gitDir, known), askGit);
  const isUseful = service === 'git-receive-pack' || isVersion2(ask);
  if (isUseful && advertisement.length > 0) abilities.set(key, advertisement);
  const head = isVersion2(ask) ? '' : `${packetOf(`# service=${service}\n`)}0000`;
  return answerWith(`application/x-${service}-advertisement`, Buffer.concat([Buffer.from(head), advertisement]));
}

function advertiseAgain(service: string, gitDir: string, known: Buffer | undefined): Buffer {
  if (known === undefined) throw new AskGit('what git can do');
  if (service === 'git-receive-pack') return advertiseRefs(gitDir, known);
  // For a fetch in version 2 it says nothing of the repository.
  return known;
}

function isVersion2(ask: Ask): boolean {
  return protocolOf(ask).includes('version=2');
}

function protocolOf({ headers }: Ask): string {
  return headers['git-protocol'] ?? '';
}

function environmentOf(ask: Ask, extra: Readonly<Record<string, string>>): Record<string, string> {
  const name = whoIs(ask.caller) ?? 'nobody';
  const committer = { GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: `${name}@http.127.0.0.1` };
  return { ...gitEnv(), ...committer, ...extra, GIT_PROTOCOL: protocolOf(ask) };
}

function answerWith(type: string, body: Buffer): Answer {
  return {
    status: 200,
    headers: { 'content-type': type, 'cache-control': 'no-cache, max-age=0, must-revalidate' },
    body,
  };
}

function collect(
  [service = '', ...args]: readonly string[],
  env: Record<string, string>,
  input?: Buffer,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', [service.replace(/^git-/, ''), ...args], { env, stdio: ['pipe', 'pipe', 'ignore'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stdin.on('error', () => undefined);
    child.on('error', reject);
    child.on('close', () => resolve(Buffer.concat(chunks)));
    child.stdin.end(input);
  });
}
