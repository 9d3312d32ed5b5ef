import type { CheckRunner } from '../../check-runner/runner.ts';
import type { Forge } from '../../forge/forge.ts';
import type { IdentityProvider } from '../../identity/identity.ts';
import type { LaneReader } from '../../lanes/lanes.ts';
import type { Instant, Timing } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Role } from '../../lib/role.ts';
import type { Tracing } from '../../lib/trace.ts';
import type { PersonalSender, SecretBox, WebhookSender } from '../../outgoing/outgoing.ts';
import type { Simulator } from '../../simulator/simulator.ts';
import type { Organization, Scope } from '../../storage/accounts.ts';
import type { ProvenPerson } from '../../storage/proven-person.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { Store } from '../../storage/store.ts';
import type { Backups } from './backups.ts';
import type { Caller } from './caller.ts';
import type { Directory } from './directory.ts';
import type { Feed } from './feed.ts';
import type { Forecasting } from './forecasting.ts';
import type { Outages } from './outages.ts';
import type { QueueHost } from './queue-host.ts';
import type { WakeSignal } from './wake-signal.ts';

/** Everything a use case may need. Made once, in main.ts. */
export interface App {
  readonly store: Store;
  readonly queues: QueueHost;
  readonly directory: Directory;
  readonly auth: Auth;
  readonly forges: Forges;
  readonly checkRunner: CheckRunner;
  readonly clock: Timing;
  readonly ingest: Ingest;
  readonly outages: Outages;
  readonly hints: WakeSignal;
  readonly feed: Feed;
  readonly webhooks: WebhookAccess;
  readonly log: Log;
  /** The server's own address, for links in comments and check runs. Undefined: no links. */
  readonly publicUrl?: string | undefined;
  /** How many days a personal token lasts at most. Absent: 90. */
  readonly tokenDays?: number;
  /** Logs upload addresses that clients asked for and never used. */
  readonly unusedUploads?: { watch(given: IssuedUploadUrl): void };
  readonly backups: Backups;
  readonly simulator: Simulator;
  readonly lanes: LaneReader;
  readonly forecasts: Forecasting;
  readonly admin: AdminAccess;
  /** Those who prove who a person is, by their keys. Absent: people sign in with tokens alone. */
  readonly providers?: ReadonlyMap<string, IdentityProvider>;
  readonly people?: RolesOfPeople;
  /** Absent: nothing is traced. */
  readonly tracing?: Tracing | undefined;
}

export interface RoleInRepository {
  readonly repository: Repository;
  readonly role: Role;
}

interface RoleQuery {
  readonly scope: Scope;
  /** A token asks: what the forge said is no older than for an act, whatever the scope. */
  readonly isToken: boolean;
}

export interface RolesOfPeople {
  /** The role in the organization as a whole, and so in each of its repositories. */
  roleIn(organization: Organization, person: ProvenPerson): Role | undefined;
  /** The highest role in a repository. */
  findRole(
    organization: Organization,
    person: ProvenPerson,
    of: { readonly repository: Repository } & RoleQuery,
  ): Promise<Role | undefined>;
  /** The repositories in which the person has a role, of those with an id in `within`; null: of all. */
  listRoles(
    organization: Organization,
    person: ProvenPerson,
    of: RoleQuery & { readonly within: ReadonlySet<string> | null },
  ): Promise<readonly RoleInRepository[]>;
  /** The slugs of the organizations in which the person has any role. */
  listOrganizations(person: ProvenPerson): Promise<readonly string[]>;
  /** Whether the table makes somebody an admin of the whole organization. */
  hasAdministrators(organization: Organization): boolean;
  keepGroups(groups: readonly string[]): readonly string[];
}

/** How an operator gets in: the configured organization, and the file or variable that has its token. */
export interface AdminAccess {
  readonly slug: string;
  readonly adminToken: string | undefined;
  /** In the data folder. */
  readonly tokenFile: string;
}

export interface WebhookAccess {
  /** Deliveries wait. */
  readonly signal: WakeSignal;
  readonly box: SecretBox;
  readonly sender: WebhookSender;
  readonly people: PersonalSender;
  /** Of this server, since it started. */
  readonly attempts: { delivered: number; failed: number };
}

export interface Auth {
  /** Undefined for a secret that is unknown, revoked or expired. Synchronous when the token is cached. */
  find(secret: string): Caller | undefined | Promise<Caller | undefined>;
  /** Empties the cache: a token was created, revoked or replaced. */
  forget(): void;
  close(): Promise<void>;
}

export interface IssuedUploadUrl {
  readonly uploadId: string;
  readonly expiresAt: Instant;
  readonly organization: string;
  /** The server's address, as the client was given it. */
  readonly address: string;
}

/** The process that takes in uploads. */
export interface Ingest {
  /** An upload or changed settings wait. */
  wake(): void;
  /** Processes nothing while `action` replaces the stored data, and then drops its caches. */
  withWritesPaused<T>(action: () => Promise<T>): Promise<T>;
  /** Calls back when this server has stored results of a candidate's check; returns a function that unsubscribes. */
  onCheckResults(
    listener: (result: { readonly repositoryId: string; readonly candidateId: string; readonly check: string }) => void,
  ): () => void;
  /** The process as the server sees it. Absent: there is none. */
  watched?(): {
    readonly residentBytes: number;
    readonly silentMs: number;
    readonly kills: Readonly<Record<'memory' | 'stuck', number>>;
  };
}

/** `local` is plain git; every other host is a forge that an operator connected. */
export type Forges = ReadonlyMap<string, Forge>;
