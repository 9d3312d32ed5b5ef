import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median, p95, printFigure, progress } from './lib/figure.ts';
import { call, createWorld, QUEUE } from './lib/world.ts';
import { measurePages } from './web-pages.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUILT = join(ROOT, '.cache', 'web');
const STARTS = 3;
const READS = 60;
const GOALS = { plainKb: 60, chartsKb: 90, startMs: 1_000, healthMs: 100 } as const;

/** The dashboard: what it weighs, how fast it is there, and how it keeps up. `--seconds 10` shortens the flood. */
export async function run(words: readonly string[] = []): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: { seconds: { type: 'string', default: '60' } },
  });
  const isAsked = (part: string) => positionals.length === 0 || positionals.includes(part);
  const { ensureWeb } = await import(new URL('../scripts/lib/build-web.mjs', import.meta.url).href);
  await ensureWeb();
  if (isAsked('size')) measureSize();
  if (isAsked('start')) await measureStart();
  if (isAsked('health')) await measureHealth();
  await measurePages({ isAsked, floodSeconds: Number(values.seconds) });
}

function measureSize(): void {
  const { html } = JSON.parse(readFileSync(join(BUILT, 'manifest.json'), 'utf8')) as { readonly html: string };
  const first = [...html.matchAll(/\/assets\/([^"]+)/g)].map(([, file]) => file as string);
  const plain = withImports(first);
  const health = readFileSync(join(BUILT, first.find((file) => /^main-.*\.js$/.test(file)) ?? ''), 'utf8').match(
    /health-[A-Z0-9]+\.js/,
  );
  const charts = withImports([...plain, ...(health ?? [])]);
  printFigure({ name: 'web.first-load', value: weigh(plain), unit: 'kB gzip', limit: GOALS.plainKb });
  printFigure({ name: 'web.first-load.charts', value: weigh(charts), unit: 'kB gzip', limit: GOALS.chartsKb });
}

/** Files and all that they import before they run. `import("…")` comes later, and is not among them. */
function withImports(files: readonly string[]): ReadonlySet<string> {
  const all = new Set<string>();
  const visit = (file: string): void => {
    if (all.has(file)) return;
    all.add(file);
    if (!file.endsWith('.js')) return;
    const text = readFileSync(join(BUILT, file), 'utf8');
    for (const [, imported] of text.matchAll(/(?:from|import)"\.\/([^"]+)"/g)) visit(imported as string);
  };
  files.forEach(visit);
  return all;
}

function weigh(files: ReadonlySet<string>): number {
  return [...files].reduce((sum, file) => sum + statSync(join(BUILT, `${file}.gz`)).size, 0) / 1_000;
}

/** How much longer `npm start` takes when the dashboard must be bundled first. */
async function measureStart(): Promise<void> {
  progress(`web start: ${STARTS} times with a bundle, ${STARTS} without`);
  const times = { bundled: [] as number[], fresh: [] as number[] };
  const aside = `${BUILT}.aside`;
  for (let count = 0; count < STARTS; count += 1) {
    times.bundled.push(await startOnce());
    renameSync(BUILT, aside);
    try {
      times.fresh.push(await startOnce());
    } finally {
      rmSync(BUILT, { recursive: true, force: true });
      renameSync(aside, BUILT);
    }
  }
  const [fresh, baseline] = [median(times.fresh), median(times.bundled)];
  printFigure({ name: 'web.start', value: fresh, baseline, unit: 'ms' });
  printFigure({ name: 'web.start.longer', value: fresh - baseline, unit: 'ms', limit: GOALS.startMs });
}

async function startOnce(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const env = { ...process.env, SLUICE_DATA: folder, SLUICE_PORT: '0', SLUICE_LOG_LEVEL: 'error' };
  const begun = performance.now();
  const child = spawn(process.execPath, [join(ROOT, 'scripts', 'start.mjs')], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    for await (const line of createInterface({ input: child.stdout })) if (line.startsWith('Sluice listens on ')) break;
    return performance.now() - begun;
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Three months of a busy queue. The first look reads all of them, further ones the present day. */
async function measureHealth(): Promise<void> {
  progress('web health: 100,000 ended entries');
  const world = await createWorld({ pullRequests: 10, live: 5, ended: 100_000 });
  const server = await world.start();
  try {
    const look = async () => {
      const begun = performance.now();
      await call(server.url, '/getQueueHealth', { ...QUEUE, days: 90 });
      return performance.now() - begun;
    };
    printFigure({ name: 'web.health.first', value: await look(), unit: 'ms' });
    const times: number[] = [];
    const before = await server.cpuMicroseconds();
    for (let count = 0; count < READS; count += 1) times.push(await look());
    const cpuMs = ((await server.cpuMicroseconds()) - before) / 1_000 / READS;
    printFigure({ name: 'web.health.cpu', value: cpuMs, unit: 'ms/look' });
    printFigure({ name: 'web.health.p95', value: p95(times), unit: 'ms', limit: GOALS.healthMs });
  } finally {
    await server.stop();
    world.remove();
  }
}
