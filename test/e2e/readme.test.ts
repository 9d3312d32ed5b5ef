// What the README shows works as shown.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeFolder, startServer, until } from './harness.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The shell blocks of one section, in order. */
function shellBlocks(section: string): string[] {
  const readme = readFileSync(`${ROOT}/README.md`, 'utf8');
  const text = readme.split(/^## /m).find((part) => part.startsWith(section)) ?? '';
  return [...text.matchAll(/^```sh\n(.*?)^```/gms)].map((match) => match[1] as string);
}

it('the first use in the README, command by command', async () => {
  const server = await startServer();
  const demo = await makeFolder();
  try {
    const [commands, report] = shellBlocks('First use') as [string, string];
    const environment = { ...process.env, SLUICE_URL: server.url, SLUICE_DATA: server.dataFolder, DEMO: demo };
    const run = async (script: string): Promise<string> => {
      const here = script
        .replaceAll('http://127.0.0.1:8080', server.url)
        .replaceAll('data/admin-token', `${server.dataFolder}/admin-token`)
        .replace(/^DEMO=.*$/m, '');
      return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', here], { cwd: ROOT, env: environment }))
        .stdout;
    };
    assert.match(await run(commands), /#7 Greet twice: TESTING[\s\S]*number 1 of 1 in the queue/);
    if (spawnSync('curl', ['--version']).status !== 0) return;
    const [testBranch] = report.split('\n') as [string];
    await until(
      'the commit is shown to CI',
      20_000,
      async () => (await run(`${testBranch}\necho $SHA`)).trim() || undefined,
    );
    assert.match(await run(report), /"status":"SUCCEEDED"/);
    const look = report.slice(report.indexOf('npx sluice'));
    await until('it has landed', 20_000, async () => (await run(look)).match(/exactly as tested[\s\S]*Greet twice/));
  } finally {
    await server.stop();
    await rm(demo, { recursive: true, force: true });
  }
});
