import pg from 'pg';
import { assert } from '../../lib/assert.ts';
import { Fault } from '../../lib/fault.ts';

const INT8_OID = 20;
const MAX_CLIENTS = 16;
const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 30_000;
/** Longer than the server's own limit: this one is for a server that does not answer at all. */
const QUERY_TIMEOUT_MS = 40_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;

export interface Server {
  readonly pool: pg.Pool;
  /** For people; without the password. */
  readonly name: string;
}

export function createServer(url: string, poolSize = MAX_CLIENTS): Server {
  const name = nameOf(url);
  const config: pg.PoolConfig & { pipeline: boolean } = {
    connectionString: url,
    application_name: 'sluice',
    max: poolSize,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    // The statements of one step travel together.
    pipeline: true,
    types: { getTypeParser: typeParser },
  };
  const pool = new pg.Pool(config);
  // A client that loses its server emits 'error' here too, and without a listener that would end the process. The pool
  // drops an idle client by itself; the query of a busy one fails and is handled there.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return { pool, name };
}

/** The driver's error about an unreadable URL quotes it with its password, so it is dropped here. */
function nameOf(url: string): string {
  try {
    const { host, port, database } = new pg.Client({ connectionString: url });
    return `PostgreSQL at ${host}:${port}, database ${database},`;
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
