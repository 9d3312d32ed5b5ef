import type { FastifyInstance, FastifyReply } from 'fastify';
import { Value } from 'typebox/value';
import { Repo } from '../contract/common.ts';
import { checkSlug } from '../lib/text.ts';
import { HttpProblem } from './core/problem.ts';
import { type Html, html, NOTHING, renderPage } from './page-html.ts';
import { type Dashboard, OF_ORGANIZATION } from './web/dashboard.ts';

/** Addresses that answers and uploaders link to. Without the dashboard, a command is shown. */
// SPEC A19
export function registerLinkPages(server: FastifyInstance, dashboard: Dashboard): void {
  server.get(`${OF_ORGANIZATION}/flaky-tests/test/:id`, (request, reply) => {
    const { org, id } = request.params as { org: string; id: string };
    if (checkSlug(org) !== undefined || !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) {
      throw new HttpProblem('ROUTE_NOT_FOUND', 'There is no such page. Links to tests end with the id of a test.');
    }
    return dashboard.show(
      asPage(reply),
      renderTestPage({ id: id.toLowerCase(), org, ...readRepo(request.query as Query) }),
    );
  });
  server.get(`${OF_ORGANIZATION}/pull-requests/:number`, (request, reply) => {
    const { org, number } = request.params as { org: string; number: string };
    const { repo } = readRepo(request.query as Query);
    if (checkSlug(org) !== undefined || !/^[1-9][0-9]{0,8}$/.test(number) || repo === undefined) {
      throw new HttpProblem('ROUTE_NOT_FOUND', 'There is no such page. Links to pull requests name a repository.');
    }
    return dashboard.show(asPage(reply), renderPullRequestPage(number, repo));
  });
  server.get(`${OF_ORGANIZATION}/settings`, (request, reply) => {
    const { org } = request.params as { org: string };
    if (checkSlug(org) !== undefined) throw new HttpProblem('ROUTE_NOT_FOUND', 'There is no such page.');
    return dashboard.show(asPage(reply), renderSettingsPage(org));
  });
}

interface Query {
  readonly repo?: unknown;
  readonly host?: unknown;
}

interface LinkedRepo {
  /** As the command line takes it. */
  readonly repo?: string;
  readonly isHostGuessed?: boolean;
}

/** Uploaders make links without the host. Names that no repository has are left out: somebody may copy them. */
// SPEC A25
function readRepo({ repo, host = '' }: Query): LinkedRepo {
  const [, owner, name] = /^(.+)\/([^/]+)$/.exec(String(repo ?? '')) ?? [];
  const isHostGuessed = host === '';
  const ref = { host: isHostGuessed ? 'github.com' : host, owner, name };
  return Value.Check(Repo, ref) ? { repo: `${ref.host}/${owner}/${name}`, isHostGuessed } : {};
}

function renderTestPage({ id, org, repo, isHostGuessed }: LinkedRepo & { id: string; org: string }): Plain {
  const where = repo === undefined ? '' : ` --repo ${repo}`;
  const guess = isHostGuessed
    ? html`<p>Replace <code>github.com</code> where the repository is on another host.</p>`
    : NOTHING;
  return renderTitled(
    'A test',
    html`<p>A token shows what is known about this test. With <code>SLUICE_URL</code> and <code>SLUICE_TOKEN</code> set:</p>
<pre><code>sluice tests show ${id} --org ${org}${where}</code></pre>
${guess}<p>Over HTTP, <a href="/docs#getTestDetails">getTestDetails</a> answers the same.</p>`,
  );
}

function renderPullRequestPage(number: string, repo: string): Plain {
  return renderTitled(
    `Pull request ${number}`,
    html`<p>A pull request of plain git has no page. A token shows where it is. With <code>SLUICE_URL</code> and <code>SLUICE_TOKEN</code> set:</p>
<pre><code>sluice pr status ${number} -R ${repo}
sluice events -R ${repo} --pr ${number}</code></pre>
<p>Over HTTP, <a href="/docs#getSubmittedPullRequest">getSubmittedPullRequest</a> answers the same.</p>`,
  );
}

// SPEC A26
function renderSettingsPage(org: string): Plain {
  return renderTitled(
    `Settings of ${org}`,
    html`<p>Settings are changed on the command line. If an uploader sent you here, its token is missing, wrong or expired: an administrator of ${org} makes another one, and CI gets it as a secret.</p>
<pre><code>sluice token create --name ci --scope upload --expires 90d
sluice token list</code></pre>
<p>What a repository says about its tests, and the settings of its queues:</p>
<pre><code>sluice tests settings --org ${org} --repo HOST/OWNER/NAME
sluice queue list</code></pre>
<p>Over HTTP: <a href="/docs#createApiToken">createApiToken</a>, <a href="/docs#getTestSettings">getTestSettings</a> and <a href="/docs#updateQueue">updateQueue</a>.</p>`,
  );
}

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}pre{padding:1rem;overflow:auto;border:1px solid}';

interface Plain {
  readonly page: string;
  readonly body: string;
}

function renderTitled(title: string, content: Html): Plain {
  const body = html`<h1>${title}</h1>\n${content}`;
  return { page: renderPage(title, STYLE, body), body: body.markup };
}

/** Pages for people load nothing, run nothing, send nothing, and cannot be framed. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// SPEC H34
export function asPage(reply: FastifyReply, more = ''): FastifyReply {
  return reply.type('text/html; charset=utf-8').header('content-security-policy', CONTENT_SECURITY_POLICY + more);
}
