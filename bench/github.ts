import { measureCalls } from './github-calls.ts';
import { measureIdle } from './github-idle.ts';
import { measurePace } from './github-pace.ts';
import { measureStorm } from './github-storm.ts';

/** One file `github-*.ts` per question. `npm run bench -- github storm` runs only that one. */
const QUESTIONS: Readonly<Record<string, () => Promise<void>>> = {
  calls: measureCalls,
  idle: measureIdle,
  pace: measurePace,
  storm: measureStorm,
};

export async function run(words: readonly string[] = []): Promise<void> {
  const unknown = words.find((name) => !Object.hasOwn(QUESTIONS, name));
  if (unknown !== undefined)
    throw new Error(`There is no github ${unknown}; there are ${Object.keys(QUESTIONS).join(', ')}.`);
  for (const name of words.length > 0 ? words : Object.keys(QUESTIONS)) await QUESTIONS[name]?.();
}
