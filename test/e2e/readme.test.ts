// What the README shows works as shown.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startServer } from './harness.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The shell blocks of one section, in order. */
function shellBlocks(section: string): string[] {
  const readme = readFileSync(`${ROOT}/README.md`, 'utf8');
  const text = readme.split(/^## /m).find((part) => part.startsWith(section)) ?? '';
  return [...text.matchAll(/^```sh\n(.*?)^```/gms)].map((match) => match[1] as string);
}

it('the first use in the README, command by command', async () => {
  const server = await startServer();
  try {
    const [commands, curl] = shellBlocks('First use') as [string, string];
    const environment = { ...process.env, SLUICE_URL: server.url, SLUICE_DATA: server.dataFolder };
    const run = async (script: string): Promise<string> => {
      const here = script
        .replaceAll('http://127.0.0.1:8080', server.url)
        .replaceAll('data/admin-token', `${server.dataFolder}/admin-token`);
      return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', here], { cwd: ROOT, env: environment }))
        .stdout;
    };
    assert.match(await run(commands), /#7 Greet twice: PENDING[\s\S]*number 1 of 1 in the queue/);
    if (spawnSync('curl', ['--version']).status !== 0) return;
    const record = JSON.parse(await run(curl)) as { state: string; explanation: { position: number } };
    assert.equal(record.state, 'PENDING');
    assert.equal(record.explanation.position, 1);
  } finally {
    await server.stop();
  }
});
