import { accountsRepositoriesQueues } from './001-accounts-repositories-queues.ts';
import { tests } from './002-tests.ts';
import { targetSetAges } from './003-target-set-ages.ts';
import { candidatesEffects } from './004-candidates-effects.ts';
import { logsAlarms } from './005-logs-alarms.ts';
import { testResults } from './006-test-results.ts';
import { noticesNotes } from './007-notices-notes.ts';
import { forkTargets } from './008-fork-targets.ts';
import { repositoryIdentity } from './009-repository-identity.ts';
import { suitePaths } from './010-suite-paths.ts';
import { alarmEnds } from './011-alarm-ends.ts';
import { trustedChecks } from './012-trusted-checks.ts';
import { evidence } from './013-evidence.ts';
import { repositoryHooks } from './014-repository-hooks.ts';
import type { Migration } from './migration.ts';

/** In order: the first is version 1. */
export const MIGRATIONS: readonly Migration[] = [
  accountsRepositoriesQueues,
  tests,
  targetSetAges,
  candidatesEffects,
  logsAlarms,
  testResults,
  noticesNotes,
  forkTargets,
  repositoryIdentity,
  suitePaths,
  alarmEnds,
  trustedChecks,
  evidence,
  repositoryHooks,
];
