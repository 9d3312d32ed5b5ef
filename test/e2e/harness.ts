// A real server, in this process or in its own, on a temporary data folder, and a small client.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfig } from '../../src/config/config.ts';
import { start } from '../../src/main.ts';
import { collectOutput, endWithProcess } from '../helpers/children.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { SLUICE } from '../helpers/sluice-command.ts';

const START_TIMEOUT_MS = 120_000;
const LONGEST_PAUSE_MS = 500;
/** Most tests upload nothing, and the thread of ingest loads as many modules as the server. */
const INGEST_START_MS = 600_000;
/** A start without trials of sandboxes. Tests of checks that need one set the variable to nothing. */
const TRUSTING = { SLUICE_RUNNER_TRUST: 'all', SLUICE_RUNNER_PROTECTION: 'none' };

export type Environment = Readonly<Record<string, string>>;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A `sluice serve` process, in whichever way it ends. */
export interface Launched {
  readonly child: ChildProcess;
  readonly exited: Promise<Exit>;
  readonly output: { out: string; err: string };
}

const folders: string[] = [];
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** `command` is what Node runs. */
export function launch(environment: Environment, command = SLUICE): Launched {
  const child = spawn(process.execPath, [...command, 'serve'], {
    // Trusts the checks of the tests, so that they run on a machine without protection too, and tries none.
    env: {
      ...{
        PATH: process.env['PATH'],
        TMPDIR: tmpdir(),
        HOME: environment['SLUICE_DATA'] ?? tmpdir(),
        SLUICE_LOG_LEVEL: 'warn',
        ...TRUSTING,
      },
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithProcess(child);
  const output = collectOutput(child);
  const exited = new Promise<Exit>((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
  return { child, exited, output };
}

export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly dataFolder: string;
  /** Of the first administrator. */
  readonly token: string;
  readonly api: Client;
  /** The same over the paths of the reference product. */
  readonly trunk: Client;
  /** For the commands of an administrator. */
  readonly env: Environment;
  stop(): Promise<unknown>;
}

export interface ServerProcess extends TestServer, Launched {
  stop(): Promise<Exit>;
}

/**
 * In this process, with these variables alone, without output and signals: for tests of what a server does, not of how
 * it starts and ends. Starting a process takes three times as long, most of it for loading modules.
 */
export async function startHere(environment: Environment = {}): Promise<TestServer> {
  const { dataFolder, variables, remove } = await prepareData(environment);
  const parsed = parseConfig({ ...TRUSTING, ...variables });
  assert.ok('config' in parsed, JSON.stringify(parsed));
  const { url, stop } = await start(parsed.config, silentLog, { ingestStartMs: INGEST_START_MS });
  const token = await readToken(environment, dataFolder);
  return describeServer({ url, token, dataFolder, stop: () => stop().then(remove) });
}

/** A process, as people run it. */
export async function startServer(environment: Environment = {}, command = SLUICE): Promise<ServerProcess> {
  const { dataFolder, variables, remove } = await prepareData(environment);
  const launched = launch(variables, command);
  const { child, exited, output } = launched;
  const url = await until('the server listens', START_TIMEOUT_MS, async () => {
    assert.equal(child.exitCode, null, `the server ended:\n${output.err}`);
    return /^Sluice listens on (\S+)$/m.exec(output.out)?.[1];
  });
  const token = await readToken(environment, dataFolder);
  const stop = async () => {
    child.kill('SIGTERM');
    const exit = await exited;
    await remove();
    return exit;
  };
  return { ...launched, ...describeServer({ url, token, dataFolder, stop }) };
}

async function readToken(environment: Environment, dataFolder: string): Promise<string> {
  return environment['SLUICE_ADMIN_TOKEN'] ?? (await readFile(join(dataFolder, 'admin-token'), 'utf8')).trim();
}

/** A port of its own, and a data folder that goes with the server where none is given. */
async function prepareData(environment: Environment) {
  const given = environment['SLUICE_DATA'];
  const dataFolder = given ?? (await makeFolder());
  return {
    dataFolder,
    variables: { SLUICE_PORT: '0', SLUICE_DATA: dataFolder, ...environment },
    remove: async () => {
      if (given === undefined) await rm(dataFolder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function describeServer<Stop>(server: Pick<TestServer, 'url' | 'token' | 'dataFolder'> & { stop(): Promise<Stop> }) {
  const { url, token } = server;
  return {
    ...server,
    port: Number(new URL(url).port),
    api: createClient({ url: `${url}/v1`, token }),
    trunk: createClient({ url: `${url}/trunk/v1`, token }),
    env: { SLUICE_URL: url, SLUICE_TOKEN: token },
  };
}

/** It goes with the process of the tests. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  folders.push(folder);
  return folder;
}

/** For `until`: no server answers there any more. */
export function isGone(url: string): Promise<true | undefined> {
  return fetch(`${url}/healthz`).then(
    () => undefined,
    () => true,
  );
}

/** Polls until there is an answer. At the deadline it throws an error that names the condition. */
export async function until<T>(what: string, timeoutMs: number, ask: () => Promise<T | undefined>): Promise<T> {
  const startedAt = performance.now();
  const deadline = startedAt + timeoutMs;
  for (;;) {
    // Asks once more after the deadline: on a busy machine this process may have slept through the answer.
    const isLate = performance.now() > deadline;
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (isLate) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`);
    // The longer it takes, the less often it asks: asking takes time away from the server.
    const pauseMs = Math.min(LONGEST_PAUSE_MS, 20 + (performance.now() - startedAt) / 4);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly requestId: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface Client {
  readonly url: string;
  readonly token: string | undefined;
  /** The same server with another token, or none. */
  withToken(token: string | undefined): Client;
  /** The same with a new token of these scopes. */
  withScopes(...scopes: readonly string[]): Promise<Client>;
  /** The same, acting for this organization. */
  actingFor(organization: string): Client;
  send(path: string, init?: RequestInit & { readonly duplex?: 'half' }): Promise<Answer>;
  post(operation: string, body: unknown): Promise<Answer>;
  /** The answer of a call that must succeed. */
  ok<T = Record<string, unknown>>(operation: string, body: unknown): Promise<T>;
  /** The problem of a call that must be refused, as `404 QUEUE_NOT_FOUND`. */
  refused(expected: string, operation: string, body: unknown): Promise<ProblemBody>;
}

export function createClient(of: {
  readonly url: string;
  readonly token: string | undefined;
  readonly organization?: string;
}): Client {
  const { url, token, organization } = of;
  const send: Client['send'] = async (path, init = {}) => {
    const headers = {
      ...(token === undefined ? {} : { 'x-api-token': token }),
      ...(organization === undefined ? {} : { 'x-organization': organization }),
      ...(init.headers as object),
    };
    const response = await fetch(`${url}/${path}`, { ...init, headers });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const post: Client['post'] = (operation, body) =>
    send(operation, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const ok = async <T>(operation: string, body: unknown): Promise<T> => {
    const answer = await post(operation, body);
    assert.equal(answer.status, 200, `${operation}: ${answer.text}`);
    return JSON.parse(answer.text) as T;
  };
  return {
    url,
    token,
    withToken: (other) => createClient({ ...of, token: other }),
    withScopes: async (...scopes) => {
      const made = await ok<{ token: string }>('createApiToken', { name: scopes.join(), scopes });
      return createClient({ ...of, token: made.token });
    },
    actingFor: (other) => createClient({ ...of, organization: other }),
    send,
    post,
    ok,
    refused: async (expected, operation, body) => problemOf(await post(operation, body), expected),
  };
}

/** Every refusal is a problem document with the request id of its header. */
export function problemOf(answer: Answer, expected: string): ProblemBody {
  const problem = parseProblem(answer);
  assert.equal(`${answer.status} ${problem.code}`, expected, problem.detail);
  return problem;
}

function parseProblem({ status, headers, text }: Answer): ProblemBody {
  assert.equal(headers.get('content-type'), 'application/problem+json', `${status} ${text}`);
  const problem = JSON.parse(text) as ProblemBody;
  assert.equal(problem.status, status);
  assert.equal(problem.requestId, headers.get('x-request-id'));
  assert.equal(problem.type, `/docs#${problem.code}`);
  assert.match(problem.detail, /[.?](?: |$)/, 'the detail is a sentence');
  assert.ok(problem.title.length > 0);
  return problem;
}

export interface RepositoryRef {
  readonly host: string;
  readonly owner: string;
  readonly name: string;
}
