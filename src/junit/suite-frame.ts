import { findAttemptMarker } from './attempt-marker.ts';
import type { AttributeReader } from './attribute-reader.ts';
import { readDeclaredCounts, type Tally } from './declared-counts.ts';
import type { AttemptMarker, DeclaredCounts, JunitCase } from './junit-case.ts';
import type { Attributes } from './tag-attributes.ts';

/** An open `testsuite`, or `testsuites` (the report). What a case inherits is worked out once for each suite. */
export interface SuiteFrame {
  readonly isReport: boolean;
  readonly name: string;
  readonly names: readonly string[];
  readonly file: string | null;
  readonly timestampAt: number | null;
  readonly timestampFrom: JunitCase['timestampFrom'];
  readonly attempt: AttemptMarker | null;
  readonly line: number;
  readonly declared: DeclaredCounts;
  readonly before: Tally;
  directTests: number;
  directFailed: number;
  /** Of the outermost suites inside a report. */
  declaredInside: DeclaredCounts | null;
}

interface Opening {
  readonly isReport: boolean;
  readonly attributes: Attributes;
  readonly line: number;
  readonly around: SuiteFrame | undefined;
  readonly before: Tally;
}

export function openSuite({ isReport, attributes, line, around, before }: Opening, read: AttributeReader): SuiteFrame {
  const name = read.text(attributes.name) ?? '';
  const ownAt = read.timestampAt(attributes);
  const ownFrom = isReport ? 'report' : 'suite';
  return {
    isReport,
    name,
    names: isReport ? [] : [...(around?.names ?? []), name],
    file: read.text(attributes.file) ?? read.text(attributes.filepath),
    timestampAt: ownAt ?? around?.timestampAt ?? null,
    timestampFrom: ownAt === null ? (around?.timestampFrom ?? null) : ownFrom,
    attempt: findAttemptMarker(attributes) ?? around?.attempt ?? null,
    line,
    declared: readDeclaredCounts(attributes),
    before,
    directTests: 0,
    directFailed: 0,
    declaredInside: null,
  };
}
