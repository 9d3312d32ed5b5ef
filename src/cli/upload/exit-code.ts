/** The rules follow the reference uploader, except that it excuses truncated reports. */
export interface UploadEnd {
  /** The exit code of the test process, if it was given. */
  readonly given: number | undefined;
  readonly files: number;
  readonly failing: number;
  /** Tests that passed when they were run again, and are not quarantined: the given exit code may be theirs. */
  readonly openReruns: number;
  /** Failures without a failing test: they cannot be quarantined. */
  readonly unaccounted: number;
  /** Every report was read to its end. A truncated one may hide more failures. */
  readonly isWhole: boolean;
  readonly quarantine: Quarantine;
  /** `refused`: 401, 403 or 404, which a retry does not fix. `none`: nothing was to be sent. */
  readonly sent: 'sent' | 'refused' | 'failed' | 'none';
  readonly isEmptyAllowed: boolean;
}

export type Quarantine =
  /** The server was not asked: no test fails, or --no-quarantine. */
  | { readonly kind: 'not_asked' }
  | { readonly kind: 'switched_off' }
  /** The lookup failed. */
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'known'; readonly ids: ReadonlySet<string> };

/** A faulty setup: a token, an organization or the reports are missing. */
export const MISCONFIGURED = 70;

// SPEC W16
export function exitCodeOf(end: UploadEnd): number {
  if (end.sent === 'refused') return MISCONFIGURED;
  if (end.files === 0) return end.isEmptyAllowed ? (end.given ?? 0) : MISCONFIGURED;
  return testExitCode(end);
}

/** Ignores the result of the upload. */
// SPEC W15, W69
function testExitCode({ given, failing, openReruns, unaccounted, isWhole, quarantine }: UploadEnd): number {
  if (unaccounted > 0) return given ?? 1;
  if (failing === 0 || quarantine.kind === 'not_asked' || quarantine.kind === 'switched_off') return given ?? 0;
  if (quarantine.kind === 'known' && quarantine.ids.size === failing && isWhole)
    return openReruns > 0 ? (given ?? 0) : 0;
  return given ?? 1;
}
