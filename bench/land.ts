import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SLUICE } from '../test/helpers/sluice-command.ts';
import { median, p95, printFigure, progress } from './lib/figure.ts';
import { call, createRepository, QUEUE, REPO, startSluice, TOKEN } from './lib/world.ts';

const LANDINGS = 20;

/** How long after its landing a command ends that landed a sound change, on a server that has nothing else to do. */
export async function run(): Promise<void> {
  progress(`land: ${LANDINGS} sound changes, one after the other`);
  const folder = mkdtempSync(join(tmpdir(), 'sluice-land-'));
  const git = createRepository(join(folder, 'app.git'), 0);
  const server = await startSluice(join(folder, 'data'));
  const checks = [{ name: 'unit', command: 'sleep 1' }];
  await call(server.url, '/registerRepository', { repo: REPO, git, checks });
  await call(server.url, '/createQueue', QUEUE);
  const clone = join(folder, 'clone');
  execFileSync('git', ['clone', '--quiet', git, clone]);
  const env = { ...process.env, SLUICE_URL: server.url, SLUICE_TOKEN: TOKEN };
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  const waits: number[] = [];
  for (let round = 1; round <= LANDINGS; round += 1) {
    execFileSync('git', ['-C', clone, 'fetch', '--quiet']);
    execFileSync('git', ['-C', clone, 'reset', '--quiet', '--hard', 'origin/main']);
    execFileSync('git', ['-C', clone, ...who, 'commit', '--quiet', '--allow-empty', '--message', `Change ${round}`]);
    const land = execFileSync(process.execPath, [...SLUICE, 'land', '--json'], { cwd: clone, env, encoding: 'utf8' });
    const { landed } = JSON.parse(land);
    waits.push(Date.now() - Date.parse(landed.at));
  }
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
  printFigure({ name: 'land.ends_after_landing.p50', value: median(waits), unit: 'ms' });
  printFigure({ name: 'land.ends_after_landing.p95', value: p95(waits), unit: 'ms', goal: 1_000 });
}
