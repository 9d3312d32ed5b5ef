// A real Chromium, from the npm package that brings one along or from SLUICE_CHROMIUM, and a person in it.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const KEPT = fileURLToPath(new URL('../../.cache/chromium', import.meta.url));

/** The package unpacks its Chromium into the folder for temporary files. In the cache it is unpacked once. */
async function findChromium(): Promise<string> {
  const given = process.env['SLUICE_CHROMIUM'];
  if (given !== undefined) return given;
  const { default: packaged } = await import('@sparticuz/chromium');
  if (!existsSync(KEPT)) await unpack(packaged);
  return join(KEPT, 'chromium');
}

/** Another file of tests may do the same: the first one that is ready stays. */
async function unpack(packaged: { executablePath(): Promise<string> }): Promise<void> {
  const made = `${KEPT}.${process.pid}`;
  mkdirSync(made, { recursive: true });
  const { TMPDIR: former } = process.env;
  process.env['TMPDIR'] = made;
  try {
    await packaged.executablePath();
  } finally {
    if (former === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = former;
  }
  try {
    renameSync(made, KEPT);
  } catch {
    rmSync(made, { recursive: true, force: true });
  }
}

/** Undefined, with the reason, where no Chromium runs. */
export async function openBrowser(): Promise<Browser | string> {
  try {
    const executablePath = await findChromium();
    return await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  } catch (error) {
    return `no Chromium runs here (set SLUICE_CHROMIUM to one): ${String(error).slice(0, 200)}`;
  }
}

export interface Person {
  readonly page: Page;
  readonly context: BrowserContext;
}

/** One browser for the tests of a describe. Each person in it has cookies of their own. */
export function useBrowser() {
  let browser: Browser | string = 'not opened';
  before(async () => {
    browser = await openBrowser();
  });
  after(async () => {
    if (typeof browser !== 'string') await browser.close();
  });
  return {
    /** Opens a page on which nothing may go wrong. It closes with the test. */
    async open(t: Pick<TestContext, 'after'>, options: BrowserContextOptions = {}): Promise<Person> {
      assert.ok(typeof browser !== 'string', String(browser));
      // A picture that moves costs CPU time in a browser without a graphics card.
      const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
      const page = await newPage(context);
      t.after(async () => {
        await page.close();
        await context.close();
      });
      return { context, page };
    },
    /** A test that is skipped where no browser runs. */
    story(name: string, tell: (t: TestContext) => Promise<void>): void {
      void it(name, (t) => (typeof browser === 'string' ? t.skip(browser) : tell(t)));
    },
  };
}

/** A script that fails, or a policy that is broken, fails the test. */
export async function newPage(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const wrong: string[] = [];
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) wrong.push(message.text());
  });
  page.on('close', () => assert.deepEqual(wrong, []));
  return page;
}

export async function signIn(page: Page, url: string, token: string): Promise<void> {
  await page.goto(`${url}/login`);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Queues' }).waitFor();
}

/** The findings of axe: none, on a page that everybody can use. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8'));
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: AxeViolation[] }> } };
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
  });
}

interface AxeViolation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}
