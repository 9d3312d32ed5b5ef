import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import zlib from 'node:zlib';
import { printFigure, progress } from './lib/figure.ts';
import type { HostileAnswer, HostileWork } from './lib/hostile-sender.ts';
import { call, QUEUE, REPO, type World } from './lib/world.ts';

const LIMIT = 20 * 1024 * 1024 - 1_024;
const FORK_LIMIT = 256 * 1024 - 1_024;
/** The body limit for texts, keys and numbers, with some room. */
const CONTENT = 4 * 1024 * 1024 - 100_000;
const AT_ONCE = 8;
const GOAL_STALL_MS = 250;
const GOAL_MEMORY_MB = 250;

/** Bodies of nearly this size whose shape costs the parser the most. */
const SHAPES: Readonly<Record<string, (bytes: number) => string>> = {
  'lists-in-lists': (bytes) => `{"a":[${repeat('[[[[[[[[]]]]]]]]', bytes)}]}`,
  'deepest-lists': (bytes) => `{"a":[${repeat(`${'['.repeat(62)}${']'.repeat(62)}`, bytes)}]}`,
  'too-deep': (bytes) => '['.repeat(bytes),
  'short-keys': (bytes) => `{${repeatIndexed((index) => `"${index.toString(36)}":0`, bytes)}}`,
  'same-key': (bytes) => `{${repeat('"a":0', bytes)}}`,
  objects: (bytes) => `{"a":[${repeat('{"b":{}}', bytes)}]}`,
  numbers: (bytes) => `{"a":[${repeat('-1.5e-300', bytes)}]}`,
  'one-number': (bytes) => `{"a":${'1'.repeat(bytes)}}`,
  'escapes-in-texts': (bytes) => `{"a":[${repeat(`"${'\\u00e9'.repeat(10_000)}"`, bytes)}]}`,
  'one-text-of-escapes': (bytes) => `{"a":"${'\\n'.repeat(bytes / 2)}"}`,
  'wide-texts': (bytes) => `{"a":[${repeat(`"${'x'.repeat(60_000)}\\u4e2d"`, bytes)}]}`,
  'emoji-texts': (bytes) => `{"a":[${repeat(`"${'\u{1f600}'.repeat(15_000)}"`, bytes)}]}`,
  'long-keys': (bytes) => `{${repeatIndexed((index) => `"${index}${'k'.repeat(200)}":0`, bytes)}}`,
  'wrong-type': (bytes) => `{"repo":[${repeat('"x"', bytes)}],"prs":[${repeat('{}', 100)}]}`,
  'most-values': (bytes) => `{"a":[${repeat(`"${'v'.repeat(38)}"`, Math.min(bytes, CONTENT))}]}${blanks(bytes)}`,
  'most-keys': (bytes) =>
    `{${repeatIndexed((index) => `"${index}${'k'.repeat(220)}":0`, Math.min(bytes, CONTENT))}}${blanks(bytes)}`,
  'most-wide-texts': (bytes) =>
    `{"a":[${repeat(`"${'x'.repeat(60_000)}\\u4e2d"`, Math.min(bytes, CONTENT))}],"b":"\u4e2d"}${blanks(bytes)}`,
  'impacted-targets': (bytes) => `{"impactedTargets":[${repeat('[[[[[[[[]]]]]]]]', bytes)}]}`,
  blanks: (bytes) => `${' '.repeat(bytes)}{}`,
  'cut-off': (bytes) => `{"a":[${repeat('"a"', bytes)}`,
};

/**
 * The delay that an anonymous client, or a read-only token, can cause for others: eight bodies at once, shape by shape.
 */
export async function measureHostileBodies(world: World, part = ''): Promise<void> {
  for (const [shape, make] of Object.entries(SHAPES).filter(([name]) => name.includes(part))) {
    const text = Buffer.from(make(LIMIT));
    await measureShape(world, `read.${shape}`, { path: '/v1/getSubmittedPullRequests', token: 'read', body: text });
    const packed = zlib.gzipSync(text, { level: 6 });
    const headers = { 'content-encoding': 'gzip' };
    await measureShape(world, `read.${shape}.gzip`, {
      path: '/v1/getSubmittedPullRequests',
      token: 'read',
      body: packed,
      headers,
    });
  }
  const forked = { 'x-forked-workflow-run-id': '1' };
  for (const shape of ['lists-in-lists', 'short-keys', 'impacted-targets', 'escapes-in-texts'].filter((name) =>
    name.includes(part),
  )) {
    const make = SHAPES[shape] as (bytes: number) => string;
    const path = '/v1/setImpactedTargets';
    const packed = zlib.gzipSync(make(LIMIT));
    await measureShape(world, `fork.${shape}.gzip`, {
      path,
      body: packed,
      headers: { ...forked, 'content-encoding': 'gzip' },
    });
    await measureShape(world, `fork.${shape}`, { path, body: Buffer.from(make(FORK_LIMIT)), headers: forked });
    await measureShape(world, `fork.${shape}.large`, { path, body: Buffer.from(make(LIMIT)), headers: forked });
  }
  const unsigned = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}`, 'x-github-event': 'push' };
  const delivery = { path: '/webhooks/github', body: Buffer.alloc(LIMIT, 'x'), headers: unsigned };
  await measureShape(world, 'webhook.unsigned', delivery);
}

interface Hostile {
  readonly path: string;
  readonly token?: 'read';
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

async function measureShape(world: World, name: string, hostile: Hostile): Promise<void> {
  progress(`api: ${AT_ONCE} hostile bodies at once, ${name}`);
  const child = await world.start();
  const { token } = (await call(child.url, world.token, '/createApiToken', { name, scopes: ['read'] })) as {
    token: string;
  };
  await call(child.url, token, '/getQueue', { ...QUEUE, repo: REPO });
  const before = child.memory().now;
  const headers = { ...hostile.headers, ...(hostile.token === undefined ? {} : { 'x-api-token': token }) };
  const sent = sendElsewhere({ url: child.url, path: hostile.path, body: hostile.body, headers, atOnce: AT_ONCE });
  const longest = await longestWait(child.url, sent);
  const answers = await sent;
  console.error(`#   ${[...new Set(answers.map(({ status }) => status))].join(', ')}`);
  printFigure({ name: `api.hostile.${name}.stall`, value: longest, unit: 'ms', goal: GOAL_STALL_MS });
  const more = (child.memory().peak - before) / 1e6;
  printFigure({ name: `api.hostile.${name}.memory`, value: more, unit: 'MB more', goal: GOAL_MEMORY_MB });
  await child.stop();
}

/** Sends from another thread, so that sending does not disturb the measurement. */
async function sendElsewhere(work: HostileWork): Promise<readonly HostileAnswer[]> {
  const worker = new Worker(new URL('./lib/hostile-sender.ts', import.meta.url), { workerData: work });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

async function longestWait(url: string, during: Promise<unknown>): Promise<number> {
  let isOver = false;
  let longest = 0;
  const over = during.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const begun = performance.now();
    await (await fetch(`${url}/healthz`)).text();
    longest = Math.max(longest, performance.now() - begun);
    await sleep(2);
  }
  await over;
  return longest;
}

function repeat(item: string, bytes: number): string {
  const count = Math.max(1, Math.floor(bytes / (Buffer.byteLength(item) + 1)));
  return `${`${item},`.repeat(count - 1)}${item}`;
}

function repeatIndexed(item: (index: number) => string, bytes: number): string {
  const items: string[] = [];
  for (let length = 0, index = 0; length < bytes - 300; index += 1) {
    const next = item(index);
    length += next.length + 1;
    items.push(next);
  }
  return items.join(',');
}

/** Fills the body up to its size with blanks, which the parser skips. */
function blanks(bytes: number): string {
  return ' '.repeat(Math.max(0, bytes - 1.1 * CONTENT));
}
