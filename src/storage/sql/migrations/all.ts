import type { Migration } from '../migration.ts';
import { accountsRepositoriesQueues } from './001-accounts-repositories-queues.ts';
import { tests } from './002-tests.ts';

/** In order: the first is version 1. */
export const MIGRATIONS: readonly Migration[] = [accountsRepositoriesQueues, tests];
