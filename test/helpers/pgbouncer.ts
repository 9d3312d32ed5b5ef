import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chownSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { otherUser } from './postgres.ts';

const PLACES = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer', '/opt/homebrew/bin/pgbouncer'];

export const PGBOUNCER = PLACES.find((place) => {
  try {
    accessSync(place, constants.X_OK);
    return true;
  } catch {
    return false;
  }
});

/** For `skip` of a test: a reason, or false. */
export const withoutPgbouncer = PGBOUNCER === undefined && 'PgBouncer is not installed (Debian: pgbouncer)';

export interface PgBouncer {
  /** The same database, through the pooler. */
  urlOf(url: string): string;
  restart(): Promise<void>;
}

/** A real PgBouncer in transaction mode with few connections to the database. */
export async function startPgbouncer(t: TestContext, url: string, poolSize = 4): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pgbouncer-'));
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  const settings = [
    '[databases]',
    `* = host=${new URL(url).searchParams.get('host')} user=postgres`,
    '[pgbouncer]',
    `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = any`,
    `pool_mode = transaction\ndefault_pool_size = ${poolSize}\nmax_client_conn = 200`,
  ];
  writeFileSync(file, settings.join('\n'), { mode: 0o644 });
  if (otherUser.uid !== undefined) {
    for (const path of [folder, file]) chownSync(path, otherUser.uid, otherUser.gid);
  }
  const start = async () => {
    const child = spawn(PGBOUNCER as string, ['-q', file], { ...otherUser, cwd: folder, stdio: 'ignore' });
    while (!(await isListening(port))) {
      if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}`);
    }
    return { child, ended: once(child, 'exit') };
  };
  let running = await start();
  const stop = async () => {
    running.child.kill('SIGKILL');
    await running.ended;
  };
  t.after(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    urlOf: (direct) => `postgres://postgres@127.0.0.1:${port}${new URL(direct).pathname}`,
    restart: async () => {
      await stop();
      running = await start();
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const answer = (isOpen: boolean) => () => setTimeout(() => resolve(isOpen), isOpen ? 0 : 20);
    socket
      .on('connect', () => socket.destroy())
      .on('connect', answer(true))
      .on('error', answer(false));
  });
}
