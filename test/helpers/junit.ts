import { createJunitParser } from '../../src/junit/create-junit-parser.ts';
import type { JunitCase, JunitSummary } from '../../src/junit/junit-case.ts';

export interface ReadReport {
  readonly cases: readonly JunitCase[];
  readonly summary: JunitSummary;
}

export function readReport(...pieces: readonly string[]): ReadReport {
  return readPieces(pieces);
}

export function readPieces(pieces: Iterable<string>): ReadReport {
  const parser = createJunitParser();
  const cases: JunitCase[] = [];
  for (const piece of pieces) cases.push(...parser.write(piece));
  const { cases: last, summary } = parser.end();
  return { cases: [...cases, ...last], summary };
}

export function messages({ summary }: ReadReport): string {
  return summary.issues.map(({ level, line, message }) => `${level} ${line}: ${message}`).join('\n');
}
