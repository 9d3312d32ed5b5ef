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
  const lines = [problem.detail];
  const errors = problem.errors ?? [];
  // The sentence already says the only one.
  const isSaid = errors.length === 1 && problem.detail.includes(errors[0]?.message ?? '');
  if (!isSaid) for (const { path, message } of errors) lines.push(`  ${formatPath(path)} ${message}`);
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

/** `/checks/0/command` as `checks[0].command`. */
function formatPath(pointer: string): string {
  const text = pointer.replace(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.');
  return text.replace(/^\./, '') || 'the request';
}
