import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../e2e/harness.ts';
import { ROOT } from '../helpers/doc-pages.ts';
import { need, run } from './tools.ts';

/** Of 10; systemd calls up to 2 "OK". The drop-in for the built-in runner gives up some of it. */
const MOST_EXPOSED = { 'sluice.service': 2, 'with-runner.service': 4.5 };

export async function checkUnit(): Promise<string> {
  need('systemd-analyze', 'it is part of systemd.');
  const folder = await makeFolder();
  const scores = [];
  for (const [name, most] of Object.entries(MOST_EXPOSED)) {
    const file = join(folder, name);
    await copyFile(join(ROOT, 'deploy/systemd/sluice.service'), file);
    if (name.startsWith('with')) {
      await mkdir(`${file}.d`);
      await copyFile(join(ROOT, 'deploy/systemd/runner.conf'), join(`${file}.d`, 'runner.conf'));
    }
    await run('systemd-analyze', ['verify', '--man=no', file]);
    const told = await run('systemd-analyze', ['security', '--offline=true', '--no-pager', file]);
    const score = Number(/exposure level for \S+: ([\d.]+)/.exec(told)?.[1]);
    if (!(score <= most)) throw new Error(`${name} has the exposure ${score}, more than ${most}.`);
    scores.push(`${name} has the exposure ${score}`);
  }
  return `systemd-analyze verifies the unit; ${scores.join(', ')}.`;
}
