import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { makeFolder, startHere, type TestServer, until } from '../e2e/harness.ts';
import { caseOf, reportOf, upload } from '../e2e/quarantine-world.ts';
import { createQueue, type TestQueue } from '../e2e/test-queue.ts';
import { CLIENT, startProvider, type TestProvider } from '../fake/oidc/provider.ts';
import { newPage, signIn, useBrowser, violationsOf } from './open-browser.ts';

const ROLES = ['reader', 'author', 'maintainer', 'admin'] as const;

describe('ways into the dashboard', () => {
  const browser = useBrowser();
  let server: TestServer;
  let provider: TestProvider;
  let shown: TestQueue;
  let hidden: TestQueue;
  let testId = '';
  const numbers = { landed: 0, failed: 0, testing: 0 };

  /** Two repositories, of which one is public: a server binds those that it finds when it starts. */
  before(async () => {
    const SLUICE_DATA = await makeFolder();
    const first = await startHere({ SLUICE_DATA });
    shown = await createQueue(first.api);
    hidden = await createQueue(first.api);
    await first.stop();
    const SLUICE_PUBLIC_READ = `default/${shown.name}`;
    provider = await startProvider(`${first.url}/web/sign-in/sso/callback`, `${first.url}/login`);
    for (const role of ROLES) provider.accounts.set(role, { name: `The ${role}`, groups: [role] });
    const SLUICE_ROLES_FILE = join(SLUICE_DATA, 'roles');
    const lines = ROLES.map((role) => `${role} default/${role === 'admin' ? '*' : shown.name} group:${role}`);
    await writeFile(SLUICE_ROLES_FILE, lines.join('\n'));
    server = await startHere({
      ...{ SLUICE_DATA, SLUICE_PORT: String(first.port), SLUICE_PUBLIC_READ, SLUICE_ROLES_FILE, SLUICE_URL: first.url },
      ...{ SLUICE_OIDC_ISSUER: provider.issuer, SLUICE_OIDC_CLIENT_ID: CLIENT.id, SLUICE_OIDC_NAME: 'Acme' },
      SLUICE_OIDC_CLIENT_SECRET: CLIENT.secret,
    });
    const sha = await shown.git.git(['rev-parse', 'main']);
    await upload(server.api, shown, { sha, branch: 'main', job_name: 'unit' }, reportOf(caseOf('adds')));
    const scope = { repo: shown.repo, org_url_slug: 'default', page_query: {} };
    testId = await until('the test is known', 30_000, async () => {
      const { tests } = await server.api.ok<{ tests: { id: string }[] }>('flaky-tests/list-tests', scope);
      return tests[0]?.id;
    });
    numbers.landed = await shown.submitOne();
    await shown.ci.report(await shown.ci.runOf(numbers.landed), 'SUCCESS');
    await shown.untilEntry(numbers.landed, ({ state }) => state === 'MERGED');
    numbers.failed = await shown.submitOne();
    await shown.ci.report(await shown.ci.runOf(numbers.failed), 'FAILURE', { summary: 'a private text' });
    await shown.untilEntry(numbers.failed, ({ state }) => state === 'FAILED');
    numbers.testing = await shown.submitOne();
    await shown.ci.runOf(numbers.testing);
  });
  after(async () => {
    await server.stop();
    await provider.stop();
    await shown.close();
    await hidden.close();
  });

  const repoPath = ({ repo }: TestQueue) => ['/default', repo.host, repo.owner, repo.name].join('/');
  const pathOf = (...more: readonly string[]) => [repoPath(shown), 'main', ...more].join('/');

  const { story } = browser;

  /** Somebody with a session of this token, or a stranger. */
  async function enter(t: TestContext, token?: string): Promise<Page> {
    const { page } = await browser.open(t);
    if (token === undefined) await page.goto(`${server.url}/default`);
    else await signIn(page, server.url, token);
    return page;
  }

  const tokenOf = async (...scopes: readonly string[]) =>
    (await server.api.ok<{ token: string }>('createApiToken', { name: scopes.join('-'), scopes })).token;

  story('a stranger follows the queue of a public repository, and signs in for more [A46]', async (t) => {
    const { page } = await browser.open(t);
    await page.goto(server.url);
    await page.getByRole('link', { name: new RegExp(shown.repo.name) }).click();
    await page.getByText('live', { exact: true }).waitFor();
    await page
      .getByRole('link', { name: new RegExp(`#${numbers.testing}`) })
      .first()
      .waitFor();
    assert.equal(await page.getByText(hidden.repo.name).count(), 0);
    assert.equal(await page.getByRole('button', { name: /Pause|Submit|Look back/ }).count(), 0);
    assert.deepEqual(await violationsOf(page), []);
    const next = await shown.submitOne();
    await page.getByText(`#${next}`).first().waitFor();
    await server.api.ok('cancelPullRequest', shown.entry(next));
    await page.goto(server.url + pathOf('pr', String(numbers.failed)));
    await page.getByText('Removed', { exact: true }).first().waitFor();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    assert.equal(await page.getByText('a private text').count(), 0);
    assert.deepEqual(await violationsOf(page), []);
    await page.getByRole('link', { name: 'Landings' }).click();
    await page.getByText(/All \d+ landings? verified/).waitFor();
    for (const path of [
      pathOf('settings'),
      `${repoPath(shown)}/-/tests`,
      `${repoPath(hidden)}/main`,
      `${pathOf()}?at=2026-01-01T00:00:00Z`,
    ]) {
      await page.goto(server.url + path);
      await page.getByRole('heading', { name: 'Sign in to default' }).waitFor();
    }
    await page.goto(server.url + pathOf());
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('Token').fill(server.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    assert.equal(new URL(page.url()).pathname, pathOf());
  });

  story('a session ends under an open dialog, which is sent after signing in again [A47]', async (t) => {
    const page = await enter(t, server.token);
    const end = () =>
      page.evaluate(async () => {
        const headers = { 'content-type': 'application/json' };
        await fetch('/web/sessions/end', { method: 'POST', headers, body: '{"organization":"default"}' });
      });
    await page.goto(server.url + pathOf());
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByLabel('Reason').fill('The release goes out');
    await end();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    const again = page.getByRole('dialog', { name: 'Your session has ended' });
    await again.getByLabel('Token').fill(server.token);
    assert.deepEqual(await violationsOf(page), []);
    await again.getByRole('button', { name: 'Sign in' }).click();
    await again.waitFor({ state: 'detached' });
    assert.equal(await page.getByLabel('Reason').inputValue(), 'The release goes out');
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.getByText('“The release goes out”').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await end();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await again.waitFor();
    const other = await newPage(page.context());
    await signIn(other, server.url, server.token);
    await again.waitFor({ state: 'detached' });
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Running', { exact: true }).waitFor();
    await page.close();
    await other.close();
  });

  story('two tabs show two organizations, each with its own events', async (t) => {
    const made = await server.api.ok<{ token: string }>('createOrganization', { slug: 'second' });
    const theirs = await createQueue(server.api.actingFor('second'));
    t.after(() => theirs.close());
    const mine = await tokenOf('admin');
    const page = await enter(t, mine);
    await page.goto(server.url + pathOf());
    const other = await newPage(page.context());
    await signIn(other, server.url, made.token);
    await other.goto(`${server.url}/second/${theirs.name}/main`);
    for (const tab of [page, other]) await tab.getByText('live', { exact: true }).waitFor();
    const [here, there] = [await shown.submitOne(), await theirs.submitOne()];
    await page.getByText(`#${here}`).first().waitFor();
    await other.getByText(`#${there}`).first().waitFor();
    await server.api.ok('cancelPullRequest', shown.entry(here));
    await page.getByText(`#${here}`).first().waitFor();
    await other.goto(server.url + pathOf());
    await other.getByRole('button', { name: 'Pause' }).waitFor();
    await page.close();
    await other.close();
  });

  /** Signs in at the provider, as somebody with this role. */
  async function enterAs(t: TestContext, role: string): Promise<Page> {
    const { page } = await browser.open(t);
    await page.goto(`${server.url}/login`);
    await page.getByRole('link', { name: 'Sign in with Acme' }).click();
    await page.locator('[name=login]').fill(role);
    await page.locator('[name=password]').fill('x');
    await page.locator('[type=submit]').click();
    await page.locator('[type=submit]').click();
    await page.getByRole('heading', { name: 'Queues' }).waitFor();
    return page;
  }

  story('a person signs in with a provider, sees the role, and signs out there too [A63]', async (t) => {
    const { page } = await browser.open(t);
    await page.goto(`${server.url}/login?problem=no-role&with=sso`);
    await page.getByText('Acme knows you, but no role is given to you here.').waitFor();
    assert.deepEqual(await violationsOf(page), []);
    const person = await enterAs(t, 'maintainer');
    await person.goto(server.url + pathOf());
    await person.getByText('The maintainer', { exact: true }).first().click();
    await person.getByText(`Role: maintainer of ${shown.repo.owner}/${shown.repo.name}`).waitFor();
    assert.deepEqual(await violationsOf(person), []);
    await person.goto(`${server.url}${repoPath(hidden)}/main`);
    await person.getByText(/There is no repository/).waitFor();
    await person.goto(server.url + pathOf());
    await person.getByRole('button', { name: 'Pause' }).click();
    await person.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await person.getByRole('button', { name: 'Resume' }).click();
    await person.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await person.getByText('Running', { exact: true }).waitFor();
    const { events } = await server.api.ok<{ events: { actor: object }[] }>('listEvents', {
      ...{ audit: true, types: ['queue.resumed'], order: 'DESC', limit: 1 },
    });
    assert.deepEqual(events[0]?.actor, { kind: 'person', name: 'The maintainer (sso:maintainer)' });
    await person.getByText('The maintainer', { exact: true }).first().click();
    await person.getByRole('button', { name: 'Sign out' }).click();
    await person.waitForURL(`${provider.issuer}/session/end**`);
  });

  const pages = () => [
    ...['/default', '/default/-/audit', '/default/-/setup', pathOf()],
    ...['health', 'landings', 'simulator', 'settings'].map((tab) => pathOf(tab)),
    ...Object.values(numbers).map((number) => pathOf('pr', String(number))),
    ...['tests', `tests/${testId}`, 'flakes', 'uploads'].map((tab) => `${repoPath(shown)}/-/${tab}`),
    `${pathOf()}?at=${new Date().toISOString()}`,
    '/default/nothing',
  ];

  const PEOPLE: Readonly<Record<string, readonly string[] | undefined>> = {
    'a stranger': undefined,
    'a reader': ['read'],
    'an author': ['read', 'submit'],
    'a maintainer': ['read', 'submit', 'maintain'],
    'an administrator': ['admin'],
    'an operator': ['admin', 'instance'],
  };
  /** The scopes of people who signed in as themselves. In plain git an author has no own pull requests. */
  const SIGNED_IN: Readonly<Record<string, readonly string[]>> = {
    ...{ reader: ['read'], author: ['read'], maintainer: ['read', 'submit', 'maintain'], admin: ['admin'] },
  };

  const everybody = [
    ...Object.entries(PEOPLE).map(([person, scopes]) => ({ person, scopes, role: undefined })),
    ...Object.entries(SIGNED_IN).map(([role, scopes]) => ({ person: `a person with the role ${role}`, scopes, role })),
  ];

  for (const { person, scopes, role } of everybody) {
    story(`every page opens for ${person}, with no button that would be refused [A46]`, async (t) => {
      const page = role === undefined ? await enter(t, scopes && (await tokenOf(...scopes))) : await enterAs(t, role);
      const refused: string[] = [];
      page.on('response', (response) => {
        if ([401, 403, 429].includes(response.status())) refused.push(`${response.status()} ${response.url()}`);
      });
      for (const path of pages()) {
        // As a link does, and quicker than loading the page again.
        await page.evaluate(`(async () => {
          history.pushState(null, '', '${path}');
          dispatchEvent(new PopStateEvent('popstate'));
          for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
        })()`);
        await page.locator('main h1, main .title').first().waitFor();
        for (const part of await page.locator('.loading').all()) await part.waitFor({ state: 'detached' });
        const buttons = await page.locator('button:visible').allTextContents();
        const wrong = buttons.filter((text) => !mayPress(text.trim(), scopes ?? []));
        assert.deepEqual(wrong, [], `${path}: refused, or without a scope in SCOPES`);
      }
      assert.deepEqual(refused, []);
    });
  }
});

/** The scope that the server asks for behind each button. A button that is not here fails the test: it belongs here. */
const SCOPES: readonly (readonly [RegExp, string | undefined])[] = [
  [/^(Submit|Submit again|Submit a pull request|Make urgent|Cancel|Restart tests)$/, 'submit'],
  [/^(Pause|Resume|Process again|Ignore|Mute|End the mute)$/, 'maintain'],
  [/^(Apply|Look at them|Forget them|Check it|Revoke)$/, 'admin'],
  [/^(Quarantine|Never quarantine|End quarantine|Allow quarantine|Flag as flaky|Take the flag away)$/, 'maintain'],
  [/^(Search \/|Look back|log|◂ Back|Play|On ▸|Now|all|flaky|broken|healthy|All|Failures)$/, 'read'],
  [/^(Failed|PRs hit|Takes|Last failure)( [↑↓])?$/, 'read'],
  // Of the page itself, and those that copy.
  [/^(auto|light|dark|Sign in|24 hours|\d+ days|[0-9a-f]{8,10}|(git|sluice) .*)$/, undefined],
];

function mayPress(text: string, scopes: readonly string[]): boolean {
  const known = SCOPES.find(([name]) => name.test(text));
  if (known === undefined) return false;
  const [, needed] = known;
  return needed === undefined || scopes.includes(needed) || scopes.includes('admin');
}
