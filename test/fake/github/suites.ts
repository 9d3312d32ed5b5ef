import { covers } from './auth.ts';
import { ensureSuite } from './checks.ts';
import type { Repository, World } from './model.ts';

/**
 * After a push, GitHub creates a suite for every app that reports checks. It stays empty if the app does not report.
 */
export function requestSuites(world: World, repository: Repository, sha: string): void {
  if (!world.options.requestsSuites) return;
  for (const installation of world.installations.values()) {
    const { app, permissions, suspendedAt } = installation;
    if (permissions['checks'] !== 'write' || suspendedAt !== undefined || !covers(installation, repository)) continue;
    if (repository.suites.some((suite) => suite.app === app && suite.sha === sha)) continue;
    const suite = ensureSuite(world, repository, app, sha);
    world.announce({ event: 'check_suite', action: 'requested', repository, sender: app.bot, suite });
  }
}
