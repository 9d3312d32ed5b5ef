/** Whether things go wrong at present, and the book of what did. */
export interface Weather {
  readonly isCalm: boolean;
  /** Something went wrong on purpose. */
  count(fault: string): void;
}
