import { measureCalls } from './github-calls.ts';
import { measureIdle } from './github-idle.ts';

/** One file `github-*.ts` per question. `npm run bench -- github idle` runs only that one. */
const QUESTIONS: Readonly<Record<string, () => Promise<void>>> = {
  calls: measureCalls,
  idle: measureIdle,
};

export async function run(words: readonly string[] = []): Promise<void> {
  const unknown = words.find((name) => !Object.hasOwn(QUESTIONS, name));
  if (unknown !== undefined)
    throw new Error(`There is no github ${unknown}; there are ${Object.keys(QUESTIONS).join(', ')}.`);
  for (const name of words.length > 0 ? words : Object.keys(QUESTIONS)) await QUESTIONS[name]?.();
}
