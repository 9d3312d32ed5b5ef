import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { assert } from '../../lib/assert.ts';
import { Fault } from '../../lib/fault.ts';
import { codeOf, isBroken } from './errors.ts';

const INT8_OID = 20;
const MAX_CLIENTS = 16;
const CONNECT_TIMEOUT_MS = 5_000;
/** A database without a free connection is asked again after this time. */
const NO_ROOM_DELAY_MS = 100;
const QUERY_TIMEOUT_MS = 40_000;

/** Limits of the database for a session. */
const SESSION_LIMITS = {
  /** Shorter than the limit of the driver, which is for a server that does not answer at all. */
  statement_timeout: 30_000,
  idle_in_transaction_session_timeout: 60_000,
};

/** The codes of PostgreSQL for a database that only allows reading, and for one that is full. */
const READ_ONLY = '25006';
const NO_ROOM = '53300';

export interface Server {
  readonly pool: pg.Pool;
  /** For people; without the password. */
  readonly name: string;
  /** A connection to the host that takes writes. */
  connect(): Promise<pg.PoolClient>;
  /** Whether a pooler such as PgBouncer is between: what one transaction prepares, the next may not find. */
  isPooled(client: pg.PoolClient): boolean;
  /** A connection beside the pool, not yet open. */
  createClient(): pg.Client;
  /** Refuses a standby, and answers whether a pooler is between. */
  verify(client: pg.Client): Promise<boolean>;
}

// SPEC D36
export function createServer(url: string, poolSize = MAX_CLIENTS): Server {
  const urls = splitHosts(url);
  const name = nameOf(urls);
  const pooled = new WeakSet<object>();
  const state = { host: 0, limits: SESSION_LIMITS as Partial<typeof SESSION_LIMITS> };
  const config: pg.PoolConfig & { pipeline: boolean; verify: Verify; Client: typeof pg.Client } = {
    application_name: 'sluice',
    max: poolSize,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // Polls would open connections again and again.
    idleTimeoutMillis: 120_000,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    // The statements of one step travel together.
    pipeline: true,
    types: { getTypeParser: typeParser },
    Client: class extends pg.Client {
      constructor(given?: pg.ClientConfig) {
        super({ ...given, ...state.limits, connectionString: urls[state.host] as string });
      }
    },
    verify: (client, done) => {
      verify(client).then((isOfPooler) => {
        if (isOfPooler) pooled.add(client);
        done();
      }, done);
    },
  };
  const pool = new pg.Pool(config);
  // A client that loses its server emits 'error' here too, and without a listener that would end the process. The pool
  // drops an idle client by itself; the query of a busy one fails and is handled there.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));

  const connect = async (): Promise<pg.PoolClient> => {
    const until = performance.now() + CONNECT_TIMEOUT_MS;
    for (let tried = 1; ; ) {
      const { host } = state;
      try {
        return await pool.connect();
      } catch (error) {
        if (isLimitRefused(error) && state.limits !== NO_LIMITS) {
          state.limits = NO_LIMITS;
        } else if (codeOf(error) === NO_ROOM && performance.now() < until) {
          await delay(NO_ROOM_DELAY_MS);
        } else if ((isBroken(error) || codeOf(error) === READ_ONLY) && tried < urls.length) {
          tried += 1;
          // Another request may have gone on to the next host already.
          if (state.host === host) state.host = (host + 1) % urls.length;
        } else throw error;
      }
    }
  };
  return {
    pool,
    name,
    connect,
    isPooled: (client) => pooled.has(client),
    createClient: () => new config.Client(config),
    verify,
  };
}

type Verify = (client: pg.Client, done: (error?: Error) => void) => void;

const NO_LIMITS = {};

/** PgBouncer knows few parameters of a session. */
function isLimitRefused(error: unknown): boolean {
  return error instanceof Error && /unsupported startup parameter/.test(error.message);
}

/** A standby's data may be old. Answers whether a pooler is between: then another process answers than was named. */
// SPEC D33
async function verify(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(
    "SELECT current_setting('transaction_read_only') AS is_read_only, pg_backend_pid() AS pid",
  );
  const [{ is_read_only, pid }] = rows as [{ is_read_only: string; pid: number }];
  if (is_read_only === 'on') throw Object.assign(new Error('the database only allows reading'), { code: READ_ONLY });
  return pid !== (client as unknown as { processID: number }).processID;
}

/** `postgres://user@one:5432,two:5432/name` is two URLs. */
function splitHosts(url: string): readonly string[] {
  const [, start, hosts, end] = /^(\w+:\/\/(?:[^@/]*@)?)([^/?]*,[^/?]*)(.*)$/.exec(url) ?? [];
  return hosts === undefined ? [url] : hosts.split(',').map((host) => `${start}${host}${end}`);
}

/** The driver's error about an unreadable URL quotes it with its password, so it is dropped here. */
function nameOf(urls: readonly string[]): string {
  try {
    const clients = urls.map((url) => new pg.Client({ connectionString: url }));
    const hosts = clients.map(({ host, port }) => `${host}:${port}`).join(' or ');
    return `PostgreSQL at ${hosts}, database ${clients[0]?.database},`;
  } catch {
    throw new Fault('STORE_UNAVAILABLE', 'The URL of the PostgreSQL database cannot be understood.');
  }
}

const typeParser: typeof pg.types.getTypeParser = ((oid: number, format?: 'text') =>
  oid === INT8_OID ? parseInt8 : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser;

function parseInt8(text: string): number {
  const value = Number(text);
  assert(Number.isSafeInteger(value), `${text} is beyond the integers of JavaScript`);
  return value;
}
