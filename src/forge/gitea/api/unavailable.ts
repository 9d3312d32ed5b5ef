import type { Refused } from '../../hosted/rest-client.ts';
import type { RepositoryName } from '../../hosting.ts';

interface About {
  readonly repository?: RepositoryName;
}

/** The message of a refusal. A proxy answers with a page. */
export function messageIn(data: unknown): string {
  if (typeof data !== 'object' || data === null || !('message' in data)) return '';
  return typeof data.message === 'string' ? data.message : '';
}

/** Turns an unexpected status into a sentence that tells the operator what to do. */
// SPEC G100
export function explain({ repository }: About, { status, message }: Refused): string {
  const where = repository === undefined ? '' : ` on ${repository.owner}/${repository.name}`;
  const said = message === '' ? '' : `: ${message.replace(/\.$/, '')}`;
  if (status === 401) return `Gitea refuses the token${said}. Has it expired, or was it deleted?`;
  if (status === 403 && /required scope/i.test(message)) return `The token lacks a scope${where}${said}.`;
  if (status === 403)
    return `The account of the token may not do this${where}${said}. Make it an administrator of the repository.`;
  if (status === 404) return `Gitea has nothing there${where}, or does not show it to the account of the token.`;
  return `Gitea answered ${status}${where}${said}`;
}
