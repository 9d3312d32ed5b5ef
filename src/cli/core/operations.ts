import type { Static, TSchema } from 'typebox';
import type * as access from '../../contract/access.ts';
import type * as breakage from '../../contract/breakage.ts';
import type * as caches from '../../contract/caches.ts';
import type * as candidateLog from '../../contract/candidate-log.ts';
import type * as costOfFlakes from '../../contract/cost-of-flakes.ts';
import type * as events from '../../contract/events.ts';
import type * as flakyTests from '../../contract/flaky-tests.ts';
import type * as monitors from '../../contract/monitors.ts';
import type * as notifications from '../../contract/notifications.ts';
import type { Operation } from '../../contract/operation.ts';
import type * as pullRequests from '../../contract/pull-requests.ts';
import type * as queues from '../../contract/queues.ts';
import type * as repositories from '../../contract/repositories.ts';
import type * as secrets from '../../contract/secrets.ts';
import type * as server from '../../contract/server.ts';
import type * as testActs from '../../contract/test-acts.ts';
import type * as testHistory from '../../contract/test-history.ts';
import type * as testSettings from '../../contract/test-settings.ts';
import type * as testing from '../../contract/testing.ts';
import type * as tryChecks from '../../contract/try-checks.ts';
import type * as uploader from '../../contract/uploader.ts';
import type * as uploads from '../../contract/uploads.ts';
import type * as webhooks from '../../contract/webhooks.ts';
import contract from './contract.json' with { type: 'json' };
import type { KnownFields } from './json-fields.ts';

type Contract = typeof access &
  typeof breakage &
  typeof caches &
  typeof candidateLog &
  typeof costOfFlakes &
  typeof events &
  typeof flakyTests &
  typeof monitors &
  typeof notifications &
  typeof pullRequests &
  typeof queues &
  typeof repositories &
  typeof server &
  typeof testActs &
  typeof testHistory &
  typeof testSettings &
  typeof testing &
  typeof secrets &
  typeof tryChecks &
  typeof uploader &
  typeof uploads &
  typeof webhooks;

type Operations = {
  [Name in keyof Contract as Contract[Name] extends Operation<TSchema, TSchema> ? Name : never]: Contract[Name];
};

export type OperationName = keyof Operations;
export type BodyOf<Name extends OperationName> = Static<Operations[Name]['body']>;
export type AnswerOf<Name extends OperationName> = Static<Operations[Name]['reply']>;

/** Loading the contract itself would cost every command more time than its request. */
// SPEC W20
export function routeOf(name: OperationName) {
  const { method = 'POST', path = `/${name}`, isRead = false } = routes[name] ?? {};
  return { method, path: `/v1${path}`, isRead };
}

/** The fields that a reply of an operation can have, and those of the items of its lists, with commas between them. */
export function fieldsOf(name: OperationName): KnownFields {
  const text = (contract.fields as Readonly<Partial<Record<OperationName, string>>>)[name];
  const [own = '', items = ''] = text?.split(';') ?? [];
  return { own, items };
}

interface Route {
  readonly method?: string;
  readonly path?: string;
  readonly isRead?: boolean;
}

const routes: Readonly<Partial<Record<OperationName, Route>>> = contract.routes;

/** The values that options offer, as the contract lists them. */
export const CHOICES: Readonly<Record<keyof typeof contract.choices, readonly string[]>> = contract.choices;

/** The parts of a JSON schema that make an option. */
export interface FieldSchema {
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: FieldSchema;
  readonly anyOf?: readonly FieldSchema[];
}

export const QUEUE_SETTINGS: Readonly<Record<string, FieldSchema>> = contract.queueSettings;

export interface TestSetting {
  readonly type?: string | readonly string[];
}

export const TEST_SETTINGS: Readonly<Record<string, TestSetting>> = contract.testSettings;
