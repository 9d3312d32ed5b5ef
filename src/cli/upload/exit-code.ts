/** What is known when an upload ends; the rules of the uploader that teams may have now, except that it excuses reports cut off. */
export interface UploadEnd {
  /** That of the test process, where it was given. */
  readonly given: number | undefined;
  readonly files: number;
  readonly failing: number;
  /** Failures that no failing test stands for: nobody can have quarantined them. */
  readonly unaccounted: number;
  /** Every report could be read to its end. What else failed in one that was cut off, nobody knows. */
  readonly isWhole: boolean;
  readonly quarantine: Quarantine;
  /** `refused`: 401, 403 or 404, which no repetition mends. `failed`: anything else. `none`: nothing was to be sent. */
  readonly sent: 'sent' | 'refused' | 'failed' | 'none';
  readonly isEmptyAllowed: boolean;
}

export type Quarantine =
  /** Nobody asked: nothing fails, or --no-quarantine. */
  | { readonly kind: 'not_asked' }
  | { readonly kind: 'switched_off' }
  /** Whether tests are quarantined could not be found out. */
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'known'; readonly ids: ReadonlySet<string> };

/** It is not set up as it has to be: a token, an organization or the reports are missing. */
export const MISCONFIGURED = 70;

export function exitCodeOf(end: UploadEnd): number {
  if (end.sent === 'refused') return MISCONFIGURED;
  if (end.files === 0) return end.isEmptyAllowed ? (end.given ?? 0) : MISCONFIGURED;
  return testExitCode(end);
}

/** Without what became of the upload. */
function testExitCode({ given, failing, unaccounted, isWhole, quarantine }: UploadEnd): number {
  if (unaccounted > 0) return given ?? 1;
  if (failing === 0 || quarantine.kind === 'not_asked' || quarantine.kind === 'switched_off') return given ?? 0;
  if (quarantine.kind === 'known' && quarantine.ids.size === failing && isWhole) return 0;
  return given ?? 1;
}
