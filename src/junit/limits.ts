/** The cost limits of a report. Longer text is cut; deeper nesting ends the reading. */
export interface JunitLimits {
  /**
   * Names, messages and texts, in bytes of UTF-8. The reference uploader cuts here too, so both compute the same test
   * ids.
   */
  readonly textBytes: number;
  /** Depth of elements. Nested suites reach 20; a deeper file is hostile. */
  readonly depth: number;
  /** Characters kept of one attribute, tag name or run of text. */
  readonly tokenChars: number;
  readonly attributesPerTag: number;
  readonly rerunsPerCase: number;
  /** Listed issues of one kind; the others are only counted. */
  readonly issuesPerKind: number;
}

export const DEFAULT_LIMITS: JunitLimits = {
  textBytes: 8_000,
  depth: 1_000,
  tokenChars: 1_048_576,
  attributesPerTag: 256,
  rerunsPerCase: 100,
  issuesPerKind: 5,
};
