import type { ExplanationReasonView } from '../../../src/app/queue/entry-view.ts';
import { count } from '../report.ts';
import type { Decision, PlantedTest } from './findings.ts';
import type { Truth } from './plan.ts';
import type { SuiteReport } from './world.ts';

/** The report of one world, in lines. */
export function describeSuite(report: SuiteReport): string {
  const { project, mode, decided, health, tookMs, suspicion } = report;
  const { runs, reusedTrees, ciSeconds, p50Seconds = 0, p95Seconds = 0 } = health;
  const settled = decided.filter(({ end }) => end !== 'undecided').length;
  const perDecided = (runs / Math.max(1, settled)).toFixed(2);
  const lines = [
    `${project} ${mode}: ${settled} of ${decided.length} pull requests decided in ${seconds(tookMs)}`,
    `broken:             ${countEnds(decided, 'broken')}`,
    `innocent:           ${countEnds(decided, 'innocent')}`,
    `adds a flaky test:  ${countEnds(decided, 'flaky')}`,
    `runs:               ${runs}, ${perDecided} for each decided pull request, ${reusedTrees} reused, ${Math.round(ciSeconds)} s of CI`,
    `in the queue:       ${p50Seconds} s (p50), ${p95Seconds} s (p95)`,
    `red main suspected: ${suspicion.times} times, ${seconds(suspicion.ms)}`,
    ...report.tests.toSorted((a, b) => a.name.localeCompare(b.name)).map(describeTest),
    ...Object.entries(report.warnings).map(([text, times]) => `warned:             ${times} x ${text}`),
    ...decided.filter(({ end }) => end !== 'landed').flatMap(describeRemoval),
  ];
  return `${lines.join('\n')}\n`;
}

function countEnds(decided: readonly Decision[], truth: Truth): string {
  const ends = count(decided.filter(({ change }) => change.truth === truth).map(({ end }) => end));
  return Object.entries(ends)
    .map(([end, times]) => `${times} ${end}`)
    .join(', ');
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function describeTest({ name, status, runs, failures, bothOutcomes, reason }: PlantedTest): string {
  const trees = bothOutcomes === 1 ? '1 tree' : `${bothOutcomes} trees`;
  return `${`${name}:`.padEnd(19)} ${status}, failed in ${failures} of ${runs} runs, both outcomes on ${trees}${reason === '' ? '' : `. ${reason}`}`;
}

/** The words that its author reads. The timeline too, where the author did nothing wrong. */
function describeRemoval({ change, entry }: Decision): readonly string[] {
  const { explanation, timeline = [] } = entry;
  const isWronged = change.truth === 'innocent';
  return [
    '',
    `#${change.number} (${change.kind}), ${isWronged ? 'INNOCENT' : change.truth}, is ${entry.state}: ${timeline[0]?.reason}`,
    `  ${explanation?.summary}`,
    ...(explanation?.reasons ?? []).flatMap((reason) => describeReason(reason, '  - ')),
    `  next: ${explanation?.next}`,
    ...(isWronged
      ? timeline.toReversed().map(({ at, state, text }) => `  | ${at.slice(11, 19)} ${state}: ${text}`)
      : []),
  ];
}

function describeReason({ text, reasons }: ExplanationReasonView, indent: string): readonly string[] {
  return [`${indent}${text}`, ...reasons.flatMap((reason) => describeReason(reason, `  ${indent}`))];
}
