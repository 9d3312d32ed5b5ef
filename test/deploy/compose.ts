import { join } from 'node:path';
import { ROOT } from '../helpers/doc-pages.ts';
import { has, run, Skipped } from './tools.ts';

const FILE = join(ROOT, 'deploy/compose/compose.yaml');
/** Each reads the file, replaces its variables and compares it with the schema. */
const PROGRAMS: readonly (readonly [program: string, ...args: string[]])[] = [
  ['docker', 'compose', '--file', FILE, 'config', '--quiet'],
  ['docker-compose', '--file', FILE, 'config', '--quiet'],
  ['compose-go', FILE],
];

export async function checkCompose(): Promise<string> {
  const hasPlugin = await run('docker', ['compose', 'version']).catch(() => undefined);
  const found = PROGRAMS.find(([program]) => (program === 'docker' ? hasPlugin : has(program)));
  if (found === undefined) throw new Skipped('None of docker compose, docker-compose and compose-go is installed.');
  const [program, ...args] = found;
  const env = { ...process.env, POSTGRES_PASSWORD: 'p', SLUICE_ADMIN_TOKEN: 't', SLUICE_SECRET_KEY: 'k' };
  await run(program, args, { env });
  const refused = await run(program, args, { env: { ...env, POSTGRES_PASSWORD: '' } }).then(
    () => 'nothing',
    (error: Error) => error.message,
  );
  if (!refused.includes('set it in .env')) throw new Error(`Without POSTGRES_PASSWORD ${program} says: ${refused}`);
  return `${program} takes the file, and refuses it without a password.`;
}
