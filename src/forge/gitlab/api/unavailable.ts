import type { Refused } from '../../hosted/rest-client.ts';
import type { RepositoryName } from '../../hosting.ts';

/** The message of a refusal: a text, a list, or an object of lists. A proxy answers with a page. */
export function messageIn(data: unknown): string {
  if (typeof data !== 'object' || data === null) return '';
  const { message, error, error_description: described } = data as Readonly<Record<string, unknown>>;
  const found = described ?? message ?? error ?? '';
  return typeof found === 'string'
    ? found
    : JSON.stringify(found)
        .replaceAll(/[[\]{}"]/g, ' ')
        .trim();
}

/** Turns an unexpected status into a sentence that tells the operator what to do. */
export function explain(
  { repository }: { readonly repository?: RepositoryName },
  { status, message }: Refused,
): string {
  const where = repository === undefined ? '' : ` on ${repository.owner}/${repository.name}`;
  const said = message === '' ? '' : `: ${message.replace(/\.$/, '')}`;
  if (status === 401) return `GitLab refuses the token${said}. Has it expired, or was it revoked?`;
  if (status === 403 && /scope/i.test(message)) return `The token lacks the scope api${where}${said}.`;
  if (status === 403)
    return `The account of the token may not do this${where}${said}. Give the token the role Maintainer.`;
  if (status === 404) return `GitLab has nothing there${where}, or does not show it to the account of the token.`;
  return `GitLab answered ${status}${where}${said}`;
}
