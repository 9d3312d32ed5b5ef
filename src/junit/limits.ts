/** What a report may cost. Whatever is longer is cut, whatever is deeper ends the reading. */
export interface JunitLimits {
  /** Names, messages and texts, in bytes of UTF-8: the cut of the usual uploader, so that both give the same test ids. */
  readonly textBytes: number;
  /** Elements inside each other. Nested suites reach 20; a file with more is made to hurt. */
  readonly depth: number;
  /** Characters of one attribute, tag name or run of text that are kept while it is read. */
  readonly tokenChars: number;
  readonly attributesPerTag: number;
  readonly rerunsPerCase: number;
  /** Issues of one kind that are listed; the others are only counted. */
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
