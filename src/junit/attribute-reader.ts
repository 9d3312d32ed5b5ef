import { cleanName, hasLiteralMarkup, trimPlain } from './clean-text.ts';
import type { IssueList } from './issue-list.ts';
import type { JunitLimits } from './limits.ts';
import { parseDuration } from './parse-duration.ts';
import { parseTimestamp } from './parse-timestamp.ts';
import type { Attributes } from './tag-attributes.ts';

const DAY_MS = 86_400_000;

/** Reads the attributes of one tag after the other; `start` says where the tag is and whether nothing in it needs cleaning. */
export interface AttributeReader {
  start(line: number, isPlain: boolean): void;
  /** Null where it is absent or blank. */
  text(value: string | undefined): string | null;
  durationMs(attributes: Attributes): number | null;
  timestampAt(attributes: Attributes): number | null;
}

export function createAttributeReader(issues: IssueList, limits: JunitLimits): AttributeReader {
  let line = 1;
  let plain = true;
  let hasSaidLong = false;
  const cleaned = (value: string) => {
    if (hasLiteralMarkup(value)) issues.add('bareMarkup', line);
    return cleanName(value, limits.textBytes);
  };
  return {
    start(tagLine, isPlain) {
      line = tagLine;
      plain = isPlain;
    },
    text(value) {
      if (value === undefined || value === '') return null;
      const text = plain ? trimPlain(value, limits.textBytes) : cleaned(value);
      return text === '' ? null : text;
    },
    durationMs(attributes) {
      const value = attributes.time;
      if (value === undefined || value === '') return null;
      const ms = parseDuration(value);
      if (ms === null) issues.add('badDuration', line, cleanName(value, 100));
      else if (ms > DAY_MS && !hasSaidLong) {
        hasSaidLong = true;
        issues.add('longDuration', line);
      }
      return ms;
    },
    timestampAt(attributes) {
      const value = attributes.timestamp;
      if (value === undefined || value === '') return null;
      const at = parseTimestamp(value);
      if (at === null) issues.add('badTimestamp', line, cleanName(value, 100));
      return at;
    },
  };
}
