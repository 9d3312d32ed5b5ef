import { createIssueList } from './issue-list.ts';
import type { JunitCase, JunitSummary } from './junit-case.ts';
import { DEFAULT_LIMITS, type JunitLimits } from './limits.ts';
import { createReportBuilder } from './report-builder.ts';
import { createXmlReader, type XmlReader } from './xml-reader.ts';

export interface JunitParser {
  /** Takes the next piece of the text, cut anywhere, and returns the cases completed by it. */
  write(text: string): readonly JunitCase[];
  end(): { readonly cases: readonly JunitCase[]; readonly summary: JunitSummary };
}

/** Enough to recognize a binary file; the first characters are held back until this many have arrived. */
const HEAD_CHARS = 1_024;

/**
 * Reads JUnit XML in every dialect, and as much as possible of a broken report. It never throws. It holds only the open
 * suites, one case and one block of text, for files of any length.
 */
// SPEC J1
export function createJunitParser(limits: JunitLimits = DEFAULT_LIMITS): JunitParser {
  const issues = createIssueList(limits.issuesPerKind);
  const source = { stop: () => reader.stop(), isPlain: () => reader.isPlain() };
  const builder = createReportBuilder(issues, limits, source);
  const reader: XmlReader = createXmlReader(builder, issues, limits);
  let head: string | null = '';
  let isRefused = false;

  function begin(text: string): void {
    head = null;
    if (!isBinary(text)) return reader.write(text);
    issues.add('binary', 1);
    isRefused = true;
    reader.stop();
  }

  return {
    write(text) {
      if (isRefused) return [];
      if (head === null) reader.write(text);
      else {
        head += text;
        if (head.length >= HEAD_CHARS) begin(head);
      }
      return builder.take();
    },
    end() {
      if (head?.trim() === '') issues.add('empty', 1);
      if (head !== null) begin(head);
      const whole = reader.end();
      const summary = builder.finish(whole, reader.line());
      return { cases: builder.take(), summary };
    },
  };
}

/** Text has no NUL, and few other control characters or invalid bytes. */
// SPEC J21
function isBinary(text: string): boolean {
  const start = text.slice(0, HEAD_CHARS);
  if (start.includes('\0')) return true;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  const odd = start.match(/[\x01-\x08\x0e-\x1a\x1c-\x1f\ufffd]/g)?.length ?? 0;
  return odd * 10 > start.length;
}
