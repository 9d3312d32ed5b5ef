import { toFlag } from './arguments.ts';
import type { Token } from './token-source.ts';

/** The server's error document (RFC 9457). */
export interface ProblemDocument {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId?: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}

/** Formats the detail, a line for each invalid value, and where to look further. */
export function describeProblem(problem: ProblemDocument, token: Token | undefined): string {
  const lines = [inCommands(problem)];
  const errors = problem.errors ?? [];
  // The detail already contains the only error.
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

/** Translates the server's sentence to the command line: options for fields, commands for operations. */
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
  listCaches: 'cache list',
  clearCaches: 'cache clear',
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
  uploadResults: 'upload',
  listUploads: 'tests uploads',
  processUploadAgain: 'tests uploads again',
  ignoreUpload: 'tests uploads ignore',
  getTestDetails: 'tests show',
  setQuarantine: 'tests quarantine',
  flagTest: 'tests flag',
  muteMonitor: 'tests mute',
  setLabel: 'tests label',
  linkTicketToTestCase: 'tests ticket',
  listTestRuns: 'tests runs',
  listTestEvents: 'tests events',
  listMonitors: 'tests monitors',
  setMonitor: 'tests monitors set',
  deleteMonitor: 'tests monitors delete',
  getTestSettings: 'tests settings',
  updateTestSettings: 'tests settings set',
};

const OPERATION = new RegExp(`\`?\\b(${Object.keys(COMMANDS).join('|')})\\b\`?`, 'g');

function nameCommands(text: string): string {
  const named = text.replace(OPERATION, (_match, name: string) => `\`sluice ${COMMANDS[name]}\``);
  return named.replace(/\b(?:org_url_slug|x-organization)\b/g, ORG);
}

const ORG = '--org (or SLUICE_ORG)';

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
  suites: '--suite',
  repositories: '--repo',
  expiresAt: '--expires',
  checks: '--check',
  impactedTargets: '--target',
  org_url_slug: ORG,
  repo_host: '--repo',
  repo_owner: '--repo',
  repo_name: '--repo',
  pr_number: '--pr',
  job_name: '--job',
  test_id: '<test>',
  test_case_id: '<test>',
  query: '<test>',
  external_ticket_id: '<ticket>',
  url: '<address>',
  monitor_id: '<monitor>',
  expires_at: '--until',
  until: '--for',
  start_time: '--since',
  end_time: '--since',
  page_query: '--cursor',
};

/** `/batchingMinSize` as `--batching-min-size`, `/checks/0/command` as `--check[0].command`. */
function nameOf(pointer: string): string {
  if (pointer === '') return formatPath(pointer);
  if (pointer.startsWith('/monitor/')) return nameOfMonitorField(pointer);
  const [, field = '', rest = ''] = /^\/([^/]*)(.*)$/.exec(pointer) ?? [];
  const option = NAMES[field] ?? `--${toFlag(field).replaceAll('_', '-')}`;
  return rest === '' ? option : `${option}${rest.startsWith('/') && !/^\/\d/.test(rest) ? '.' : ''}${formatPath(rest)}`;
}

/** Options of `tests monitors set`, by the value's place in the request. */
const MONITOR_OPTIONS: readonly (readonly [field: string, option: string])[] = [
  ['/monitor/id', '<monitor>'],
  ['/monitor/type', '--type'],
  ['/monitor/name', '--name'],
  ['/monitor/enabled', '--enabled'],
  ['/monitor/branches', '--branches'],
  ['/monitor/action/classify', '--classify'],
  ['/monitor/action/labels', '--labels'],
  ['/monitor/action/remove_on_resolve', '--keep-labels'],
  ['/monitor/action', '--classify or --labels'],
  ['/monitor/parameters', '--parameter'],
];

/** `/monitor/parameters/window_hours` as `--parameter window_hours`. A field without an option keeps its path. */
function nameOfMonitorField(pointer: string): string {
  const found = MONITOR_OPTIONS.find(([field]) => pointer === field || pointer.startsWith(`${field}/`));
  if (found === undefined) return formatPath(pointer);
  const [field, option] = found;
  const rest = pointer.slice(field.length);
  if (rest === '') return option;
  return /^\/\d/.test(rest) ? `${option}${formatPath(rest)}` : `${option} ${formatPath(rest)}`;
}

/** `/checks/0/command` as `checks[0].command`. */
function formatPath(pointer: string): string {
  const text = pointer.replace(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.');
  return text.replace(/^\./, '') || 'the request';
}
