import { spawn } from 'node:child_process';
import { gunzipSync } from 'node:zlib';
import type { Answer } from './answer.ts';
import { gitEnv } from './git.ts';

const PATH = /^\/(.+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/;

/** A request of git over HTTP. */
export interface GitAsk extends GitPlace {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  /** Login of the account. */
  readonly who: string | undefined;
}

export interface GitPlace {
  /** `owner/name`. An owner may be a group in groups. */
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

function packetOf(line: string): string {
  return (Buffer.byteLength(line) + 4).toString(16).padStart(4, '0') + line;
}

/** The texts of packets up to the first flush packet. */
function readPackets(body: Buffer): readonly string[] {
  const texts: string[] = [];
  let at = 0;
  while (at + 4 <= body.length) {
    const length = Number.parseInt(body.toString('latin1', at, at + 4), 16);
    if (length > 4) texts.push(body.toString('utf8', at + 4, at + length));
    // 1 separates two sections.
    else if (length !== 1) break;
    at += Math.max(4, length);
  }
  return texts;
}

/** Serves as `git http-backend` does, without starting that process. */
export async function runBackend(
  ask: GitAsk,
  gitDir: string,
  extra: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { service } = ask;
  if (ask.tail === 'info/refs') return advertise(ask, gitDir);
  const body = await collect([service, '--stateless-rpc', gitDir], environmentOf(ask, extra), bodyOf(ask));
  return answerWith(`application/x-${service}-result`, body);
}

/** The abilities that git tells before a fetch in version 2, by protocol. They are the same for all repositories. */
const abilities = new Map<string, Buffer>();

async function advertise(ask: GitAsk, gitDir: string): Promise<Answer> {
  const { service } = ask;
  const isKept = service === 'git-upload-pack' && isVersion2(ask);
  const known = isKept ? abilities.get(protocolOf(ask)) : undefined;
  const advertisement =
    known ?? (await collect([service, '--stateless-rpc', '--advertise-refs', gitDir], environmentOf(ask, {})));
  if (isKept && advertisement.length > 0) abilities.set(protocolOf(ask), advertisement);
  const head = isVersion2(ask) ? '' : `${packetOf(`# service=${service}\n`)}0000`;
  return answerWith(`application/x-${service}-advertisement`, Buffer.concat([Buffer.from(head), advertisement]));
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
