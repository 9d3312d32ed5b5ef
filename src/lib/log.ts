/** JSON lines for programs and people: facts in the object, a sentence in the text. json-log.ts makes one. */
export interface Log {
  debug(facts: object, text: string): void;
  info(facts: object, text: string): void;
  warn(facts: object, text: string): void;
  error(facts: object, text: string): void;
}
