/** Structured log lines: fields in the object, a short text for people. json-log.ts implements it. */
export interface Log {
  debug(facts: object, text: string): void;
  info(facts: object, text: string): void;
  warn(facts: object, text: string): void;
  error(facts: object, text: string): void;
}
