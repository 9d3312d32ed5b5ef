import { Octokit } from '@octokit/core';
import type { PrNumber } from '../../../engine/model/pull-request.ts';
import { BoundedCache } from '../../../lib/bounded-cache.ts';
import type { Timing } from '../../../lib/clock.ts';
import { Fault } from '../../../lib/fault.ts';
import type { Log } from '../../../lib/log.ts';
import { Remembered } from '../../../lib/remembered.ts';
import { keyOf } from '../../hosted/repository-key.ts';
import type { RepositoryName } from '../../hosting.ts';
import { Budget, type Urgency } from './budget.ts';
import { type GithubConnection, graphqlUrlOf } from './connection.ts';
import { type Credentials, createCredentials } from './credentials.ts';
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
import { type Installation, Installations } from './installations.ts';
import { forbidden, lostAnswer, neededFor, notInstalled, refusedAnswer, tooMuch } from './unavailable.ts';

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
}

export interface RestAnswer<Data> {
  readonly status: number;
  readonly data: Data;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

export interface GraphqlQuestion {
  readonly repository: RepositoryName;
  readonly query: string;
  /** `owner` and `name` of the repository are filled in. */
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
const MAX_KNOWN = 10_000;
const RESOLVED_MS = 10 * 60_000;
const quiet = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** The only access to GitHub's API. It throws Faults whose texts contain no secrets. */
export class GithubClient {
  readonly connection: GithubConnection;
  readonly #options: ClientOptions;
  readonly #octokitOptions: ConstructorParameters<typeof Octokit>[0];
  readonly #credentials: Credentials;
  readonly #installations: Installations;
  readonly #budgets = new Map<number | 'app', Budget>();
  readonly #octokits = new Map<number, Octokit>();
  readonly #resolved: Remembered<ResolvedRepository>;
  #pullRequestIds = new BoundedCache<string, string>(MAX_KNOWN);
  readonly #closing = new AbortController();

  constructor(options: ClientOptions) {
    const { connection, clock } = options;
    this.connection = connection;
    this.#options = options;
    this.#octokitOptions = { baseUrl: connection.apiUrl, userAgent: 'sluice', log: quiet, request: { log: quiet } };
    this.#resolved = new Remembered({ capacity: MAX_KNOWN, maxAgeMs: RESOLVED_MS, now: () => clock.now() });
    this.#credentials = createCredentials(connection);
    this.#installations = new Installations({
      host: connection.host,
      credentials: this.#credentials,
      octokitOptions: this.#octokitOptions,
      line: (octokit, id) => this.#line(octokit, id),
      now: () => clock.now(),
    });
  }

  /** The present secret. The operator may rotate it. */
  webhookSecret(): string | undefined {
    return this.#credentials.current().webhookSecret;
  }

  /** A signature did not match, so the secret may have been rotated. Reads it again soon, if the connection allows. */
  rereadWebhookSecret(): void {
    this.#credentials.rereadSecret(this.#options.clock.now());
  }

  async request<Data = unknown>(call: RestCall): Promise<RestAnswer<Data>> {
    const { repository, route, parameters, urgency, accept = [] } = call;
    const received = await this.#ask(repository, {
      route,
      parameters: { owner: repository.owner, repo: repository.name, ...parameters },
      urgency,
      resource: 'core',
      isAct: !route.startsWith('GET '),
    });
    if (received.kind === 'lost') throw lostAnswer(this.connection.host, received.detail);
    const isExpected = received.status === 403 && call.acceptMessage?.test(messageIn(received.data)) === true;
    return isExpected ? answerOf<Data>(received) : this.#accepted<Data>(call, received, accept);
  }

  async graphql<Data>(question: GraphqlQuestion): Promise<GraphqlAnswer<Data>> {
    const { repository, mayBeForbidden = [] } = question;
    const data = await this.#askGraphql<Data & { readonly repository?: unknown }>(question, false);
    const problems = problemsIn(data);
    const problem = problems.find(
      ({ type, path }) =>
        type !== 'NOT_FOUND' && !(type === 'FORBIDDEN' && path.some((step) => mayBeForbidden.includes(step))),
    );
    if (problem !== undefined) throw this.#faultOf(repository, problem);
    if (data.data?.repository === null) {
      this.forget(repository.owner, repository.name);
      throw notInstalled(repository);
    }
    if (data.data === null || data.data === undefined)
      throw lostAnswer(this.connection.host, 'its answer holds no data');
    return { data: data.data, problems };
  }

  /** GitHub executes them in order, each on its own. The problems name those that failed. */
  async mutate<Data>(mutation: GraphqlMutation): Promise<GraphqlAnswer<Partial<Data> | undefined>> {
    const answer = await this.#askGraphql<Partial<Data>>(mutation, true);
    return { data: answer.data ?? undefined, problems: problemsIn(answer) };
  }

  /** A token for git. Valid for at least ten minutes. */
  async installationToken(repository: RepositoryName): Promise<string> {
    return (await this.#connect(repository)).token;
  }

  /** Drops a token that GitHub refused, so the next call gets a new one. */
  async dropToken(repository: RepositoryName, token: string): Promise<void> {
    await this.#installations.dropToken(await this.installation(repository), token);
  }

  installation(repository: RepositoryName): Promise<Installation> {
    return this.#installations.find(repository);
  }

  // SPEC G108
  resolve(repository: RepositoryName, { isAsked } = { isAsked: false }): Promise<ResolvedRepository> {
    const key = keyOf(repository);
    if (isAsked) this.#resolved.forget(key);
    return this.#resolved.get(key, async () => {
      const route = 'GET /repos/{owner}/{repo}';
      return resolvedOf((await this.request<RepositoryData>({ repository, route, urgency: 'land' })).data);
    });
  }

  /** Keeps the node id of a pull request that an answer contained, so that a write needs no extra query. */
  keepPullRequestId(
    repository: RepositoryName,
    { number, id }: { readonly number: PrNumber; readonly id: string },
  ): void {
    this.#pullRequestIds.set(`${keyOf(repository)} ${number}`, id);
  }

  findPullRequestId(repository: RepositoryName, number: PrNumber): string | undefined {
    return this.#pullRequestIds.find(`${keyOf(repository)} ${number}`);
  }

  async appRequest<Data = unknown>({ route, parameters = {}, accept = [] }: AppCall): Promise<RestAnswer<Data>> {
    const received = await this.#installations.askAsApp({ route, parameters });
    if (received.kind === 'lost') throw lostAnswer(this.connection.host, received.detail);
    if (received.status < 300 || accept === 'any' || accept.includes(received.status)) return answerOf(received);
    const detail = `GitHub answered the App with ${received.status}: ${messageIn(received.data)}`;
    throw new Fault('FORGE_UNAVAILABLE', detail);
  }

  forget(owner: string, name?: string): void {
    this.#installations.forget(owner, name);
    this.#resolved.forget(name === undefined ? undefined : keyOf({ owner, name }));
    // After a rename, another repository may have the name.
    this.#pullRequestIds = new BoundedCache(MAX_KNOWN);
  }

  close(): void {
    for (const budget of this.#budgets.values()) budget.close();
    this.#closing.abort();
  }

  #line(octokit: Octokit, id: number | 'app'): RequestLine {
    const { clock, log, timeoutMs = TIMEOUT_MS } = this.#options;
    const budget = this.#budgets.get(id) ?? new Budget(this.#options);
    this.#budgets.set(id, budget);
    return { octokit, budget, clock, timeoutMs, log, closing: this.#closing.signal };
  }

  /** When the installation gives no token, the App may have been removed and installed again. */
  async #connect(repository: RepositoryName) {
    const installation = await this.#installations.find(repository);
    try {
      return { installation, token: await this.#installations.token(installation, repository) };
    } catch (error) {
      this.#installations.forget(repository.owner, repository.name);
      const fresh = await this.#installations.find(repository);
      if (fresh.id === installation.id) throw error;
      return { installation: fresh, token: await this.#installations.token(fresh, repository) };
    }
  }

  // SPEC G99
  async #ask(repository: RepositoryName, asked: Omit<Ask, 'headers'>): Promise<Received> {
    const { installation, token } = await this.#connect(repository);
    const octokit = this.#octokits.get(installation.id) ?? new Octokit(this.#octokitOptions);
    this.#octokits.set(installation.id, octokit);
    const send = (token: string) =>
      exchange(this.#line(octokit, installation.id), {
        ...asked,
        headers: { authorization: `token ${token}` },
      });
    const received = await send(token);
    if (received.kind === 'lost' || received.status !== 401) return received;
    await this.#installations.dropToken(installation, token);
    const fresh = await this.#installations.token(installation, repository);
    return fresh === token ? received : send(fresh);
  }

  #accepted<Data>(
    { repository, route }: Pick<RestCall, 'repository' | 'route'>,
    received: Extract<Received, { kind: 'answer' }>,
    accept: readonly number[] | 'any',
  ): RestAnswer<Data> {
    const { status, data } = received;
    const isAccepted = accept === 'any' || accept.includes(status);
    if ([401, 403, 404].includes(status) && !(isAccepted && status === 404))
      this.forget(repository.owner, repository.name);
    if (status < 300 || isAccepted) return answerOf<Data>(received);
    const { kind } = this.#credentials.current();
    throw refusedAnswer(repository, kind, { ...received, route, message: messageIn(data) });
  }

  async #askGraphql<Data>(question: GraphqlQuestion, isAct: boolean): Promise<{ readonly data?: Data | null }> {
    const { repository, query, urgency } = question;
    const { host, apiUrl } = this.connection;
    const { owner, name } = repository;
    const received = await this.#ask(repository, {
      route: `POST ${graphqlUrlOf(apiUrl)}`,
      name: `POST /graphql ${/^(?:query|mutation) (\w+)/.exec(query)?.[1] ?? ''}`.trim(),
      parameters: { query, variables: { owner, name, ...question.variables } },
      urgency,
      resource: 'graphql',
      isAct,
    });
    if (received.kind === 'lost') throw lostAnswer(host, received.detail);
    return this.#accepted<{ readonly data?: Data | null }>({ repository, route: 'POST /graphql' }, received, []).data;
  }

  #faultOf(repository: RepositoryName, problem: GitHubProblem): Fault {
    const { type, path, message } = problem;
    if (type === 'FORBIDDEN') return forbidden(repository, this.#credentials.current().kind, neededFor(path), message);
    const detail = `GitHub could not answer: ${message}`;
    return isTooMuch(problem) ? tooMuch(detail) : new Fault('FORGE_UNAVAILABLE', detail);
  }
}

export interface RepositoryData {
  readonly id: number;
  readonly node_id: string;
  readonly full_name: string;
  readonly name: string;
  readonly owner: { readonly login: string };
  readonly archived?: boolean;
}

function resolvedOf(data: RepositoryData): ResolvedRepository {
  return {
    id: data.id,
    nodeId: data.node_id,
    fullName: data.full_name,
    owner: data.owner.login,
    name: data.name,
    isArchived: data.archived === true,
  };
}

function answerOf<Data>({ status, data, headers }: RestAnswer<unknown>): RestAnswer<Data> {
  return { status, data: data as Data, headers };
}

function ignore(): void {}
