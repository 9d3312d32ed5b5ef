import { Octokit } from '@octokit/core';
import { BoundedCache } from '../../../git/bounded-cache.ts';
import type { Instant, Timing } from '../../../lib/clock.ts';
import { Fault } from '../../../lib/fault.ts';
import type { Log } from '../../../lib/log.ts';
import { type Budget, createBudget, type Limit, type Urgency } from './budget.ts';
import { type GithubConnection, graphqlUrlOf } from './connection.ts';
import { createCredentials } from './credentials.ts';
import {
  type Ask,
  exchange,
  type GitHubProblem,
  isTooMuch,
  messageIn,
  problemsIn,
  type Received,
  type RequestLine,
} from './exchange.ts';
import { createInstallations, type Installation, keyOf } from './installations.ts';
import { createPullRequestIds, type PullRequestIds } from './pull-request-ids.ts';
import {
  forbidden,
  lostAnswer,
  neededFor,
  notInstalled,
  type RepositoryName,
  refusedAnswer,
  tooMuch,
} from './unavailable.ts';

/** The only access to GitHub's API. It throws Faults whose texts contain no secrets. */
export interface GithubClient {
  readonly connection: GithubConnection;
  /** The present secret. The operator may rotate it. */
  webhookSecret(): string | undefined;
  /** A signature did not match, so the secret may have been rotated. Reads it again soon, if the connection allows. */
  rereadWebhookSecret(): void;
  request<Data = unknown>(call: RestCall): Promise<RestAnswer<Data>>;
  graphql<Data>(question: GraphqlQuestion): Promise<GraphqlAnswer<Data>>;
  /**
   * Sends several mutations as one request. GitHub executes them in order, each on its own. The problems name those
   * that failed.
   */
  mutate<Data>(mutation: GraphqlMutation): Promise<GraphqlAnswer<Partial<Data> | undefined>>;
  /** Node ids of pull requests that earlier answers contained. */
  readonly pullRequestIds: PullRequestIds;
  /** A token for git. Valid for at least ten minutes. */
  installationToken(repository: RepositoryName): Promise<string>;
  /** Drops a token that GitHub refused, so the next call gets a new one. */
  dropToken(repository: RepositoryName, token: string): Promise<void>;
  installation(repository: RepositoryName): Promise<Installation>;
  /** The present name of a repository. It may have been renamed since it was registered. */
  resolve(repository: RepositoryName, how?: Resolving): Promise<ResolvedRepository>;
  /** Sends the request as the App itself, not as an installation. */
  appRequest<Data = unknown>(call: AppCall): Promise<RestAnswer<Data>>;
  forget(owner: string, name?: string): void;
  /** Number of requests per route or named query, including refused and unmodified answers. */
  calls(): ReadonlyMap<string, number>;
  /** The limits of every installation that was used so far. */
  limits(): readonly Limit[];
  close(): void;
}

export interface Resolving {
  /** Bypasses the cache of a few minutes. */
  readonly isAsked?: boolean;
}

export interface RestCall {
  readonly repository: RepositoryName;
  /** `owner` and `repo` are filled in. */
  readonly route: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly urgency: Urgency;
  /** These statuses do not throw. `any` accepts every status. */
  readonly accept?: readonly number[] | 'any';
  /** A 403 with this message does not throw either. */
  readonly acceptMessage?: RegExp;
  /** For frequent reads that rarely change: sends an ETag and reuses the last answer. */
  readonly isRepeated?: boolean;
}

export interface RestAnswer<Data> {
  readonly status: number;
  readonly data: Data;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

export interface GraphqlQuestion {
  readonly repository: RepositoryName;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly urgency: Urgency;
  /** Fields that GitHub may forbid. They are null then, and named in the problems. */
  readonly mayBeForbidden?: readonly string[];
}

export type GraphqlMutation = Pick<GraphqlQuestion, 'repository' | 'query' | 'variables' | 'urgency'>;

export interface GraphqlAnswer<Data> {
  readonly data: Data;
  readonly problems: readonly GitHubProblem[];
}

export type AppCall = Pick<RestCall, 'route' | 'parameters' | 'accept'>;

export interface ResolvedRepository extends RepositoryName {
  readonly id: number;
  readonly nodeId: string;
  readonly fullName: string;
  readonly defaultBranch: string;
  readonly deletesBranches: boolean;
  readonly isArchived: boolean;
}

export interface ClientOptions {
  readonly connection: GithubConnection;
  readonly clock: Timing;
  readonly log: Log;
  readonly timeoutMs?: number;
  /** See budget.ts. Tests shorten it. */
  readonly paceMs?: number;
  readonly maxWaitMs?: number;
}

/** GitHub sometimes takes more than ten seconds to merge in a large repository. */
const TIMEOUT_MS = 30_000;
const MAX_KEPT_ANSWERS = 500;
const RESOLVED_MS = 10 * 60_000;
const quiet = { debug: ignore, info: ignore, warn: ignore, error: ignore };

export function createGithubClient(options: ClientOptions): GithubClient {
  const { connection, clock, log, timeoutMs = TIMEOUT_MS } = options;
  const { host, apiUrl } = connection;
  const octokitOptions = { baseUrl: apiUrl, userAgent: 'sluice', log: quiet, request: { log: quiet } };
  const credentials = createCredentials(connection);
  const budgets = new Map<number | 'app', Budget>();
  const octokits = new Map<number, Octokit>();
  const kept = new BoundedCache<string, { readonly etag: string; readonly data: unknown }>(MAX_KEPT_ANSWERS);
  const resolved = new Map<string, { readonly at: Instant; readonly repository: ResolvedRepository }>();
  const pullRequestIds = createPullRequestIds();
  const calls = new Map<string, number>();
  const closing = new AbortController();

  function count(name: string): void {
    calls.set(name, (calls.get(name) ?? 0) + 1);
    log.debug({ host, route: name }, 'GitHub request');
  }

  function line(octokit: Octokit, id: number | 'app'): RequestLine {
    const budget = budgets.get(id) ?? createBudget(options);
    budgets.set(id, budget);
    return { octokit, budget, clock, timeoutMs, count, log, closing: closing.signal };
  }

  const installations = createInstallations({ host, credentials, octokitOptions, line, now: () => clock.now() });

  /** When the installation gives no token, the App may have been removed and installed again. */
  async function connect(repository: RepositoryName) {
    const installation = await installations.find(repository);
    try {
      return { installation, token: await installations.token(installation, repository) };
    } catch (error) {
      installations.forget(repository.owner, repository.name);
      const fresh = await installations.find(repository);
      if (fresh.id === installation.id) throw error;
      return { installation: fresh, token: await installations.token(fresh, repository) };
    }
  }

  /** GitHub ignored a request with a refused token, so it is sent once more with a fresh one. */
  // SPEC G99
  async function ask(repository: RepositoryName, asked: Ask): Promise<Received> {
    const { installation, token } = await connect(repository);
    const octokit = octokits.get(installation.id) ?? new Octokit(octokitOptions);
    octokits.set(installation.id, octokit);
    const send = (token: string) =>
      exchange(line(octokit, installation.id), {
        ...asked,
        headers: { ...asked.headers, authorization: `token ${token}` },
      });
    const received = await send(token);
    if (received.kind === 'lost' || received.status !== 401) return received;
    await installations.dropToken(installation, token);
    const fresh = await installations.token(installation, repository);
    return fresh === token ? received : send(fresh);
  }

  async function request<Data>(call: RestCall): Promise<RestAnswer<Data>> {
    const { repository, route, parameters, urgency, accept = [], isRepeated = false } = call;
    const filled = { owner: repository.owner, repo: repository.name, ...parameters };
    const key = `${route} ${JSON.stringify(filled)}`;
    const known = isRepeated ? kept.find(key) : undefined;
    const received = await ask(repository, {
      route,
      parameters: filled,
      headers: known === undefined ? {} : { 'if-none-match': known.etag },
      urgency,
      resource: 'core',
      isAct: !route.startsWith('GET '),
    });
    if (received.kind === 'lost') throw lostAnswer(host, received.detail);
    if (received.status === 304 && known !== undefined) return answerOf<Data>({ ...received, status: 200, ...known });
    const { etag } = received.headers;
    if (isRepeated && received.status === 200 && etag !== undefined) kept.set(key, { etag, data: received.data });
    const isExpected = received.status === 403 && call.acceptMessage?.test(messageIn(received.data)) === true;
    return isExpected ? answerOf<Data>(received) : accepted<Data>(call, received, accept);
  }

  function accepted<Data>(
    { repository, route }: Pick<RestCall, 'repository' | 'route'>,
    received: Extract<Received, { kind: 'answer' }>,
    accept: readonly number[] | 'any',
  ): RestAnswer<Data> {
    const { status, data } = received;
    const isAccepted = accept === 'any' || accept.includes(status);
    if ([401, 403, 404].includes(status) && !(isAccepted && status === 404)) forget(repository.owner, repository.name);
    if (status < 300 || isAccepted) return answerOf<Data>(received);
    throw refusedAnswer(repository, credentials.current().kind, { ...received, route, message: messageIn(data) });
  }

  async function askGraphql<Data>(question: GraphqlQuestion, isAct: boolean): Promise<{ readonly data?: Data | null }> {
    const { repository, query, variables = {}, urgency } = question;
    const received = await ask(repository, {
      route: `POST ${graphqlUrlOf(apiUrl)}`,
      name: `POST /graphql ${/^(?:query|mutation) (\w+)/.exec(query)?.[1] ?? ''}`.trim(),
      parameters: { query, variables },
      headers: {},
      urgency,
      resource: 'graphql',
      isAct,
    });
    if (received.kind === 'lost') throw lostAnswer(host, received.detail);
    return accepted<{ readonly data?: Data | null }>({ repository, route: 'POST /graphql' }, received, []).data;
  }

  async function graphql<Data>(question: GraphqlQuestion): Promise<GraphqlAnswer<Data>> {
    const { repository, mayBeForbidden = [] } = question;
    const data = await askGraphql<Data & { readonly repository?: unknown }>(question, false);
    const problems = problemsIn(data);
    const problem = problems.find(
      ({ type, path }) =>
        type !== 'NOT_FOUND' && !(type === 'FORBIDDEN' && path.some((step) => mayBeForbidden.includes(step))),
    );
    if (problem !== undefined) throw faultOf(repository, problem);
    if (data.data?.repository === null) {
      forget(repository.owner, repository.name);
      throw notInstalled(repository);
    }
    if (data.data === null || data.data === undefined) throw lostAnswer(host, 'its answer holds no data');
    return { data: data.data, problems };
  }

  function faultOf(repository: RepositoryName, problem: GitHubProblem): Fault {
    const { type, path, message } = problem;
    if (type === 'FORBIDDEN') return forbidden(repository, credentials.current().kind, neededFor(path), message);
    const detail = `GitHub could not answer: ${message}`;
    return isTooMuch(problem) ? tooMuch(detail) : new Fault('FORGE_UNAVAILABLE', detail);
  }

  function forget(owner: string, name?: string): void {
    installations.forget(owner, name);
    pullRequestIds.forget(owner, name);
    const prefix = `${owner}/${name ?? ''}`.toLowerCase();
    for (const key of resolved.keys()) {
      if (name === undefined ? key.startsWith(prefix) : key === prefix) resolved.delete(key);
    }
  }

  return {
    connection,
    webhookSecret: () => credentials.current().webhookSecret,
    rereadWebhookSecret: () => credentials.rereadSecret(clock.now()),
    request,
    graphql,

    async mutate<Data>(mutation: GraphqlMutation) {
      const answer = await askGraphql<Partial<Data>>(mutation, true);
      return { data: answer.data ?? undefined, problems: problemsIn(answer) };
    },

    pullRequestIds,

    async installationToken(repository) {
      return (await connect(repository)).token;
    },

    async dropToken(repository, token) {
      await installations.dropToken(await installations.find(repository), token);
    },

    installation: (repository) => installations.find(repository),

    // SPEC G108
    async resolve(repository, { isAsked = false } = {}) {
      const key = keyOf(repository);
      const known = resolved.get(key);
      if (!isAsked && known !== undefined && clock.now() - known.at < RESOLVED_MS) return known.repository;
      const { data } = await request<RepositoryData>({
        repository,
        route: 'GET /repos/{owner}/{repo}',
        urgency: 'land',
        isRepeated: true,
      });
      const answer = resolvedOf(data);
      resolved.set(key, { at: clock.now(), repository: answer });
      return answer;
    },

    async appRequest<Data>({ route, parameters = {}, accept = [] }: AppCall): Promise<RestAnswer<Data>> {
      const received = await installations.askAsApp({ route, parameters });
      if (received.kind === 'lost') throw lostAnswer(host, received.detail);
      if (received.status < 300 || accept === 'any' || accept.includes(received.status)) return answerOf(received);
      const detail = `GitHub answered the App with ${received.status}: ${messageIn(received.data)}`;
      throw new Fault('FORGE_UNAVAILABLE', detail);
    },

    forget,
    calls: () => calls,
    limits: () => [...budgets.values()].flatMap((budget) => budget.limits()),

    close() {
      for (const budget of budgets.values()) budget.close();
      closing.abort();
    },
  };
}

interface RepositoryData {
  readonly id: number;
  readonly node_id: string;
  readonly full_name: string;
  readonly name: string;
  readonly owner: { readonly login: string };
  readonly default_branch: string;
  readonly delete_branch_on_merge?: boolean;
  readonly archived?: boolean;
}

function resolvedOf(data: RepositoryData): ResolvedRepository {
  return {
    id: data.id,
    nodeId: data.node_id,
    fullName: data.full_name,
    owner: data.owner.login,
    name: data.name,
    defaultBranch: data.default_branch,
    deletesBranches: data.delete_branch_on_merge === true,
    isArchived: data.archived === true,
  };
}

function answerOf<Data>({ status, data, headers }: RestAnswer<unknown>): RestAnswer<Data> {
  return { status, data: data as Data, headers };
}

function ignore(): void {}
