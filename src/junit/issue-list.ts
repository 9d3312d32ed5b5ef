import type { JunitIssue } from './junit-case.ts';

interface Kind {
  readonly level: JunitIssue['level'];
  readonly message: string;
  readonly hint: string;
}

const kindsOf =
  (level: Kind['level']) =>
  (message: string, hint: string): Kind => ({ level, message, hint });

const error = kindsOf('error');
const warning = kindsOf('warning');
const info = kindsOf('info');

/** All kinds of issues, each with its message and a hint. `%` stands for the detail of the place. */
const KINDS = {
  empty: error(
    'The file is empty.',
    'The test command probably ended before its reporter wrote anything: look at its output.',
  ),
  binary: error('The file is not text.', 'Upload the XML itself, compressed only with gzip or zstd.'),
  html: error(
    'The file is an HTML page.',
    'Switch on the JUnit XML reporter of the test framework; the HTML report cannot be read.',
  ),
  otherFormat: error(
    'The root element is <%>, which is not JUnit XML.',
    'Use the JUnit reporter of the test framework or a converter to JUnit XML.',
  ),
  noResults: error(
    'The file holds no test case.',
    'Check that the pattern names the right files and that the tests ran.',
  ),
  noCases: info('The report holds no test case.', 'Check that the tests were not all filtered out.'),
  truncated: error(
    'The file ends in the middle: % is not closed.',
    'The test process was probably killed while it wrote. What was complete has been used.',
  ),
  unclosed: error(
    '<%> is not closed.',
    'The reporter wrote broken XML. Cases without an end are used only where they failed.',
  ),
  strayClose: warning('</%> closes nothing.', 'The reporter wrote broken XML, usually by not escaping < in a message.'),
  malformed: warning(
    'This is not well-formed XML: %',
    'The reporter wrote broken XML. The rest of the file has been read as well as it could be.',
  ),
  bareMarkup: info(
    'An & or < is written bare, or names an unknown entity; it was taken as it stands.',
    'Write &amp; and &lt;. Only the five entities of XML itself are known.',
  ),
  entities: error(
    'The file declares entities of its own; they are not expanded.',
    'Remove the DOCTYPE from the report.',
  ),
  tooDeep: error(
    'Elements are nested deeper than % levels; reading stopped here.',
    'No test framework nests like this. Check what wrote the file.',
  ),
  tooLong: warning(
    'The attribute % is too long; only its beginning was kept.',
    'Put long output in the text of <failure> or in <system-out>.',
  ),
  tooManyAttributes: warning(
    'A tag has more than % attributes; the others were dropped.',
    'No test framework writes that many. Check what wrote the file.',
  ),
  severalReports: warning(
    'The file holds several reports; all were read.',
    'Write each report to a file of its own, or wrap them in one <testsuites>.',
  ),
  caseWithoutName: error(
    'A test case has neither a name nor a class; it was dropped.',
    'Give each <testcase> a name attribute.',
  ),
  caseOutsideSuite: warning(
    'A test case is outside any <testsuite>.',
    'Wrap it in a <testsuite> with a name, so that equal names in two files are told apart.',
  ),
  suiteWithoutName: warning('A test suite has no name.', 'Give each outermost <testsuite> a name attribute.'),
  caseNotClosed: error(
    'The test case % has no end; whether it passed is not known, so it was dropped.',
    'The test process was probably killed, or the reporter wrote broken XML.',
  ),
  resultOutsideCase: error(
    '<%> is outside any <testcase>: something failed that no test stands for.',
    'Report failures of a whole suite as a test case of its own.',
  ),
  ignoredOutsideCase: warning(
    '<%> is outside any <testcase>; it was ignored.',
    'Write it in the <testcase> that it belongs to.',
  ),
  badTimestamp: info('The timestamp % is no ISO 8601 date.', 'Write for example 2026-07-01T10:00:00Z.'),
  badDuration: info('The time % is no duration in seconds.', 'Write seconds with a point, for example 0.25.'),
  longDuration: info(
    'A test case ran for more than a day.',
    'The attribute time is in seconds; milliseconds are not recognised.',
  ),
  counts: warning(
    'The suite % does not hold what it declares.',
    'The report is incomplete, or its reporter counts in a way of its own.',
  ),
  tooManyReruns: warning(
    'A test case has more than % reruns; the others were dropped.',
    'Retry a test a few times only.',
  ),
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
