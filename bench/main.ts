/**
 * `npm run bench [-- suite ...]`: measures, and prints one JSON line per figure. Progress goes to standard error. Words
 * after a suite that are not a suite are passed to it: `npm run bench -- flaky ingest --runs 100000`.
 */

const SUITES: Readonly<Record<string, () => Promise<{ run(words?: readonly string[]): Promise<void> }>>> = {
  api: () => import('./api.ts'),
  caches: () => import('./caches.ts'),
  engine: () => import('./engine.ts'),
  events: () => import('./events.ts'),
  flaky: () => import('./flaky.ts'),
  forecast: () => import('./forecast.ts'),
  git: () => import('./git.ts'),
  github: () => import('./github.ts'),
  footprint: () => import('./footprint.ts'),
  land: () => import('./land.ts'),
  lanes: () => import('./lanes.ts'),
  messages: () => import('./messages.ts'),
  stacks: () => import('./stacks.ts'),
  past: () => import('./past.ts'),
  policy: () => import('./policy.ts'),
  scale: () => import('./scale.ts'),
  web: () => import('./web.ts'),
};

const words = process.argv.slice(2);
const isSuite = (word: string) => Object.hasOwn(SUITES, word);
if (words[0] !== undefined && !isSuite(words[0])) {
  console.error(`There is no suite ${words[0]}. There are: ${Object.keys(SUITES).join(', ')}.`);
  process.exitCode = 2;
} else {
  for (const name of words.length > 0 ? words.filter(isSuite) : Object.keys(SUITES)) {
    const own = words.slice(words.indexOf(name) + 1);
    const next = own.findIndex(isSuite);
    const suite = await SUITES[name]?.();
    await suite?.run(words.length > 0 ? own.slice(0, next === -1 ? own.length : next) : []);
  }
}
