import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { CandidateView } from '../src/app/queue/candidate-view.ts';
import { Prng } from '../src/lib/prng.ts';
import { type Child, startChild } from './lib/child.ts';
import { printFigure, progress } from './lib/figure.ts';
import { call, createRepository } from './lib/world.ts';

const OPTIONS = {
  minutes: { type: 'string', default: '10' },
  prs: { type: 'string', default: '4000' },
  folder: { type: 'string' },
} as const;

const SAMPLE_MS = 20_000;
/** Pull requests in each queue at a time. */
const DEPTH = 12;
const LOOK_MS = 100;
const MEGABYTE = 1024 * 1024;
const TESTS = 40;

type Sample = Readonly<Record<(typeof MEASURES)[number], number>>;
const MEASURES = [
  'prs',
  'rss MB',
  'heap MB',
  'fds',
  'threads',
  'children',
  'store MB',
  'other files',
  'other MB',
  'temporary files',
  'refs',
  'git files',
  'git MB',
  'log MB',
] as const;

/**
 * A week of a busy team in minutes: pull requests come, are tested, land, fail and are cancelled in two queues, one with a CI that
 * reports and uploads results, one with the built-in runner, while people look. Prints what a pull request leaves behind.
 */
export async function run(words: readonly string[] = []): Promise<void> {
  const { values } = parseArgs({ args: [...words], options: OPTIONS });
  const folder = values.folder ?? mkdtempSync(path.join(tmpdir(), 'sluice-bench-soak-'));
  const soak = new Soak(folder, Number(values.prs));
  try {
    await soak.start();
    const samples = await soak.run(Number(values.minutes) * 60_000);
    printGrowth(samples);
  } finally {
    await soak.stop();
    if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** From the second half, in which caches are full. */
function printGrowth(samples: readonly Sample[]): void {
  const [middle, last] = [samples[Math.floor(samples.length / 2)], samples.at(-1)];
  if (middle === undefined || last === undefined) return;
  const hundreds = (last.prs - middle.prs) / 100;
  printFigure({ name: 'soak.prs', value: last.prs, unit: 'pull requests' });
  for (const name of MEASURES.slice(1)) {
    const [word, unit = 'count'] = /^(.*) (MB|files)$/.exec(name)?.slice(1) ?? [name];
    const key = `soak.${word?.replaceAll(' ', '_')}${unit === 'files' ? '.files' : ''}`;
    printFigure({ name: key, value: last[name], unit, baseline: middle[name] });
    printFigure({ name: `${key}.growth`, value: (last[name] - middle[name]) / hundreds, unit: `${unit} per 100 prs` });
  }
}

interface Line {
  readonly queue: { readonly repo: object; readonly targetBranch: string };
  readonly name: string;
  readonly git: string;
  readonly hasCi: boolean;
}

class Soak {
  readonly #folder: string;
  readonly #prs: number;
  readonly #random = new Prng('soak');
  readonly #lines: readonly Line[];
  #child: Child | undefined;
  #token = '';
  #submitted = 0;
  #isOver = false;

  constructor(folder: string, prs: number) {
    this.#folder = folder;
    this.#prs = prs;
    this.#lines = ['reported', 'built-in'].map((name, index) => ({
      name,
      hasCi: index === 0,
      git: path.join(folder, `${name}.git`),
      queue: { repo: { host: 'local', owner: 'acme', name }, targetBranch: 'main' },
    }));
  }

  async start(): Promise<void> {
    const [dataFolder, temporary] = [path.join(this.#folder, 'data'), path.join(this.#folder, 'tmp')];
    mkdirSync(temporary, { recursive: true });
    for (const { git } of this.#lines) createRepository(git, Math.ceil(this.#prs / 2));
    const environment = {
      ...{ SLUICE_DATA: dataFolder, SLUICE_PORT: '0', SLUICE_RUNNER_PROTECTION: 'none', SLUICE_RUNNER_TRUST: 'all' },
      SLUICE_BACKUP_EVERY: '1m',
      SLUICE_BACKUP_KEEP: '2',
    };
    const log = openSync(path.join(this.#folder, 'log'), 'a');
    const script = new URL('./lib/sluice-child.ts', import.meta.url);
    this.#child = await startChild(script, { environment }, { log, temporary });
    this.#token = readFileSync(path.join(dataFolder, 'admin-token'), 'utf8').trim();
    for (const { queue, git, hasCi } of this.#lines) {
      const checks = hasCi ? {} : { checks: [{ name: 'unit', command: 'test -e base.txt' }] };
      await this.#call('/registerRepository', { repo: queue.repo, git, ...checks });
      const settings = { requiredStatuses: ['unit'], mode: 'SINGLE', concurrency: 3, batch: hasCi };
      const batching = hasCi ? { batchingMinSize: 3, batchingMaxWaitTimeMinutes: 0 } : {};
      await this.#call('/createQueue', { ...queue, ...settings, ...batching });
    }
  }

  async run(durationMs: number): Promise<readonly Sample[]> {
    const samples: Sample[] = [];
    const work = Promise.all(this.#lines.flatMap((line) => [this.#author(line), this.#ci(line), this.#visitor(line)]));
    work.catch(() => undefined);
    const endsAt = performance.now() + durationMs;
    while (performance.now() < endsAt && !(this.#isOver && samples.length > 2)) {
      await Promise.race([sleep(SAMPLE_MS), work]);
      samples.push(await this.#sample());
      progress(JSON.stringify(samples.at(-1)));
    }
    this.#isOver = true;
    await work;
    return samples;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#child?.stop();
  }

  #call<Answer = unknown>(operation: string, body: unknown): Promise<Answer> {
    return call(this.#child?.url ?? '', this.#token, operation, body) as Promise<Answer>;
  }

  /** Keeps the queue filled. One pull request of twenty is cancelled. */
  async #author({ queue }: Line): Promise<void> {
    for (let number = 1; number <= this.#prs / 2 && !this.#isOver; ) {
      const { enqueuedPullRequests } = await this.#call<{ enqueuedPullRequests: object[] }>('/getQueue', queue);
      const room = DEPTH - enqueuedPullRequests.length;
      for (let index = 0; index < room && number <= this.#prs / 2; index += 1, number += 1) {
        await this.#call('/submitPullRequest', { ...queue, pr: { number } });
        this.#submitted += 1;
        if (this.#random.chance(0.05))
          await this.#call('/cancelPullRequest', { ...queue, pr: { number } }).catch(() => undefined);
      }
      await sleep(LOOK_MS);
    }
  }

  /** One run of twenty-five fails, and each uploads a report in which a test is flaky. */
  async #ci({ queue, hasCi, name }: Line): Promise<void> {
    const done = new Set<string>();
    while (hasCi && !this.#isOver) {
      const { testRuns } = await this.#call<{ testRuns: readonly CandidateView[] }>(
        '/getMergeQueueTestingDetails',
        queue,
      );
      for (const { testRunId, testBranchSha } of testRuns) {
        if (testBranchSha === '' || done.has(testRunId)) continue;
        done.add(testRunId);
        const conclusion = this.#random.chance(0.04) ? 'FAILURE' : 'SUCCESS';
        await this.#upload(name, testBranchSha);
        const report = { repo: queue.repo, testRunId, name: 'unit', status: 'COMPLETED', conclusion };
        await this.#call('/reportCheck', report).catch(() => undefined);
      }
      await sleep(LOOK_MS);
    }
  }

  async #upload(name: string, sha: string): Promise<void> {
    const cases = Array.from({ length: TESTS }, (_, index) => {
      const failure = this.#random.chance(0.01) ? '<failure message="no">no</failure>' : '';
      return `<testcase name="test ${index}" classname="a" time="0.1">${failure}</testcase>`;
    });
    const query = new URLSearchParams({
      ...{ org_url_slug: 'default', repo_host: 'local', repo_owner: 'acme', repo_name: name },
      ...{ sha, branch: 'main', job_name: 'unit' },
    });
    await fetch(`${this.#child?.url}/v1/flaky-tests/upload-results?${query}`, {
      method: 'POST',
      headers: { 'x-api-token': this.#token, 'content-type': 'application/xml' },
      body: `<testsuite name="s">${cases.join('')}</testsuite>`,
    });
  }

  /** Reads pages, and follows the stream of events for a moment. */
  async #visitor({ queue, name }: Line): Promise<void> {
    while (!this.#isOver) {
      await this.#call('/getQueue', queue);
      await this.#call('/listQueues', {});
      await this.#call('/getSubmittedPullRequest', { ...queue, pr: { number: 1 }, includeTimeline: true }).catch(
        () => undefined,
      );
      await this.#call('/listEvents', { order: 'DESC', limit: 50 });
      const over = AbortSignal.timeout(2_000);
      const headers = { 'x-api-token': this.#token };
      const stream = await fetch(`${this.#child?.url}/v1/events`, { headers, signal: over });
      await stream.text().catch(() => undefined);
      if (this.#random.chance(0.1)) progress(`${name}: ${this.#submitted} submitted`);
    }
  }

  async #sample(): Promise<Sample> {
    const child = this.#child as Child;
    const pid = child.process.pid as number;
    const list = (what: string) => readdirSync(`/proc/${pid}/${what}`);
    const children = list('task').flatMap((task) =>
      (orNothing(() => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')) ?? '')
        .trim()
        .split(' ')
        .filter(Boolean),
    );
    const files = [...filesIn(path.join(this.#folder, 'data'))];
    const isStore = ({ file }: Found) => file.includes('sluice.db') || file.includes(`${path.sep}backups${path.sep}`);
    const git = this.#lines.flatMap((line) => [...filesIn(line.git)]);
    const refs = this.#lines.map((line) => countRefs(line.git));
    return {
      prs: this.#submitted,
      'heap MB': (await child.usedBytes()) / MEGABYTE,
      'rss MB': child.memory().now / MEGABYTE,
      fds: list('fd').length,
      threads: list('task').length,
      children: children.length,
      'store MB': megabytes(files.filter(({ file }) => file.includes('sluice.db'))),
      'other files': files.filter((each) => !isStore(each)).length,
      'other MB': megabytes(files.filter((each) => !isStore(each))),
      'temporary files': [...filesIn(path.join(this.#folder, 'tmp'))].length,
      refs: refs.reduce((sum, count) => sum + count, 0) - this.#prs,
      'git files': git.length,
      'git MB': megabytes(git),
      'log MB': statSync(path.join(this.#folder, 'log')).size / MEGABYTE,
    };
  }
}

interface Found {
  readonly file: string;
  readonly size: number;
}

/** Without those that vanish meanwhile. */
function* filesIn(folder: string): Generator<Found> {
  for (const entry of orNothing(() => readdirSync(folder, { withFileTypes: true })) ?? []) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(file);
    else yield { file, size: statSync(file, { throwIfNoEntry: false })?.size ?? 0 };
  }
}

function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function megabytes(files: readonly Found[]): number {
  return files.reduce((sum, { size }) => sum + size, 0) / MEGABYTE;
}

function countRefs(git: string): number {
  return execFileSync('git', ['-C', git, 'for-each-ref', '--format=x'], { maxBuffer: 64 * MEGABYTE }).length / 2;
}
