import { Fault } from '../../../lib/fault.ts';
import type { RepositoryName } from '../../hosting.ts';
import { KNOWN_NOT_APPLIED } from '../../known-not-applied.ts';
import type { Lost } from './exchange.ts';

export function lostAnswer(host: string, { detail, isSent }: Lost): Fault {
  return new Fault(
    'FORGE_UNAVAILABLE',
    `${host} did not answer: ${detail}`,
    isSent ? {} : { cause: KNOWN_NOT_APPLIED },
  );
}

/** The message of a refusal. A proxy answers with a page. */
export function messageIn(data: unknown): string {
  if (typeof data !== 'object' || data === null || !('message' in data)) return '';
  return typeof data.message === 'string' ? data.message : '';
}

interface Refused {
  readonly status: number;
  readonly message: string;
}

/** Turns an unexpected status into a sentence that tells the operator what to do. */
// SPEC G100
export function refusedAnswer(repository: RepositoryName | undefined, { status, message }: Refused): Fault {
  const where = repository === undefined ? '' : ` on ${repository.owner}/${repository.name}`;
  const said = message === '' ? '' : `: ${message.replace(/\.$/, '')}`;
  return new Fault('FORGE_UNAVAILABLE', sentenceOf({ status, message }, where, said), { cause: { status } });
}

function sentenceOf({ status, message }: Refused, where: string, said: string): string {
  if (status === 401) return `Gitea refuses the token${said}. Has it expired, or was it deleted?`;
  if (status === 403 && /required scope/i.test(message)) return `The token lacks a scope${where}${said}.`;
  if (status === 403)
    return `The account of the token may not do this${where}${said}. Make it an administrator of the repository.`;
  if (status === 404) return `Gitea has nothing there${where}, or does not show it to the account of the token.`;
  return `Gitea answered ${status}${where}${said}`;
}
