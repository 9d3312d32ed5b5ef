import { toFlag } from './arguments.ts';
import type { Token } from './token-source.ts';

/** What the server says when it refuses or fails (RFC 9457). */
export interface ProblemDocument {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId?: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}

/** In words: the sentence, a line for each value that does not fit, and where to look further. */
export function describeProblem(problem: ProblemDocument, token: Token | undefined): string {
  const lines = [inCommands(problem)];
  const errors = problem.errors ?? [];
  // The sentence already says the only one.
  const isSaid = errors.length === 1 && problem.detail.includes(errors[0]?.message ?? '');
  if (!isSaid) for (const { path, message } of errors) lines.push(`  ${nameOf(path)} ${nameCommands(message)}`);
  if (problem.status === 401 && token !== undefined) lines.push(`The token came from ${token.source}.`);
  if (problem.status === 403 && token !== undefined) {
    lines.push(
      `The token came from ${token.source}. Name a file with another one by --token-file, or set SLUICE_TOKEN.`,
    );
  }
  if (problem.status >= 500 && problem.requestId !== undefined) {
    lines.push(`The server's log has more under the request id ${problem.requestId}.`);
  }
  return lines.join('\n');
}

/** The sentence of the server with the words of the command line: options for fields, commands for operations. */
function inCommands({ detail, errors = [] }: ProblemDocument): string {
  const named = errors.reduce(
    (text, { path, message }) => text.replace(`${formatPath(path)} ${message}`, `${nameOf(path)} ${message}`),
    detail,
  );
  return nameCommands(named);
}

const COMMANDS: Readonly<Record<string, string>> = {
  registerRepository: 'repo add',
  listRepositories: 'repo list',
  removeRepository: 'repo remove',
  createQueue: 'queue create',
  updateQueue: 'queue update',
  getQueue: 'queue show',
  deleteQueue: 'queue delete',
  listQueues: 'queue list',
  submitPullRequest: 'pr submit',
  cancelPullRequest: 'pr cancel',
  restartTestsOnPullRequest: 'pr restart',
  getSubmittedPullRequest: 'pr status',
  setImpactedTargets: 'pr targets',
  listPullRequests: 'pr list',
  getCandidateLog: 'logs',
  createApiToken: 'token create',
  listApiTokens: 'token list',
  revokeApiToken: 'token revoke',
  createOrganization: 'org add',
  createBackup: 'backup',
  restoreBackup: 'restore',
};

const OPERATION = new RegExp(`\`?\\b(${Object.keys(COMMANDS).join('|')})\\b\`?`, 'g');

function nameCommands(text: string): string {
  return text.replace(OPERATION, (_match, name: string) => `\`sluice ${COMMANDS[name]}\``);
}

/** Fields whose option has another name, or that are arguments. */
const NAMES: Readonly<Record<string, string>> = {
  repo: '<repo>',
  targetBranch: '<branch>',
  pr: '<number>',
  file: '<file>',
  slug: '<slug>',
  id: '<id>',
  testRunId: '<candidate>',
  check: '<check>',
  take: '--limit',
  scopes: '--scope',
  repositories: '--repo',
  expiresAt: '--expires',
  checks: '--check',
  impactedTargets: '--target',
};

/** `/batchingMinSize` as `--batching-min-size`, `/checks/0/command` as `--check[0].command`. */
function nameOf(pointer: string): string {
  if (pointer === '') return formatPath(pointer);
  const [, field = '', rest = ''] = /^\/([^/]*)(.*)$/.exec(pointer) ?? [];
  const option = NAMES[field] ?? `--${toFlag(field)}`;
  return rest === '' ? option : `${option}${rest.startsWith('/') && !/^\/\d/.test(rest) ? '.' : ''}${formatPath(rest)}`;
}

/** `/checks/0/command` as `checks[0].command`. */
function formatPath(pointer: string): string {
  const text = pointer.replace(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.');
  return text.replace(/^\./, '') || 'the request';
}
