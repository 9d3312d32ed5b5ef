import type { Static } from 'typebox';
import type { inspectRepository } from '../../contract/repositories.ts';
import { clean, paint, type Style } from '../core/terminal.ts';

export type Finding = Static<(typeof inspectRepository)['reply']>['findings'][number];

const MARKS: Readonly<Record<Finding['level'], readonly [Style, string]>> = {
  OK: ['green', 'ok     '],
  WARNING: ['yellow', 'warning'],
  ERROR: ['red', 'error  '],
};

const RANKS: Readonly<Record<Finding['level'], number>> = { ERROR: 0, WARNING: 1, OK: 2 };

/** What matters most first. */
export function formatFindings(findings: readonly Finding[]): string {
  return findings
    .toSorted((a, b) => RANKS[a.level] - RANKS[b.level])
    .map(({ level, text }) => `  ${paint(...MARKS[level])}  ${clean(text)}`)
    .join('\n');
}

export function countErrors(findings: readonly Finding[]): number {
  return findings.filter(({ level }) => level === 'ERROR').length;
}
