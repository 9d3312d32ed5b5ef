import { fork } from 'node:child_process';
import { once } from 'node:events';
import { median, printFigure, progress } from './lib/figure.ts';
import type { ParseResult } from './lib/parse-child.ts';

const SPEED_MB = 20;
const TURNS = 5;
const BIG_MB = 500;
/** At least 0.7 of the speed, expressed as time. */
const TIME_GOAL = 1 / 0.7;
const MEMORY_GOAL = 200e6;

/** Parsing JUnit XML from bytes to cases, compared with saxes without a handler on the same bytes. */
export async function measureParsing(): Promise<void> {
  const [own, bare]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < TURNS; turn += 1) {
    bare.push((await parse({ parser: 'saxes', megabytes: SPEED_MB, rounds: 8 })).msPerMegabyte);
    own.push((await parse({ parser: 'junit', megabytes: SPEED_MB, rounds: 8 })).msPerMegabyte);
    progress(`flaky: saxes ${rate(bare.at(-1))}, with everything ${rate(own.at(-1))}`);
  }
  printFigure({ name: 'flaky.parse', value: median(own), unit: 'ms/MB', baseline: median(bare), goal: TIME_GOAL });

  const big = await parse({ parser: 'junit', megabytes: BIG_MB, rounds: 1 });
  progress(`flaky: ${big.cases} cases in ${BIG_MB} MB`);
  const value = big.peakBytes - big.idleBytes;
  printFigure({ name: `flaky.parse.memory.${BIG_MB}_mb`, value, unit: 'bytes', goal: MEMORY_GOAL });
}

async function parse(task: object): Promise<ParseResult> {
  const child = fork(new URL('./lib/parse-child.ts', import.meta.url), [JSON.stringify(task)]);
  const [result] = (await once(child, 'message')) as [ParseResult];
  await once(child, 'exit');
  return result;
}

function rate(msPerMegabyte = 0): string {
  return `${Math.round(1000 / msPerMegabyte)} MB/s`;
}
