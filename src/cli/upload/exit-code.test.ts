import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exitCodeOf, type Quarantine, type UploadEnd } from './exit-code.ts';

const known = (...ids: string[]): Quarantine => ({ kind: 'known', ids: new Set(ids) });
const END: UploadEnd = {
  given: undefined,
  files: 1,
  failing: 2,
  openReruns: 0,
  unaccounted: 0,
  isWhole: true,
  quarantine: known('a'),
  sent: 'sent',
  isEmptyAllowed: true,
};

/** Exit codes for: no exit code of the test process, 0, and 3. */
const TABLE: readonly [
  what: string,
  end: Partial<UploadEnd>,
  codes: readonly [none: number, zero: number, three: number],
][] = [
  ['no report files found', { files: 0, failing: 0, sent: 'none' }, [0, 0, 3]],
  ['no report files found, and there must be one', { files: 0, isEmptyAllowed: false, sent: 'none' }, [70, 70, 70]],
  ['no test fails', { failing: 0, quarantine: { kind: 'not_asked' } }, [0, 0, 3]],
  ['quarantine is switched off', { quarantine: { kind: 'switched_off' } }, [0, 0, 3]],
  ['every failing test is quarantined', { quarantine: known('a', 'b') }, [0, 0, 0]],
  [
    'every failing test is quarantined, and a report is cut off',
    { quarantine: known('a', 'b'), isWhole: false },
    [1, 0, 3],
  ],
  [
    'every failing test is quarantined, and a failure belongs to no test',
    { quarantine: known('a', 'b'), unaccounted: 1 },
    [1, 0, 3],
  ],
  [
    'no test fails, and a failure belongs to no test',
    { failing: 0, unaccounted: 1, quarantine: { kind: 'not_asked' } },
    [1, 0, 3],
  ],
  ['no test fails, and one passed when it was run again', { failing: 0, openReruns: 1 }, [0, 0, 3]],
  [
    'every failing test is quarantined, and another passed when it was run again',
    { quarantine: known('a', 'b'), openReruns: 1 },
    [0, 0, 3],
  ],
  ['some are not', {}, [1, 0, 3]],
  ['none is', { quarantine: known() }, [1, 0, 3]],
  ['the lookup failed', { quarantine: { kind: 'unknown', reason: 'Gone.' } }, [1, 0, 3]],
  ['--no-quarantine', { quarantine: { kind: 'not_asked' } }, [0, 0, 3]],
  ['the upload was refused', { sent: 'refused', quarantine: known('a', 'b') }, [70, 70, 70]],
  ['the upload failed otherwise, all quarantined', { sent: 'failed', quarantine: known('a', 'b') }, [0, 0, 0]],
  ['the upload failed otherwise, some not', { sent: 'failed' }, [1, 0, 3]],
  ['a dry run', { sent: 'none' }, [1, 0, 3]],
];

describe('the exit code of an upload [W15]', () => {
  for (const [what, end, codes] of TABLE) {
    it(`where ${what}`, () => {
      const given = [undefined, 0, 3];
      assert.deepEqual(
        given.map((code) => exitCodeOf({ ...END, ...end, given: code })),
        codes,
      );
    });
  }
});
