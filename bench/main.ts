/** `npm run bench [-- suite ...]`: measures, and prints one JSON line a figure. Progress goes to standard error. */

const SUITES: Readonly<Record<string, () => Promise<{ run(): Promise<void> }>>> = {
  api: () => import('./api.ts'),
  engine: () => import('./engine.ts'),
  flaky: () => import('./flaky.ts'),
  git: () => import('./git.ts'),
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(SUITES, name));
if (unknown.length > 0) {
  console.error(`There is no suite ${unknown.join(', ')}. There are: ${Object.keys(SUITES).join(', ')}.`);
  process.exitCode = 2;
} else {
  for (const name of wanted.length > 0 ? wanted : Object.keys(SUITES)) {
    const suite = await SUITES[name]?.();
    await suite?.run();
  }
}
