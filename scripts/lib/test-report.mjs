// The output of `npm test` about test files: a line when one ends, and a summary at the end.

/** @param {import('./test-child.mjs').FileResult} result */
export function describeFile(result) {
  const { file, passed, skipped, failures, problem } = result;
  const hasFailed = failures.length > 0 || problem !== undefined;
  const counts = [`${passed} passed`, ...(skipped > 0 ? [`${skipped} skipped`] : [])];
  if (failures.length > 0) counts.push(`${failures.length} failed`);
  const line = `${hasFailed ? 'FAILED' : 'ok    '} ${timesOf(result)}  ${file} (${counts.join(', ')})\n`;
  return hasFailed ? line + describeFailures(result) + describeOutput(result) : line;
}

/**
 * Lists every failed test again, because its first report is lost among hundreds of lines. Then the slowest files and
 * totals.
 */
export function describeRun({ results, problems, seconds, cpuSeconds }) {
  const failed = results.filter(({ failures }) => failures.length > 0);
  const count = (pick) => results.reduce((sum, result) => sum + pick(result), 0);
  const failures = count((result) => result.failures.length);
  const skipped = count((result) => result.skipped);
  return [
    ...(failed.length === 0 ? [] : ['== failed tests\n', ...failed.map(describeFailures)]),
    ...(problems.length === 0 ? [] : ['== problems\n', ...problems.map((problem) => `${problem}\n`)]),
    '== slowest files (seconds, seconds of CPU time)\n',
    ...slowest(results, 10).map((result) => `${timesOf(result)}  ${result.file}\n`),
    `== ${count((result) => result.passed)} tests passed, ${failures} failed, ${skipped} skipped, in ${results.length} files`,
    ` and ${describeSeconds(seconds)} (CPU time ${describeSeconds(cpuSeconds)})\n`,
  ].join('');
}

function describeFailures({ file, failures, problem }) {
  const head = problem === undefined ? '' : `${file}: ${problem}\n`;
  return head + failures.map(({ name, error }) => `${file}\n  ${name}\n${indent(error)}\n`).join('');
}

function describeOutput({ output }) {
  return output.trim() === '' ? '' : `    output:\n${indent(output.trimEnd())}\n`;
}

function indent(text) {
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : `    ${line}`))
    .join('\n');
}

function slowest(results, count) {
  return [...results].sort((a, b) => b.ms - a.ms).slice(0, count);
}

function timesOf({ ms, cpuMs }) {
  return `${toSeconds(ms)} ${toSeconds(cpuMs)}`;
}

function toSeconds(ms) {
  return (ms / 1000).toFixed(1).padStart(6);
}

function describeSeconds(seconds) {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
