import { spawn } from 'node:child_process';
import { gunzipSync } from 'node:zlib';
import { AskGit, orGit } from '../git-files/object-files.ts';
import type { Answer } from './answer.ts';
import { gitEnv } from './git.ts';
import { advertiseRefs, listRefs, packetOf, readPackets } from './list-refs.ts';

const PATH = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/;

/** A request of git over HTTP. */
export interface GitAsk extends GitPlace {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  /** Login of the account. */
  readonly who: string | undefined;
}

export interface GitPlace {
  /** `owner/name`. */
  readonly fullName: string;
  readonly service: string;
  /** The last part of the path. */
  readonly tail: string;
}

interface Command {
  readonly ref: string;
  readonly before: string;
  readonly after: string;
}

/** Undefined when the request is none of git's. */
export function findGitPlace(path: string, query: URLSearchParams): GitPlace | undefined {
  const [, owner, name, tail] = PATH.exec(path) ?? [];
  if (owner === undefined || name === undefined || tail === undefined) return undefined;
  const service = tail === 'info/refs' ? (query.get('service') ?? 'git-upload-pack') : tail;
  return { fullName: `${owner}/${name}`, service, tail };
}

/** No hook of the repository runs. */
export const NO_HOOKS = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.hooksPath', GIT_CONFIG_VALUE_0: '/dev/null' };

/** Parses the commands of a push: `old new ref`. Zeros stand for a ref that does not exist. */
export function readCommands(ask: GitAsk): readonly Command[] {
  return readPackets(bodyOf(ask)).flatMap((packet) => {
    const [, before, after, ref] = /^([0-9a-f]{40}) ([0-9a-f]{40}) ([^\s\0]+)/.exec(packet) ?? [];
    return before === undefined || after === undefined || ref === undefined ? [] : [{ before, after, ref }];
  });
}

function bodyOf({ body, headers }: GitAsk): Buffer {
  return headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
}

/** Serves as `git http-backend` does, without starting that process. Lists of refs are read without git. */
export async function runBackend(
  ask: GitAsk,
  gitDir: string,
  extra: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { service } = ask;
  if (ask.tail === 'info/refs') return advertise(ask, gitDir);
  const askGit = () => collect([service, '--stateless-rpc', gitDir], environmentOf(ask, extra), bodyOf(ask));
  const isList = service === 'git-upload-pack' && isVersion2(ask);
  const body = await (isList ? orGit(() => listRefs(gitDir, bodyOf(ask)), askGit) : askGit());
  return answerWith(`application/x-${service}-result`, body);
}

/** The capabilities of git, by protocol and service. They are the same for all repositories. */
const abilities = new Map<string, Buffer>();

async function advertise(ask: GitAsk, gitDir: string): Promise<Answer> {
  const { service } = ask;
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

function isVersion2(ask: GitAsk): boolean {
  return protocolOf(ask).includes('version=2');
}

function protocolOf({ headers }: GitAsk): string {
  return headers['git-protocol'] ?? '';
}

function environmentOf(ask: GitAsk, extra: Readonly<Record<string, string>>): Record<string, string> {
  const name = ask.who ?? 'nobody';
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
