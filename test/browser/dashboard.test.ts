import assert from 'node:assert/strict';
import { after, before, describe, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { makeFolder, startHere, type TestServer, until } from '../e2e/harness.ts';
import { createWorld, type TestQueue } from '../e2e/test-queue.ts';
import { newPage, signIn, useBrowser, violationsOf } from './open-browser.ts';

describe('the dashboard', () => {
  const browser = useBrowser();
  let server: TestServer;
  let world: ReturnType<typeof createWorld>;
  let queue: TestQueue;
  before(async () => {
    server = await startHere();
    world = createWorld(server);
    queue = await world.aQueue();
  });
  after(() => world.close());

  const pathOf = (...more: readonly string[]) =>
    ['/default', queue.repo.host, queue.repo.owner, queue.repo.name, 'main', ...more].join('/');

  /** A person who is signed in with this token, and has opened this page. */
  async function open(t: TestContext, path: string, token = server.token, options: object = {}): Promise<Page> {
    const { page } = await browser.open(t, options);
    await signIn(page, server.url, token);
    await page.goto(server.url + path);
    return page;
  }

  const stateOf = (page: Page, word: string) =>
    page.getByRole('region', { name: 'State' }).getByText(word, { exact: true });

  const { story } = browser;

  story('shows an author of a removed pull request what to do, and how to get what failed [A33] [E93]', async (t) => {
    const number = await queue.submitOne();
    const run = await queue.ci.runOf(number);
    await queue.ci.report(run, 'FAILURE', { summary: '<img src=x onerror="document.title=1">' });
    await queue.untilEntry(number, ({ state }) => state === 'FAILED');
    const page = await open(t, pathOf('pr', String(number)));
    await stateOf(page, 'Removed').waitFor();
    await page.getByRole('heading', { name: 'What to do' }).waitFor();
    await page.getByText('submit it again').first().waitFor();
    await page.getByText('<img src=x').first().waitFor();
    const reproduce = page.getByRole('region', { name: 'Reproduce' });
    await reproduce.getByText(/^git fetch origin refs\/sluice\/candidates\//).waitFor();
    assert.match(await page.title(), new RegExp(`^Removed: #${number} `));
    await page.getByRole('button', { name: 'Submit again' }).click();
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    await stateOf(page, 'Testing').waitFor();
    await queue.ci.report(await queue.ci.runOf(number), 'SUCCESS');
    await stateOf(page, 'Landed').waitFor();
    await page.getByRole('heading', { name: 'Proof' }).waitFor();
  });

  story('shows a landing in two tabs at once, and lanes while it is tested', async (t) => {
    const [first = 0, second = 0] = await queue.submitAll(2);
    const page = await open(t, pathOf());
    const other = await newPage(page.context());
    await other.goto(server.url + pathOf('pr', String(first)));
    await page.getByRole('region', { name: new RegExp(`main, then #${first}, then #${second}`) }).waitFor();
    await stateOf(other, 'Testing').waitFor();
    for (const number of [first, second]) await queue.ci.report(await queue.ci.runOf(number), 'SUCCESS');
    await Promise.all([page.getByText('The queue is empty.').waitFor(), stateOf(other, 'Landed').waitFor()]);
    await page.close();
    await other.close();
  });

  story('shows the stack of a pull request as a ladder that leads up and down it [O39]', async (t) => {
    const lower = await queue.openPullRequest();
    const upper = await queue.openPullRequest();
    const message = `Upper\n\nDepends-On: #${lower}`;
    await queue.git.commitTo(`refs/pull/${upper}/head`, await queue.headOf(lower), { files: { up: 'x' }, message });
    await queue.submit(upper);
    const page = await open(t, pathOf('pr', String(upper)));
    const rungs = page.getByRole('region', { name: 'Stack' }).getByRole('listitem');
    await rungs.getByText('Never submitted').waitFor();
    await queue.submit(lower);
    await rungs
      .filter({ hasText: `#${lower}` })
      .getByText('Testing')
      .waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await page
      .getByRole('link', { name: `#${lower}` })
      .first()
      .click();
    await page.waitForURL(server.url + pathOf('pr', String(lower)));
    await page.locator('.ladder [aria-current="true"]').getByText(`#${lower}`).waitFor();
    await rungs
      .first()
      .getByRole('link', { name: `#${upper}` })
      .waitFor();
    await queue.ci.report(await queue.ci.runOf(upper), 'SUCCESS');
    await queue.untilEntry(upper, ({ state }) => state === 'MERGED');
  });

  story('pauses with a reason, which everybody sees', async (t) => {
    const page = await open(t, pathOf());
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByLabel('Reason').fill('The release goes out');
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.getByText('“The release goes out”').waitFor();
    assert.match(await page.title(), /^Paused: /);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Running', { exact: true }).waitFor();
  });

  story('gives the focus back to the button that opened a dialog [A76]', async (t) => {
    const number = await queue.submitOne();
    await queue.ci.runOf(number);
    const page = await open(t, pathOf('pr', String(number)));
    const focused = page.locator('main :focus');
    for (const leave of [() => page.keyboard.press('Escape'), () => page.getByText('Not now').click()]) {
      await page.getByRole('button', { name: 'Restart tests' }).press('Enter');
      await page.getByRole('dialog').waitFor();
      await leave();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      assert.equal(await focused.textContent(), 'Restart tests');
    }
    await page.getByRole('button', { name: 'Cancel' }).press('Enter');
    await page.getByRole('button', { name: 'Take it out' }).press('Enter');
    await page.getByRole('button', { name: 'Submit again' }).waitFor();
    assert.equal(await focused.textContent(), 'Submit again');
  });

  story('says what making a pull request urgent will do [O18]', async (t) => {
    const [first = 0, second = 0] = await queue.submitAll(2);
    for (const number of [first, second]) await queue.ci.runOf(number);
    const page = await open(t, pathOf('pr', String(second)));
    await page.getByRole('button', { name: 'Make urgent' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/^It is under test already, and keeps its place behind.*No run is interrupted\.$/).waitFor();
    await dialog.getByRole('button', { name: 'Make urgent' }).click();
    await dialog.waitFor({ state: 'detached' });
    for (const number of [second, first]) await server.api.ok('cancelPullRequest', queue.entry(number));
  });

  story('shows a frozen queue as frozen, all that is in it, and as left only those that are gone [A77]', async (t) => {
    const frozen = await world.aQueue({
      freezes: [{ name: 'fair', from: '2026-01-01T00:00', until: '2096-01-01T00:00', timeZone: 'UTC' }],
    });
    const [first = 0, second = 0] = await frozen.submitAll(2);
    await frozen.ci.report(await frozen.ci.runOf(second), 'FAILURE');
    await frozen.untilEntry(second, ({ state }) => state === 'PENDING_FAILURE');
    const [gone = 0, back = 0] = await frozen.submitAll(2);
    for (const number of [gone, back]) await server.api.ok('cancelPullRequest', frozen.entry(number));
    await frozen.submit(back);
    const page = await open(t, '/default');
    const card = page.getByRole('listitem').filter({ hasText: `${frozen.repo.owner}/${frozen.repo.name}` });
    await card.getByText('Frozen', { exact: true }).waitFor();
    assert.match((await card.locator('.counts').textContent()) ?? '', /3in the queue.*1failing/);
    await card.getByRole('link').click();
    const left = page.locator('section.list', { hasText: 'Left in the last hour' });
    await left.getByText(`#${gone}`).first().waitFor();
    assert.equal(await left.getByText(`#${back}`).count(), 0);
    for (const number of [first, second, back]) await server.api.ok('cancelPullRequest', frozen.entry(number));
  });

  story('names what broke the branch, and takes it back [V88] [L63]', async (t) => {
    const broken = await world.aQueue();
    const checks = [{ name: 'test', command: '! test -e wrong.txt' }];
    await server.api.ok('registerRepository', { repo: broken.repo, checks });
    const first = await broken.submitOne();
    await broken.untilEntry(first, ({ state }) => state === 'MERGED');
    await broken.git.commit('main', { files: { 'wrong.txt': 'x\n' }, message: 'Past the queue' });
    for (let index = 0; index < 2; index += 1) await broken.submitOne();
    const page = await open(t, `/default/local/${broken.repo.owner}/${broken.repo.name}/main`);
    await page
      .getByText(/The likely cause is the commit/)
      .first()
      .waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: /^Take back [0-9a-f]{12}$/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Take it back' }).click();
    await page.getByText('Running', { exact: true }).waitFor({ timeout: 60_000 });
    assert.match(await broken.git.git(['log', '-3', '--format=%s', 'main']), /Revert "Past the queue"/);
  });

  story('is opened by a link, once [A37]', async (t) => {
    const { url } = await server.api.ok<{ url: string }>('createSignInLink', {});
    const { page } = await browser.open(t);
    await page.goto(url);
    await page.getByRole('heading', { name: 'Queues' }).waitFor();
    assert.equal(new URL(page.url()).hash, '');
    const stranger = await browser.open(t);
    await stranger.page.goto(url);
    await stranger.page.getByText('This link was opened before').waitFor();
    await stranger.page.goto(server.url + pathOf());
    await stranger.page.getByRole('heading', { name: 'Sign in to default' }).waitFor();
  });

  story('tells times by the clock of the server, also where that of the browser is an hour behind', async (t) => {
    const { page } = await browser.open(t);
    await page.clock.install({ time: Date.now() - 3_600_000 });
    await signIn(page, server.url, server.token);
    const number = await queue.submitOne();
    await page.goto(server.url + pathOf('pr', String(number)));
    await stateOf(page, 'Testing').waitFor();
    const age = await page.getByRole('region', { name: 'State' }).getByRole('time').first().textContent();
    assert.match(age ?? '', /^\d+ s$/);
    await server.api.ok('cancelPullRequest', queue.entry(number));
  });

  story('says that the server is gone, and comes back with it', async (t) => {
    const SLUICE_DATA = await makeFolder();
    const first = await startHere({ SLUICE_DATA });
    const { page } = await browser.open(t);
    await signIn(page, first.url, first.token);
    await page.getByText('live', { exact: true }).waitFor();
    await first.stop();
    await page.getByText('The server cannot be reached. What you see may be old').waitFor();
    await page.getByRole('heading', { name: 'Queues' }).waitFor();
    const second = await startHere({ SLUICE_DATA, SLUICE_PORT: String(first.port) });
    t.after(() => second.stop());
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByText('The server cannot be reached').waitFor({ state: 'detached' });
  });

  story('opens eight tabs, and all of them see what happens', async (t) => {
    const first = await open(t, pathOf());
    const tabs = [first];
    for (let index = 1; index < 8; index += 1) {
      const tab = await newPage(first.context());
      await tab.goto(server.url + pathOf());
      tabs.push(tab);
    }
    for (const tab of tabs) await tab.getByText('live', { exact: true }).waitFor();
    const number = await queue.submitOne();
    for (const tab of tabs) await tab.getByText(`#${number}`).first().waitFor();
    await server.api.ok('cancelPullRequest', queue.entry(number));
    for (const tab of tabs) await tab.close();
  });

  story('shows how it went, what landed, and the queue as it was [A76]', async (t) => {
    const page = await open(t, pathOf('health'));
    await page.getByText('half land within').waitFor();
    await page
      .getByRole('button', { name: /landed, .* removed/ })
      .last()
      .click();
    await page.getByRole('heading', { name: /^Left the queue from/ }).waitFor();
    await page.keyboard.press('ArrowLeft');
    assert.match((await page.locator('.bar:focus').getAttribute('aria-label')) ?? '', /0 landed/);
    await page.keyboard.press('Tab');
    assert.match((await page.locator('.bar:focus').getAttribute('aria-label')) ?? '', /minutes for half/);
    await page.getByRole('link', { name: 'Landings' }).click();
    await page.getByText(/All \d+ landings? verified/).waitFor();
    await page.getByRole('link', { name: 'Queue', exact: true }).click();
    await page.getByRole('button', { name: 'Look back' }).click();
    await page.getByText('As it was').waitFor();
    await page.getByRole('button', { name: /Back/ }).click();
    await page.getByRole('button', { name: 'Now' }).click();
    await page.getByRole('button', { name: 'Look back' }).waitFor();
  });

  story('changes settings after it has shown the change', async (t) => {
    const page = await open(t, pathOf('settings'));
    await page.getByLabel('concurrency', { exact: true }).fill('7');
    await page.getByRole('button', { name: 'Look at them' }).click();
    await page.getByRole('dialog').getByText('7').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Change' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal((await queue.getQueue()).concurrency, 7);
  });

  story('is used with keys alone', async (t) => {
    const number = await queue.submitOne();
    // From then on its row stays in its place.
    await queue.ci.runOf(number);
    const page = await open(t, pathOf());
    await page
      .getByRole('link', { name: `#${number}` })
      .first()
      .waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // A person presses it again if nothing happens: keys act a moment after the dialog is gone.
    await until('a row has the focus', 15_000, async () => {
      if ((await page.locator('.entry:focus-visible').count()) > 0) return true;
      await page.keyboard.press('j');
      return undefined;
    });
    await page.keyboard.press('Enter');
    await page.waitForURL(server.url + pathOf('pr', String(number)));
    await page.keyboard.press('/');
    await page.getByRole('searchbox').waitFor();
    await page.keyboard.type('g q');
    await page.getByText('Nothing fits.').waitFor();
    await page.getByRole('searchbox').fill(`#${number}`);
    await page
      .getByRole('dialog')
      .getByRole('link', { name: `#${number}` })
      .waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await stateOf(page, 'Testing').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    for (const [keys, path] of [
      ['gt', `/default/${queue.repo.host}/${queue.repo.owner}/${queue.repo.name}/-/tests`],
      ['gq', pathOf()],
      ['gh', '/default'],
    ] as const) {
      await page.keyboard.type(keys);
      await page.waitForURL(server.url + path);
    }
    await server.api.ok('cancelPullRequest', queue.entry(number));
  });

  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const) {
    story(`can be used by everybody: ${colorScheme}, ${width} px`, async (t) => {
      const number = await queue.submitOne();
      await queue.ci.runOf(number);
      const page = await open(t, '/default', server.token, { colorScheme, viewport: { width, height: 800 } });
      const tabs = ['health', 'landings', 'settings', 'simulator'].map((tab) => pathOf(tab));
      const past = `${pathOf()}?at=${new Date().toISOString()}`;
      for (const path of [
        '/default',
        pathOf(),
        pathOf('pr', String(number)),
        ...tabs,
        past,
        '/login',
        '/default/-/audit',
        '/default/-/setup',
      ]) {
        await page.goto(server.url + path);
        await page.locator('main h1, main .title').first().waitFor();
        for (const part of await page.locator('.loading').all()) await part.waitFor({ state: 'detached' });
        assert.deepEqual(await violationsOf(page), [], path);
        const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
        assert.equal(isWide, false, `${path} is wider than the screen`);
      }
      await server.api.ok('cancelPullRequest', queue.entry(number));
    });
  }
});
