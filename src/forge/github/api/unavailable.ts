import { Fault } from '../../../lib/fault.ts';
import { bareText } from '../../hosted/forge-text.ts';
import type { RepositoryName } from '../../hosting.ts';

export interface RefusedAnswer {
  readonly route?: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly message: string;
}

export function lostAnswer(host: string, detail: string): Fault {
  return new Fault('FORGE_UNAVAILABLE', `${host} did not answer: ${bareText(detail)}`);
}

export function notInstalled({ owner, name }: RepositoryName): Fault {
  return new Fault(
    'FORGE_UNAVAILABLE',
    `The GitHub App is not installed on ${owner}/${name}, or there is no such repository. Install it there, or add the repository to its installation.`,
  );
}

export function suspended({ owner, name }: RepositoryName): Fault {
  return new Fault(
    'FORGE_UNAVAILABLE',
    `The installation of the GitHub App on ${owner}/${name} is suspended. Unsuspend it in the settings of ${owner}.`,
  );
}

export function refusedCredentials(kind: 'app' | 'token', message: string): Fault {
  const what = kind === 'app' ? "the GitHub App's id and private key" : 'the token';
  const fix =
    kind === 'app'
      ? "Was the key rotated, is it another App's, or was the App deleted?"
      : 'Has it expired, or was it revoked?';
  return new Fault('FORGE_UNAVAILABLE', `GitHub refuses ${what}: ${bareText(message).replace(/\.$/, '')}. ${fix}`);
}

/** Turns an unexpected status into a sentence that tells the operator what to do. */
// SPEC G100
export function refusedAnswer(repository: RepositoryName, kind: 'app' | 'token', answer: RefusedAnswer): Fault {
  const { status } = answer;
  const message = bareText(answer.message);
  if (status === 401) return refusedCredentials(kind, message);
  if (status === 403 && /suspended/i.test(message)) return suspended(repository);
  if (status === 403) return forbidden(repository, kind, answer.headers['x-accepted-github-permissions'], message);
  if (status === 404) return notFound(repository, kind, answer.route);
  const said = message === '' ? '' : `: ${message}`;
  const detail = `GitHub answered ${status} about ${repository.owner}/${repository.name}${said}`;
  return new Fault('FORGE_UNAVAILABLE', detail, { cause: { status } });
}

/** The query is larger than GitHub answers at once. */
export function tooMuch(detail: string): Fault {
  return new Fault('FORGE_UNAVAILABLE', detail, { cause: { isTooMuch: true } });
}

/** It timed out or was refused for its size: a smaller query may succeed. GitHub answers 503 when it is down. */
export function isOverwhelmed(error: unknown): boolean {
  if (!(error instanceof Fault) || typeof error.cause !== 'object' || error.cause === null) return false;
  return 'isTooMuch' in error.cause || ('status' in error.cause && [502, 504].includes(Number(error.cause.status)));
}

export function forbidden(
  { owner, name }: RepositoryName,
  kind: 'app' | 'token',
  needed: string | undefined,
  message: string,
): Fault {
  const who = kind === 'app' ? 'The GitHub App' : 'The token';
  const what = needed === undefined ? '' : ` It needs ${bareText(needed).replaceAll('=', ': ')}.`;
  return new Fault('FORGE_UNAVAILABLE', `${who} may not do this on ${owner}/${name}: ${bareText(message)}.${what}`);
}

/** When the repository itself is not found, the App is usually not installed on it. */
function notFound(repository: RepositoryName, kind: 'app' | 'token', route: string | undefined): Fault {
  const { owner, name } = repository;
  if (route !== undefined && route !== 'GET /repos/{owner}/{repo}') {
    return new Fault(
      'FORGE_UNAVAILABLE',
      `GitHub has nothing there on ${owner}/${name}, or does not show it: ${route}`,
    );
  }
  if (kind === 'app') return notInstalled(repository);
  return new Fault('FORGE_UNAVAILABLE', `There is no repository ${owner}/${name}, or the token may not see it.`);
}

/** GraphQL does not say which permission a forbidden field needs. */
const NEEDED: Readonly<Record<string, string>> = {
  statusCheckRollup: 'checks: read and statuses: read',
  branchProtectionRule: 'administration: read',
  pullRequest: 'pull_requests: read',
  pullRequests: 'pull_requests: read',
  comments: 'issues: read',
  labels: 'issues: read',
  collaborators: 'metadata: read',
  object: 'contents: read',
};

export function neededFor(path: readonly string[]): string {
  const step = path.findLast((part) => Object.hasOwn(NEEDED, part));
  return step === undefined ? `leave to read ${path.at(-1) ?? 'this'}` : (NEEDED[step] ?? '');
}
