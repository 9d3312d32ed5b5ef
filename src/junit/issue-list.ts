import type { JunitIssue } from './junit-case.ts';

interface Kind {
  readonly level: JunitIssue['level'];
  readonly message: string;
  readonly hint: string;
}

/** All kinds of issues. `%` stands for the detail of the place. */
const KINDS = {
  empty: {
    level: 'error',
    message: 'The file is empty.',
    hint: 'The test command probably ended before its reporter wrote anything: look at its output.',
  },
  binary: {
    level: 'error',
    message: 'The file is not text.',
    hint: 'Upload the XML itself, compressed only with gzip or zstd.',
  },
  html: {
    level: 'error',
    message: 'The file is an HTML page.',
    hint: 'Switch on the JUnit XML reporter of the test framework; the HTML report cannot be read.',
  },
  otherFormat: {
    level: 'error',
    message: 'The root element is <%>, which is not JUnit XML.',
    hint: 'Use the JUnit reporter of the test framework or a converter to JUnit XML.',
  },
  noResults: {
    level: 'error',
    message: 'The file holds no test case.',
    hint: 'Check that the pattern names the right files and that the tests ran.',
  },
  noCases: {
    level: 'info',
    message: 'The report holds no test case.',
    hint: 'Check that the tests were not all filtered out.',
  },
  truncated: {
    level: 'error',
    message: 'The file ends in the middle: % is not closed.',
    hint: 'The test process was probably killed while it wrote. What was complete has been used.',
  },
  unclosed: {
    level: 'error',
    message: '<%> is not closed.',
    hint: 'The reporter wrote broken XML. Cases without an end are used only where they failed.',
  },
  strayClose: {
    level: 'warning',
    message: '</%> closes nothing.',
    hint: 'The reporter wrote broken XML, usually by not escaping < in a message.',
  },
  malformed: {
    level: 'warning',
    message: 'This is not well-formed XML: %',
    hint: 'The reporter wrote broken XML. The rest of the file has been read as well as it could be.',
  },
  bareMarkup: {
    level: 'info',
    message: 'An & or < is written bare, or names an unknown entity; it was taken as it stands.',
    hint: 'Write &amp; and &lt;. Only the five entities of XML itself are known.',
  },
  entities: {
    level: 'error',
    message: 'The file declares entities of its own; they are not expanded.',
    hint: 'Remove the DOCTYPE from the report.',
  },
  tooDeep: {
    level: 'error',
    message: 'Elements are nested deeper than % levels; reading stopped here.',
    hint: 'No test framework nests like this. Check what wrote the file.',
  },
  tooLong: {
    level: 'warning',
    message: 'The attribute % is too long; only its beginning was kept.',
    hint: 'Put long output in the text of <failure> or in <system-out>.',
  },
  tooManyAttributes: {
    level: 'warning',
    message: 'A tag has more than % attributes; the others were dropped.',
    hint: 'No test framework writes that many. Check what wrote the file.',
  },
  severalReports: {
    level: 'warning',
    message: 'The file holds several reports; all were read.',
    hint: 'Write each report to a file of its own, or wrap them in one <testsuites>.',
  },
  caseWithoutName: {
    level: 'error',
    message: 'A test case has neither a name nor a class; it was dropped.',
    hint: 'Give each <testcase> a name attribute.',
  },
  caseOutsideSuite: {
    level: 'warning',
    message: 'A test case is outside any <testsuite>.',
    hint: 'Wrap it in a <testsuite> with a name, so that equal names in two files are told apart.',
  },
  suiteWithoutName: {
    level: 'warning',
    message: 'A test suite has no name.',
    hint: 'Give each outermost <testsuite> a name attribute.',
  },
  caseNotClosed: {
    level: 'error',
    message: 'The test case % has no end; whether it passed is not known, so it was dropped.',
    hint: 'The test process was probably killed, or the reporter wrote broken XML.',
  },
  resultOutsideCase: {
    level: 'error',
    message: '<%> is outside any <testcase>: something failed that no test stands for.',
    hint: 'Report failures of a whole suite as a test case of its own.',
  },
  ignoredOutsideCase: {
    level: 'warning',
    message: '<%> is outside any <testcase>; it was ignored.',
    hint: 'Write it in the <testcase> that it belongs to.',
  },
  badTimestamp: {
    level: 'info',
    message: 'The timestamp % is no ISO 8601 date.',
    hint: 'Write for example 2026-07-01T10:00:00Z.',
  },
  badDuration: {
    level: 'info',
    message: 'The time % is no duration in seconds.',
    hint: 'Write seconds with a point, for example 0.25.',
  },
  longDuration: {
    level: 'info',
    message: 'A test case ran for more than a day.',
    hint: 'The attribute time is in seconds; milliseconds are not recognised.',
  },
  counts: {
    level: 'warning',
    message: 'The suite % does not hold what it declares.',
    hint: 'The report is incomplete, or its reporter counts in a way of its own.',
  },
  tooManyReruns: {
    level: 'warning',
    message: 'A test case has more than % reruns; the others were dropped.',
    hint: 'Retry a test a few times only.',
  },
} as const satisfies Record<string, Kind>;

export type IssueKind = keyof typeof KINDS;

export interface IssueList {
  add(kind: IssueKind, line: number, particular?: string): void;
  listed(): readonly JunitIssue[];
  counts(): Record<JunitIssue['level'], number>;
}

/** Keeps a few of each kind, so that a thousand of one never hide another. */
// SPEC J10
export function createIssueList(perKind: number): IssueList {
  const issues: JunitIssue[] = [];
  const seen = new Map<IssueKind, number>();
  const counts = { error: 0, warning: 0, info: 0 };
  return {
    add(kind, line, particular = '') {
      const { level, message, hint } = KINDS[kind];
      const before = seen.get(kind) ?? 0;
      seen.set(kind, before + 1);
      counts[level] += 1;
      if (before < perKind)
        issues.push({ level, line, message: message.replace('%', () => shorten(particular)), hint });
    },
    listed: () => issues,
    counts: () => counts,
  };
}

function shorten(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120).toWellFormed()}…` : text;
}
