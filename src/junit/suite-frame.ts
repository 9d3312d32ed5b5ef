import type { AttributeReader } from './attribute-reader.ts';
import { findAttemptMarker } from './attribute-reader.ts';
import { readDeclaredCounts, type Tally } from './declared-counts.ts';
import type { AttemptMarker, DeclaredCounts, JunitCase, SuiteRepeats } from './junit-case.ts';
import type { Attributes } from './tag-attributes.ts';

/**
 * An open `testsuite`, or `testsuites` (the report). The values that cases inherit are computed once for each suite.
 */
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
  repeats: SuiteRepeats | null;
  /** Summed over the outermost suites inside a report. */
  declaredInside: DeclaredCounts | null;
}

/** pytest's default name for the suite. */
const PYTEST = 'pytest';
/** gotestsum and go-junit-report write this among the properties of a package. */
const GO_PROPERTY = 'go.version';

/** Go renames duplicate names in a package, so a repeated name is another attempt. */
export function noteProperty(suite: SuiteFrame | undefined, name: string | undefined): void {
  if (suite === undefined || name !== GO_PROPERTY) return;
  suite.repeats = { kind: 'go', declared: suite.declared.tests, cases: 0 };
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
  const declared = readDeclaredCounts(attributes);
  return {
    isReport,
    name,
    names: isReport ? [] : [...(around?.names ?? []), name],
    file: read.text(attributes.file) ?? read.text(attributes.filepath),
    timestampAt: ownAt ?? around?.timestampAt ?? null,
    timestampFrom: ownAt === null ? (around?.timestampFrom ?? null) : ownFrom,
    attempt: findAttemptMarker(attributes) ?? around?.attempt ?? null,
    line,
    declared,
    before,
    directTests: 0,
    directFailed: 0,
    repeats: name === PYTEST && !isReport ? { kind: 'pytest', declared: declared.tests, cases: 0 } : null,
    declaredInside: null,
  };
}
