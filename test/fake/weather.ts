/** Switches faults on and off, and counts them. */
export interface Weather {
  readonly isCalm: boolean;
  /** Records an injected fault. */
  count(fault: string): void;
}
