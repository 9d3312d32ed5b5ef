// `npm run screenshots`: plays the demo, and takes the pictures of docs/ from its dashboard.
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { openBrowser } from './open-browser.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PICTURES = join(ROOT, 'docs', 'pictures');
const QUEUE = '/default/local/demo/shop/main';

interface Picture {
  readonly name: string;
  readonly path: string;
  /** Present as soon as the page is there. */
  readonly shown: string;
  readonly height: number;
}

async function playDemo(folder: string): Promise<string> {
  const child = spawn(process.execPath, [join(ROOT, 'scripts', 'demo.mjs'), '--keep', '--folder', folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  for await (const piece of child.stdout) out += String(piece);
  const link = /^Look at it: (\S+)$/m.exec(out)?.[1];
  if (link === undefined) throw new Error(`The demo did not end well:\n${out.slice(-2_000)}`);
  return link;
}

/** The instant at which most was under test. */
async function findBusiest(page: Page): Promise<string> {
  const ref = { repo: { host: 'local', owner: 'demo', name: 'shop' }, targetBranch: 'main' };
  const ask = (name: string, body: object) =>
    page.evaluate(
      async ([operation, asked]) => {
        const headers = { 'content-type': 'application/json', 'x-organization': 'default' };
        const answer = await fetch(`/web/v1/${operation}`, { method: 'POST', headers, body: JSON.stringify(asked) });
        return answer.json() as Promise<Record<string, { at: string }[]>>;
      },
      [name, body] as const,
    );
  const { moments = [] } = await ask('listQueueMoments', { ...ref, limit: 200 });
  let best = { at: moments[0]?.at ?? '', runs: -1 };
  for (const { at } of moments) {
    const { testRuns = [] } = await ask('getMergeQueueTestingDetails', { ...ref, at, includeDecided: true });
    if (testRuns.length > best.runs) best = { at, runs: testRuns.length };
  }
  return best.at;
}

const folder = await mkdtemp(join(tmpdir(), 'sluice-pictures-'));
const place = join(folder, 'demo');
const link = await playDemo(place);
const browser = await openBrowser();
if (typeof browser === 'string') throw new Error(browser);
try {
  await mkdir(PICTURES, { recursive: true });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1 });
  await page.goto(link);
  await page.getByRole('heading', { name: 'Queues' }).waitFor();
  const at = encodeURIComponent(await findBusiest(page));
  const pictures: readonly Picture[] = [
    { name: 'queue', path: `${QUEUE}?at=${at}`, shown: '.lanes', height: 860 },
    { name: 'removed', path: `${QUEUE}/pr/4`, shown: '.timeline', height: 900 },
    { name: 'landed', path: `${QUEUE}/pr/5`, shown: '.proof', height: 980 },
    { name: 'health', path: `${QUEUE}/health?days=1`, shown: '.chart', height: 720 },
    { name: 'landings', path: `${QUEUE}/landings`, shown: 'table', height: 640 },
  ];
  for (const { name, path, shown, height } of pictures) {
    await page.setViewportSize({ width: 1280, height });
    await page.goto(new URL(path, link).href);
    await page.locator(shown).first().waitFor();
    await page.waitForTimeout(400);
    await page.screenshot({ path: join(PICTURES, `${name}.png`) });
  }
} finally {
  await browser.close();
  process.kill(Number(await readFile(join(place, 'server.pid'), 'utf8')), 'SIGTERM');
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
