const minute = 60_000;

/** No file needs this long even on a busy machine. A file that does hangs. */
const defaultMs = 5 * minute;

/** Files that are meant to run for minutes. */
const longer = new Map([
  ['test/simulation/simulation.test.ts', 30 * minute],
  ['test/simulation/github.test.ts', 15 * minute],
  ['test/property/engine.test.ts', 15 * minute],
  ['test/property/flaky.test.ts', 10 * minute],
]);

/** @param {string} file */
export function limitOf(file) {
  return longer.get(file) ?? defaultMs;
}
