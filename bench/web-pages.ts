import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openBrowser, signIn } from '../test/browser/open-browser.ts';
import { median, p95, printFigure, progress } from './lib/figure.ts';
import { createWebWorld, type FilledQueue, type WebWorld } from './lib/web-world.ts';
import { TOKEN } from './lib/world.ts';

const VIEWS = 5;
const EVENTS = 40;
const A_SECOND = 200;
const SENDERS = 16;
const GOALS = { scriptMs: 300, frameMs: 20, eventMs: 500, taskMs: 200 } as const;

interface Asked {
  readonly isAsked: (part: string) => boolean;
  readonly floodSeconds: number;
}

const QUEUES: Readonly<Record<string, FilledQueue>> = {
  view: { name: 'view', entries: 500 },
  scroll: { name: 'scroll', entries: 10_000 },
  event: { name: 'event', entries: 12 },
  flood: { name: 'flood', entries: 500 },
};

/** Real pages of a real server in a real browser. Each question has a server of its own, so that none slows another. */
export async function measurePages({ isAsked, floodSeconds }: Asked): Promise<void> {
  const asked = Object.keys(QUEUES).filter(isAsked);
  if (asked.length === 0) return;
  const browser = await openBrowser();
  if (typeof browser === 'string') return progress(`web: pages are not measured, as ${browser}`);
  try {
    for (const part of asked) await measurePart(browser, part, floodSeconds);
  } finally {
    await browser.close();
  }
}

async function measurePart(browser: Browser, part: string, floodSeconds: number): Promise<void> {
  const queue = QUEUES[part];
  if (queue === undefined) return;
  progress(`web ${part}: filling a queue with ${queue.entries} entries`);
  const world = await createWebWorld(queue);
  const context = await signedIn(browser, world);
  try {
    if (part === 'view') await measureView(context, world);
    if (part === 'scroll') await measureScroll(context, world);
    if (part === 'event') await measureEvents(context, world);
    if (part === 'flood') await measureFlood(context, world, floodSeconds);
  } finally {
    await context.close();
    await world.stop();
  }
}

async function signedIn(browser: Browser, { server }: WebWorld): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await signIn(page, server.url, TOKEN);
  await page.close();
  return context;
}

async function openQueue(context: BrowserContext, world: WebWorld): Promise<Page> {
  return showQueue(await context.newPage(), world);
}

async function showQueue(page: Page, { server, path }: WebWorld): Promise<Page> {
  await page.goto(server.url + path);
  await page.locator('.rows .entry').first().waitFor({ timeout: 60_000 });
  await page.locator('.lanes').waitFor({ timeout: 60_000 });
  return page;
}

/** Time in scripts until a queue of 500 entries is there. */
async function measureView(context: BrowserContext, world: WebWorld): Promise<void> {
  progress(`web view: ${VIEWS} first views of 500 entries`);
  const times: number[] = [];
  for (let count = 0; count < VIEWS; count += 1) {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Performance.enable');
    await showQueue(page, world);
    const { metrics } = await session.send('Performance.getMetrics');
    times.push((metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? 0) * 1_000);
    await page.close();
  }
  printFigure({ name: 'web.view.script', value: median(times), unit: 'ms', limit: GOALS.scriptMs });
}

/** Moves the page by a third of a screen with each of 300 frames. */
const SCROLL = `(async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const times = [];
  let before = await frame();
  for (let count = 0; count < 300; count += 1) {
    scrollBy(0, 300);
    const now = await frame();
    times.push(now - before);
    before = now;
  }
  return times;
})()`;

async function measureScroll(context: BrowserContext, world: WebWorld): Promise<void> {
  progress('web scroll: 10,000 entries');
  const page = await openQueue(context, world);
  const times = (await page.evaluate(SCROLL)) as number[];
  await page.close();
  printFigure({ name: 'web.scroll.frame', value: median(times), unit: 'ms', limit: GOALS.frameMs });
  printFigure({ name: 'web.scroll.frame.p95', value: p95(times), unit: 'ms' });
}

/** From the request that submits a pull request until the page counts it. Some follow each other at once. */
async function measureEvents(context: BrowserContext, world: WebWorld): Promise<void> {
  progress(`web event: ${EVENTS} submissions`);
  const page = await openQueue(context, world);
  await page.getByText('live', { exact: true }).waitFor();
  const times: number[] = [];
  for (let count = 0; count < EVENTS; count += 1) {
    const number = 13 + count;
    const shown = page.evaluate(`new Promise((resolve) => {
      const look = () => {
        const counts = [...document.querySelectorAll('main h2 .count')].map(({ textContent }) => Number(textContent));
        if (counts.reduce((sum, count) => sum + count, 0) < ${number}) return;
        observer.disconnect();
        resolve(Date.now());
      };
      const observer = new MutationObserver(look);
      observer.observe(document.body, { childList: true, subtree: true, characterData: true });
      look();
    })`) as Promise<number>;
    const begun = Date.now();
    await world.submit(number);
    times.push((await shown) - begun);
    await page.waitForTimeout((count % 8) * 150);
  }
  await page.close();
  printFigure({ name: 'web.event.p50', value: median(times), unit: 'ms' });
  printFigure({ name: 'web.event.p95', value: p95(times), unit: 'ms', limit: GOALS.eventMs });
}

const WATCH_TASKS = `globalThis.longest = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, duration);
}).observe({ type: 'longtask' });`;

/** Events of a queue of 500 entries, as many a second as asked, while somebody looks at it. */
async function measureFlood(context: BrowserContext, world: WebWorld, seconds: number): Promise<void> {
  progress(`web flood: ${A_SECOND} events a second for ${seconds} s`);
  const page = await openQueue(context, world);
  await page.getByText('live', { exact: true }).waitFor();
  let reads = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/pollQueue')) reads += 1;
  });
  await page.evaluate(WATCH_TASKS);
  const sent = await sendEvents(world, seconds);
  const longest = (await page.evaluate('globalThis.longest')) as number;
  await page.close();
  printFigure({ name: 'web.flood.events', value: sent / seconds, unit: 'events/s' });
  printFigure({ name: 'web.flood.reads', value: reads / seconds, unit: 'reads/s' });
  printFigure({ name: 'web.flood.task', value: longest, unit: 'ms', limit: GOALS.taskMs });
}

async function sendEvents({ ask, ref }: WebWorld, seconds: number): Promise<number> {
  const begun = performance.now();
  let sent = 0;
  const send = async () => {
    for (;;) {
      const elapsed = (performance.now() - begun) / 1_000;
      if (elapsed >= seconds) return;
      if (sent >= elapsed * A_SECOND) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        continue;
      }
      sent += 1;
      await ask('updateQueue', { ...ref, bisectionConcurrency: 1 + (sent % 900) });
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  return sent;
}
