import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type Report, showJson, showTable } from '../../policy/report.ts';
import { parseOptions } from './options.ts';
import { Progress, readOutcomes, simulate } from './simulate.ts';

const FIXTURE = fileURLToPath(new URL('outcomes-fixture.csv', import.meta.url));

function play(...args: string[]): Promise<Report> {
  const options = parseOptions(args);
  assert.ok(options !== 'help');
  return simulate(options, new Progress(process.stderr));
}

describe('the policy simulator', () => {
  it('plays a workload through Sluice and three others', async () => {
    const report = await play('--prs', '40', '--set', 'concurrency=8');
    assert.deepEqual(
      report.columns.map(({ name, kind }) => `${name} ${kind}`),
      ['sluice sluice', 'oracle oracle', 'serial serial', 'window window'],
    );
    assert.deepEqual(report.columns[0]?.settings, { concurrency: 8 });
    for (const { measures } of report.columns) {
      assert.equal(measures.pullRequests, 40);
      assert.equal(measures.merged + measures.removed, 40);
    }
    assert.deepEqual(JSON.parse(showJson(report)), report);
    assert.deepEqual(await play('--prs', '40', '--set', 'concurrency=8'), report);
  });

  it('has a column for each of the settings that are compared', async () => {
    const compared = ['concurrency=1', 'concurrency=10,batch=true,batchingMinSize=8'];
    const args = compared.flatMap((settings) => ['--compare', settings]);
    const report = await play('--prs', '30', '--set', 'mode=parallel', '--no-baselines', ...args);
    assert.deepEqual(
      report.columns.map(({ name, settings }) => ({ name, settings })),
      [
        { name: 'concurrency=1', settings: { mode: 'PARALLEL', concurrency: 1 } },
        {
          name: 'concurrency=10,batch=true,batchingMinSize=8',
          settings: { mode: 'PARALLEL', concurrency: 10, batch: true, batchingMinSize: 8 },
        },
      ],
    );
    assert.match(showTable(report), /^time to land p99 /m);
  });

  it('says what is wrong with what it was given', () => {
    const refuses = (sentence: RegExp, ...args: string[]) => assert.throws(() => parseOptions(args), sentence);
    refuses(/setting concurency is not a setting/, '--set', 'concurency=3');
    refuses(/concurrency must be a whole number from 1 to 1000/, '--set', 'concurrency=0');
    refuses(/"batch" is no setting: write it as name=value/, '--compare', 'batch');
    refuses(/--flake-rate must be a number from 0 to 1/, '--flake-rate', '5');
    refuses(/--prs must be a whole number/, '--prs', '1.5');
    refuses(/--per-hour must be a number above 0/, '--per-hour', '0');
    refuses(/--ci-p95 must not be less/, '--ci-p95', '5');
    refuses(/--prs means nothing with --outcomes/, '--outcomes', 'x.csv', '--prs', '5');
    refuses(/--sed/, '--sed', '5');
  });

  it('runs as a program: a table, a page of help, and 2 for what cannot be done', async () => {
    const main = fileURLToPath(new URL('main.ts', import.meta.url));
    const start = (...args: string[]) =>
      new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
        execFile(process.execPath, [main, ...args], (error, stdout, stderr) =>
          resolve({ code: error?.code ?? 0, stdout, stderr }),
        );
      });
    const [table, help, refused] = await Promise.all([
      start('--outcomes', FIXTURE),
      start('--help'),
      start('--set', 'nothing=1'),
    ]);
    assert.equal(table.stderr, '');
    assert.match(table.stdout, /^2 projects: 26 pull requests, 4 of them broken/);
    assert.match(help.stdout, /--compare/);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /^The setting nothing is not a setting\.\nSee --help\.\n$/);
  });
});

describe('outcomes of real builds', () => {
  it('are played in their order, with the time that builds of the project take', async () => {
    const report = await play('--outcomes', FIXTURE, '--project', 'alpha', '--per-hour', '1');
    const { merged, removed } = report.columns[0]?.measures ?? {};
    assert.deepEqual({ merged, removed }, { merged: 8, removed: 2 });
    const oracle = report.columns.find(({ kind }) => kind === 'oracle');
    assert.deepEqual(oracle?.measures.timeToLandMinutes, { p50: 10, p95: 10, p99: 10 });
    const limited = await play('--outcomes', FIXTURE, '--limit', '3', '--no-baselines');
    assert.equal(limited.workload.pullRequests, 6);
  });

  it('may be gzipped', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-policy-'));
    try {
      const file = join(folder, 'outcomes.csv.gz');
      await writeFile(file, gzipSync(await readFile(FIXTURE)));
      assert.deepEqual(await readOutcomes(file), await readOutcomes(FIXTURE));
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('that are something else are refused', async () => {
    await assert.rejects(play('--outcomes', FIXTURE, '--project', 'gamma'), /no project gamma\. It has: alpha, beta\./);
    await assert.rejects(play('--outcomes', `${FIXTURE}.not`), /cannot be read \(ENOENT\)/);
    await assert.rejects(readOutcomes(fileURLToPath(import.meta.url)), /its first line must name the columns/);
  });
});
