import { initial } from './001-initial.ts';
import { idempotentRequests } from './002-idempotent-requests.ts';
import { past } from './003-past.ts';
import { sessions } from './004-sessions.ts';
import { feedWaiting } from './005-feed-waiting.ts';
import { markedTests } from './006-marked-tests.ts';
import { feedInChanges } from './007-feed-in-changes.ts';
import { people } from './008-people.ts';
import { servers } from './009-servers.ts';
import { tokensOfPeople } from './010-tokens-of-people.ts';
import { figuresWithoutOrders } from './011-figures-without-orders.ts';
import { waitingChanges } from './012-waiting-changes.ts';
import { testedTrees } from './013-tested-trees.ts';
import { fileChecks } from './014-file-checks.ts';
import { tokensOfAgents } from './015-tokens-of-agents.ts';
import { messages } from './016-messages.ts';
import type { Migration } from './migration.ts';

/** In order: the first is version 1. */
export const MIGRATIONS: readonly Migration[] = [
  initial,
  idempotentRequests,
  past,
  sessions,
  feedWaiting,
  markedTests,
  feedInChanges,
  people,
  servers,
  tokensOfPeople,
  figuresWithoutOrders,
  waitingChanges,
  testedTrees,
  fileChecks,
  tokensOfAgents,
  messages,
];
