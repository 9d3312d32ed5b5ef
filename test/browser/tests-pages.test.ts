import assert from 'node:assert/strict';
import { after, before, describe, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { startHere, type TestServer, until } from '../e2e/harness.ts';
import { caseOf, FAILURE, reportOf, upload } from '../e2e/quarantine-world.ts';
import { createWorld, type TestQueue } from '../e2e/test-queue.ts';
import { signIn, useBrowser, violationsOf } from './open-browser.ts';

const NAME = 'shows <img src=x onerror="document.title=1"> & more';
const ESCAPED = NAME.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const FAILING = reportOf(caseOf('adds'), caseOf(ESCAPED, FAILURE));

const PASSING = reportOf(caseOf('adds'), caseOf(ESCAPED));

interface Listed {
  readonly tests: readonly {
    readonly id: string;
    readonly name: string;
    readonly status: { readonly value: string };
  }[];
}

describe('the dashboard of tests', () => {
  const browser = useBrowser();
  let server: TestServer;
  let world: ReturnType<typeof createWorld>;
  let queue: TestQueue;
  let testId = '';

  /** One test failed and passed on one commit, then made a run of the queue fail. One report is broken. */
  before(async () => {
    server = await startHere();
    world = createWorld(server);
    queue = await world.aQueue({ honorQuarantine: 'ON' });
    const sha = await queue.git.git(['rev-parse', 'main']);
    const job = { sha, branch: 'main', job_name: 'unit', job_url: 'https://ci.example/jobs/1' };
    await upload(server.api, queue, { ...job, job_attempt: '1' }, FAILING);
    await upload(server.api, queue, { ...job, job_attempt: '2' }, PASSING);
    await upload(server.api, queue, { sha, branch: 'main', job_name: 'lint' }, '<testsuite><testcase name="a"><oops>');
    testId = await until('the test is flaky', 30_000, async () => {
      const { tests } = await server.api.ok<Listed>('flaky-tests/list-tests', { ...scope(), page_query: {} });
      return tests.find(({ name, status }) => name === NAME && status.value === 'FLAKY')?.id;
    });
    await submit(PASSING, 'SUCCESS', 'MERGED');
    await submit(FAILING, 'FAILURE', 'FAILED');
  });
  after(() => world.close());

  /** Submits a pull request. Its run tells these results and ends so, and the pull request leaves the queue. */
  async function submit(report: string, conclusion: string, end: string): Promise<void> {
    const number = await queue.submitOne();
    const run = await queue.ci.runOf(number);
    const candidate = { sha: run.testBranchSha, branch: run.testBranch, test_run_id: run.testRunId, check: 'test' };
    await upload(server.api, queue, candidate, report);
    await queue.ci.report(run, conclusion);
    await queue.untilEntry(number, ({ state }) => state === end);
  }

  const scope = () => ({ repo: queue.repo, org_url_slug: 'default' });
  const pathOf = (...more: readonly string[]) =>
    ['/default', queue.repo.host, queue.repo.owner, queue.repo.name, '-', ...more].join('/');

  /** A person who is signed in with this token, and has opened this page. */
  async function open(t: TestContext, path: string, token = server.token, options: object = {}): Promise<Page> {
    const { page } = await browser.open(t, options);
    await signIn(page, server.url, token);
    await page.goto(server.url + path);
    return page;
  }

  const { story } = browser;

  story('finds a flaky test whose name is markup, how it fails, and which cost it has', async (t) => {
    const page = await open(t, pathOf('tests'));
    await page.getByRole('link', { name: 'adds', exact: true }).waitFor();
    await page.getByRole('button', { name: 'flaky' }).click();
    await page.getByRole('link', { name: 'adds', exact: true }).waitFor({ state: 'detached' });
    await page.getByLabel('Find').fill('IMG SRC');
    await page.waitForURL(/\?status=flaky&text=IMG\+SRC$/);
    await page.getByRole('img', { name: /^2 of 4 runs failed in the last 30 days/ }).waitFor();
    await page.reload();
    assert.equal(await page.getByLabel('Find').inputValue(), 'IMG SRC');
    await page.getByRole('link', { name: NAME }).click();
    await page.getByRole('heading', { name: NAME }).waitFor();
    assert.equal(await page.title(), `Flaky: ${NAME} · Sluice`);
    await page.getByRole('region', { name: 'Status' }).getByText('failed and passed').waitFor();
    const failures = page.getByRole('region', { name: 'How it fails' });
    await failures.getByRole('button', { name: 'text' }).click();
    await failures.locator('pre').getByText('no').waitFor();
    await page.getByRole('region', { name: 'What monitors see' }).getByText('Pass on retry').waitFor();
    await page.getByRole('link', { name: 'Cost of flakes' }).click();
    await page.getByText('1 test run of the queue failed in flaky tests only').waitFor();
    await page.getByRole('region', { name: 'By test' }).getByRole('link', { name: NAME }).waitFor();
    await page.getByRole('button', { name: '7 days' }).click();
    await page.waitForURL(/\?days=7$/);
  });

  story('quarantines a test with a reason and an end, tells what that saved, and mutes a monitor', async (t) => {
    const page = await open(t, pathOf('tests', testId));
    await page.getByRole('button', { name: 'Quarantine' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('Blocks everybody');
    await dialog.getByLabel('How long').selectOption('7');
    await dialog.getByRole('button', { name: 'Quarantine' }).click();
    await page.getByRole('region', { name: 'Status' }).getByText('“Blocks everybody”').waitFor();
    const monitors = page.getByRole('region', { name: 'What monitors see' });
    await monitors
      .getByRole('listitem')
      .filter({ hasText: 'Pass on retry' })
      .getByRole('button', { name: 'Mute' })
      .click();
    await dialog.getByRole('button', { name: 'Mute' }).click();
    await monitors.getByText('Muted', { exact: true }).waitFor();
    await submit(FAILING, 'FAILURE', 'MERGED');
    await page.getByRole('link', { name: 'Cost of flakes' }).click();
    await page.getByRole('region', { name: 'Quarantine saved' }).getByText('1 pull request').waitFor();
    await page.getByRole('link', { name: 'Tests', exact: true }).click();
    const review = page.getByRole('region', { name: 'Quarantines to review' });
    await review.getByRole('link', { name: NAME }).click();
    await page.getByRole('button', { name: 'End quarantine' }).click();
    await dialog.getByLabel('Reason').fill('It is mended');
    await dialog.getByRole('button', { name: 'End quarantine' }).click();
    await page.getByRole('button', { name: 'Quarantine', exact: true }).waitFor();
    await page.getByRole('region', { name: 'What happened' }).getByText('It is mended').waitFor();
  });

  story('asks in which suites a test is to be quarantined [F83]', async (t) => {
    const sha = await queue.git.git(['rev-parse', 'main']);
    const inner = (name: string) => `<testsuite name="${name}">${caseOf('twice')}</testsuite>`;
    await upload(server.api, queue, { sha, branch: 'main', job_name: 'twice' }, reportOf(inner('old'), inner('new')));
    const id = await until('the test is known', 30_000, async () => {
      const { tests } = await server.api.ok<Listed>('flaky-tests/search-tests', { ...scope(), query: 'twice' });
      return tests[0]?.id;
    });
    const page = await open(t, pathOf('tests', id));
    await page.getByRole('button', { name: 'Quarantine' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('Only the new one');
    await dialog.getByRole('button', { name: 'Quarantine' }).click();
    assert.equal(await dialog.isVisible(), true, 'a suite must be chosen');
    await dialog.getByRole('group', { name: 'In which of its suites' }).getByLabel('math > new').check();
    assert.deepEqual(await violationsOf(page), []);
    await dialog.getByRole('button', { name: 'Quarantine' }).click();
    await page.getByRole('region', { name: 'Status' }).getByText('Quarantined in math > new by').waitFor();
  });

  story('shows the errors of an upload, and takes one back', async (t) => {
    const page = await open(t, pathOf('uploads'));
    const broken = page.getByRole('listitem').filter({ hasText: 'lint' });
    await broken.getByText('Error:').first().waitFor();
    const first = page.getByRole('listitem').filter({ hasText: 'try 2' });
    await first.getByRole('button', { name: 'Ignore' }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('The database was down');
    await page.getByRole('dialog').getByRole('button', { name: 'Ignore it' }).click();
    await first.getByText('“The database was down”').waitFor();
    await first.getByText('evidence for nothing').waitFor();
  });

  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const) {
    story(`can be used by everybody: ${colorScheme}, ${width} px`, async (t) => {
      const page = await open(t, '/default', server.token, { colorScheme, viewport: { width, height: 800 } });
      for (const path of ['tests', 'tests?text=nothing', `tests/${testId}`, 'flakes', 'uploads']) {
        await page.goto(server.url + pathOf(path));
        await page.locator('main:not(:has(.loading)) h1').first().waitFor();
        assert.deepEqual(await violationsOf(page), [], path);
        const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
        assert.equal(isWide, false, `${path} is wider than the screen`);
      }
    });
  }
});
