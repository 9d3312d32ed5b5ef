import type { AttributeReader } from './attribute-reader.ts';
import { findAttemptMarker } from './attribute-reader.ts';
import { readDeclaredCounts, type Tally } from './declared-counts.ts';
import type { AttemptMarker, DeclaredCounts, JunitCase, SuiteRepeats } from './junit-case.ts';
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
  repeats: SuiteRepeats | null;
  /** Of the outermost suites inside a report. */
  declaredInside: DeclaredCounts | null;
}

/** Its name for the suite, unless somebody gave another. */
const PYTEST = 'pytest';
/** What gotestsum and go-junit-report write among the properties of a package. */
const GO_PROPERTY = 'go.version';

/** Go tells names apart that come twice in a package. */
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
