// Differences in how test files are run.
const minute = 60_000;

/** Far more than any file needs on a busy machine: a file that takes longer hangs. */
const defaultMs = 5 * minute;

/** Files that are meant to run for minutes. */
const longer = new Map([
  ['test/simulation/simulation.test.ts', 30 * minute],
  ['test/simulation/github.test.ts', 15 * minute],
  ['test/e2e/ingest-process.test.ts', 10 * minute],
  ['test/e2e/recipes.test.ts', 15 * minute],
  ['test/selects/selects.test.ts', 30 * minute],
  ['src/engine/any-history.test.ts', 15 * minute],
  ['src/flaky/any-history.test.ts', 10 * minute],
]);

/** @param {string} file */
export function isLong(file) {
  return longer.has(file);
}

/** @param {string} file */
export function limitOf(file) {
  return longer.get(file) ?? defaultMs;
}

/** They change the whole process: its mask of permissions, its garbage collector. */
const apart = new Set([
  'src/check-runner/local/local-runner.test.ts',
  'src/forge/plain/hooks.test.ts',
  'src/git/loose-object.test.ts',
  'src/ingest/read/read-reports.test.ts',
  'src/junit/bad-input.test.ts',
  'src/storage/sqlite/folder.test.ts',
]);

/** Whether a file needs a process of its own. @param {string} file */
export function isApart(file) {
  return apart.has(file);
}

/** Whether a file is part of the edit loop: no git, no server, no process. @param {string} file */
export function isFast(file) {
  return /^(?:src\/(?!forge\/|git\/|check-runner\/|http\/handlers\/|storage\/|ingest\/ingest-p|app\/queue\/any-past)|test\/scenario\/|test\/spec\.test)/.test(
    file,
  );
}

/** Whether a file tests the pure rooms alone, which need no build. @param {string} file */
export function isPure(file) {
  return /^(?:src\/(?:engine|flaky|junit|policy|words|lib)\/|test\/scenario\/)/.test(file);
}
