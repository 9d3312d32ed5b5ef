import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { Command } from 'commander';
import { readPage } from '../../../test/helpers/doc-pages.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { defineSimulate } from './command.ts';
import { type Given, type Options, readOptions } from './options.ts';
import { formatBands, formatHeading, formatReport, type Report } from './report.ts';
import { createProgressBar, simulate } from './simulate.ts';

const FIXTURE = fileURLToPath(new URL('outcomes-fixture.csv', import.meta.url));

/** A stream that is a terminal or not, and remembers what was written. */
function streamOf(isTTY: boolean): NodeJS.WriteStream & { text: string } {
  const stream = {
    isTTY,
    columns: 40,
    text: '',
    write: (part: string) => {
      stream.text += part;
    },
  };
  return stream as unknown as NodeJS.WriteStream & { text: string };
}

function optionsOf(...args: string[]): Options {
  const command = new Command('simulate').exitOverride().configureOutput({ writeErr: () => {} });
  defineSimulate(command);
  command.action(() => {}).parse(args, { from: 'user' });
  return readOptions(command.opts<Given>());
}

async function play(...args: string[]): Promise<Report> {
  return simulate(optionsOf(...args), createProgressBar(streamOf(false)));
}

describe('sluice simulate', () => {
  it('plays pull requests through Sluice and three other queues, the same ones for the same seed [W42]', async () => {
    const args = ['--prs', '40', '--slots', '8'];
    const report = await play(...args);
    assert.deepEqual(
      report.columns.map(({ name, kind }) => `${name} ${kind}`),
      ['sluice sluice', 'oracle oracle', 'serial serial', 'window window'],
    );
    assert.deepEqual(report.columns[0]?.settings, { concurrency: 8 });
    for (const { measures } of report.columns) {
      assert.equal(measures.pullRequests, 40);
      assert.equal(measures.merged + measures.removed, 40);
      assert.equal(measures.brokenLanded, 0);
    }
    assert.deepEqual(report.columns[1]?.timesOracle, { p50: 1, p95: 1, p99: 1 });
    assert.deepEqual(await play(...args), report);
    assert.notDeepEqual(await play(...args, '--seed', '2'), report);
  });

  it('has a column for each --set, all with the slots and the mode of the other options [W43]', async () => {
    const sets = ['concurrency=1', 'batch=true,batchingMinSize=8,mode=single'].flatMap((set) => ['--set', set]);
    const report = await play('--prs', '30', '--overlap', '0.2', '--slots', '7', '--no-baselines', ...sets);
    assert.deepEqual(pluck(report.columns, 'settings'), [
      { mode: 'PARALLEL', concurrency: 1 },
      { concurrency: 7, batch: true, batchingMinSize: 8 },
    ]);
    const lines = formatReport(report).split('\n');
    assert.equal(lines[0], 'columns\tconcurrency=1\tbatch=true,batchingMinSize=8,mode=single');
    assert.match(formatHeading(report), /^A: concurrency=1\nB: batch=true/m);
    for (const label of ['CI runs per PR', 'runs ÷ H\\(p\\)', 'p99 ÷ oracle', 'wrongly removed', 'broken landed']) {
      assert.ok(
        lines.some((line) => new RegExp(`^${label}\t[-\\d.]+\t[-\\d.]+$`).test(line)),
        label,
      );
    }
  });

  it('submits everything at one instant with --at-once', async () => {
    const { columns } = await play('--prs', '20', '--at-once', '--ci-p95', '10', '--failure-rate', '0', '--slots', '1');
    assert.equal(columns.find(({ kind }) => kind === 'oracle')?.measures.makespanHours, 0.17);
  });

  it('refuses options that mean nothing, with a sentence [W44]', () => {
    const refuses = (sentence: RegExp, ...args: string[]) => assert.throws(() => optionsOf(...args), sentence);
    refuses(/setting concurency is not a setting\. Did you mean concurrency\?/, '--set', 'concurency=3');
    refuses(
      /setting optimisationMode is not a setting\. Did you mean optimizationMode\?/,
      '--set',
      'optimisationMode=OFF',
    );
    refuses(/optimizationMode must be one of OFF/, '--set', 'optimizationMode=SOME');
    refuses(/concurrency must be a whole number from 1 to 1000/, '--set', 'concurrency=0');
    refuses(/--slots must be a whole number from 1 to 1000/, '--slots', '1001');
    refuses(/The value of concurrency cannot be read: NaN/, '--set', 'concurrency=NaN');
    refuses(/"batch" is no setting: write it as name=value/, '--set', 'batch');
    for (const value of ['5', '-0.1', 'NaN', '', 'a'])
      refuses(/--flake-rate must be a number from 0 to 1/, `--flake-rate=${value}`);
    refuses(/--mask-rate needs --probe-share/, '--mask-rate', '0.3');
    refuses(/--probe-share must be a number from 0.01 to 1/, '--probe-share', '0');
    refuses(/--prs must be a whole number/, '--prs', '1.5');
    refuses(/--prs must be a number from 1 to 1000000/, '--prs', '1e9');
    refuses(/--per-hour must be a number from 0.01/, '--per-hour', '0');
    refuses(/--ci-median must be a number from 0.01 to 100000/, '--ci-median', 'Infinity');
    refuses(/--ci-p95 must not be less/, '--ci-p95', '5');
    refuses(/--prs means nothing with --outcomes/, '--outcomes', 'x.csv', '--prs', '5');
    refuses(/--ci-median means nothing with --data/, '--data', 'x', '--ci-median', '5');
    refuses(/--per-hour or --at-once, not both/, '--at-once', '--per-hour', '5');
    refuses(/--overlap or --targets, not both/, '--overlap', '1', '--targets', '5');
    refuses(/--hours means nothing with --at-once/, '--at-once', '--hours', '5');
    refuses(/--shape is one of flat, day/, '--shape', 'round');
    refuses(/unknown option '--sed'/, '--sed', '5');
  });

  it('knows the options of every command in the docs', () => {
    const shown = ['docs/simulating.md', 'bench/README.md'].flatMap((page) => [
      ...readPage(page).matchAll(/^(?:sluice simulate) (.*)$|`sluice simulate (.+?)`/gm),
    ]);
    assert.ok(shown.length > 10);
    for (const [line, inBlock, inline = ''] of shown) {
      if (!line.includes('--help')) assert.doesNotThrow(() => optionsOf(...(inBlock ?? inline).split(' ')), line);
    }
  });

  it('draws a bar on a terminal that fits it, and nothing elsewhere [W45]', () => {
    for (const isTTY of [true, false]) {
      const stream = streamOf(isTTY);
      let now = 0;
      const bar = createProgressBar(stream, () => now);
      bar.begin('a name that is longer than the terminal', 49, 100);
      bar.tick();
      now = 250;
      bar.tick();
      bar.end();
      const drawn = '\r\u001b[K[##########----------] 51 %  a name th…\r\u001b[K';
      assert.equal(stream.text, isTTY ? drawn : '');
    }
  });
});

describe('outcomes of real builds', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-simulate-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('are played in their order, with the time that builds of the project take', async () => {
    const report = await play('--outcomes', FIXTURE, '--project', 'alpha', '--per-hour', '1');
    const { merged, removed } = report.columns[0]?.measures ?? {};
    assert.deepEqual({ merged, removed }, { merged: 8, removed: 2 });
    const oracle = report.columns.find(({ kind }) => kind === 'oracle');
    assert.deepEqual(oracle?.measures.timeToLandMinutes, { p50: 10, p95: 10, p99: 10 });
    assert.equal(report.workload.leastRunsPerDecided, 0.7219);
    assert.deepEqual(report.bands, []);
    const limited = await play('--outcomes', FIXTURE, '--limit', '3', '--no-baselines');
    assert.equal(limited.workload.pullRequests, 6);
  });

  it('of several projects are also counted by failure rate [W46]', async () => {
    const report = await play('--outcomes', FIXTURE, '--at-once', '--slots', '1');
    assert.match(formatHeading(report), /^2 projects: 26 pull requests, 4 of them broken, no flakes/);
    const bands = report.bands.map(({ failureRate, projects, pullRequests }) => [failureRate, projects, pullRequests]);
    assert.deepEqual(bands, [
      ['10-20%', 1, 16],
      ['20-40%', 1, 10],
    ]);
    assert.match(formatBands(report), /\n20-40%\t1\t10\t0\.722\t1\.\d{3}\t1\.000\t\d\.\d{3}\n$/);
  });

  it('may be gzipped, have their columns in another order, and begin with a byte order mark', async () => {
    const file = join(folder, 'outcomes.csv.gz');
    const text = await readFile(FIXTURE, 'utf8');
    const turned = text.split('\n').map((line) => line.replace(/^([^,]*),([^,]*),(.+)$/, '$3,$1,$2'));
    await writeFile(file, gzipSync(`\uFEFF${turned.join('\r\n')}`));
    assert.deepEqual(await play('--outcomes', file), await play('--outcomes', FIXTURE));
  });

  it('that are something else are refused [W44]', async () => {
    const header = 'project,median_build_seconds,outcomes';
    const refuses = async (content: string | Buffer, sentence: RegExp, name = 'bad.csv') => {
      await writeFile(join(folder, name), content);
      await assert.rejects(play('--outcomes', join(folder, name)), sentence);
    };
    await refuses('', /bad\.csv is no file of outcomes: it is empty\./);
    await refuses('project,builds\na,1\n', /it lacks median_build_seconds, outcomes/);
    await refuses(`${header}\n`, /it has a header and no projects/);
    for (const line of ['a,60,0012', 'a,NaN,01', 'a,-60,01', 'a,0,01', ',60,01', 'a,60', 'a,60,01,1', 'a,60,']) {
      await refuses(`${header}\nok,60,01\n${line}\n`, /line 3 must have a name, a number of seconds above 0/);
    }
    await refuses(header, /is not gzipped, although its name ends in \.gz/, 'bad.csv.gz');
    await refuses(gzipSync(header).subarray(0, 20), /cannot be unpacked: it is damaged/, 'bad.csv.gz');
    await assert.rejects(play('--outcomes', FIXTURE, '--project', 'alpa'), /no project alpa\. Did you mean alpha\?/);
    await assert.rejects(play('--outcomes', FIXTURE, '--project', 'gamma-ray'), /It has: alpha, beta\./);
    await assert.rejects(play('--outcomes', `${FIXTURE}.not`), /cannot be read \(ENOENT\)/);
    await assert.rejects(play('--outcomes', folder), /cannot be read \(EISDIR\)/);
  });
});
