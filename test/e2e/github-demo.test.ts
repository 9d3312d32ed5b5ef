// `npm run demo -- --github`, to its end and beyond.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { after, before, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeFolder, until } from './harness.ts';
import { runSluice } from './run-sluice.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** It takes 20 s on an idle machine. */
const PATIENCE_MS = 300_000;

let home = '';
let child: ChildProcess | undefined;
before(async () => {
  home = await makeFolder();
});
after(async () => {
  if (child?.exitCode === null) child.kill('SIGTERM');
  await rm(home, { recursive: true, force: true });
});

it('the demo on GitHub connects one while the server runs, and shows what people read [G92] [G68] [G45]', {
  timeout: PATIENCE_MS,
}, async () => {
  const env = { PATH: process.env['PATH'], HOME: home, TMPDIR: home, SLUICE_TOKEN: 'somebody-elses' };
  child = spawn(process.execPath, ['scripts/demo.mjs', '--github', '--keep'], { cwd: ROOT, env, stdio: 'pipe' });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const ended = new Promise<number | null>((resolve) => child?.once('close', resolve));
  const kept = await until('it has come to its end', PATIENCE_MS, async () => {
    assert.equal(child?.exitCode, null, output);
    return /SLUICE_URL=(\S+) SLUICE_DATA=(\S+)[\s\S]*-d '\{"body"/.exec(output) ?? undefined;
  });
  for (const line of [
    /^A running server detects it within seconds\. Restart a server/m,
    /^Nothing keeps a queue from working\.$/m,
    /`mallory` has no write access/,
    /^#1 .*\n {4}### .*Submitted, not ready yet[\s\S]*^#1 .*\n {4}### .*Being tested[\s\S]*^#1 .*\n {4}### .*Landed/m,
    /^#4 .*\n {4}### .*Failed and removed from the queue · `main`\n {4}- \[`unit`\]\(http\S+\) failed$/m,
    /^Three landed/m,
  ])
    assert.match(output, line);
  const queue = ['queue', 'show', 'github.demo/acme/shop', 'main'];
  const shown = await runSluice(queue, { SLUICE_URL: kept[1] ?? '', SLUICE_DATA: kept[2] ?? '' }).ended;
  assert.match(shown.out, /RUNNING/, shown.err);
  child.kill('SIGINT');
  assert.equal(await ended, 0, output);
  assert.deepEqual(await readdir(home), [], 'nothing is left behind');
});
