import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { formatRef } from '../core/find-queue.ts';

/** Why this server does not run the checks of a repository, and the remedy. Undefined where it does run them. */
export function explainBlockedChecks(
  { checkRunner }: Pick<App, 'checkRunner'>,
  repository: Pick<Repository, 'host' | 'owner' | 'name' | 'trustChecks'>,
): string | undefined {
  if (checkRunner.safety.runsUntrusted || repository.trustChecks) return undefined;
  const trust = `sluice repo add ${formatRef(repository)} --trust-checks`;
  return `${checkRunner.safety.sentence} So checks wait, until the operator installs bubblewrap or allows user namespaces and starts the server again, or trusts whoever can open a pull request: ${trust}`;
}
