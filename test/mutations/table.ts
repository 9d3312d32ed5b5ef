import { readFileSync } from 'node:fs';
import { assert } from '../../src/lib/assert.ts';
import { isSuite, type SuiteName } from './suites.ts';

/** One deliberate fault: text of a file and its replacement. */
export interface Edit {
  readonly file: string;
  /** Occurs exactly once. */
  readonly before: string;
  readonly after: string;
}

export interface Mutation {
  /** Begins with the number of the rule that the fault breaks. */
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The suites that may detect it, the fastest first. Two must, or the only one. */
  readonly suites: readonly SuiteName[];
  /** Why no event can tell the fault from the rule. Undefined for a fault that must be detected. */
  readonly equivalent: string | undefined;
}

/**
 * Reads the faults of a table. Each is a paragraph: `# rule: what the fault does`; `@` and its suites, if they are others
 * than the stories; `= reason` if it is an equivalent; for each edit `--- file`, the text with `-` and its replacement
 * with `+` before each line.
 */
export function parseTable(text: string): readonly Mutation[] {
  const paragraphs = text.split(/\n{2,}/).filter((paragraph) => paragraph.startsWith('# '));
  return paragraphs.map((paragraph) => {
    const [head = '', ...edits] = paragraph.trimEnd().split('\n--- ');
    const name = linesOf(head, '# ').join(' ');
    const named = linesOf(head, '@ ').flatMap((line) => line.split(' '));
    const suites = named.length === 0 ? ['scenario'] : named;
    assert(suites.every(isSuite) && edits.length > 0, `"${name}" has edits and known suites`);
    return { name, suites, equivalent: linesOf(head, '= ').join(' ') || undefined, edits: edits.map(parseEdit) };
  });
}

function parseEdit(text: string): Edit {
  const [file = ''] = text.split('\n', 1);
  return { file, before: linesOf(text, '-').join('\n'), after: linesOf(text, '+').join('\n') };
}

/** The lines that begin with the sign, without it. */
function linesOf(text: string, sign: string): string[] {
  return text.split('\n').flatMap((line) => (line.startsWith(sign) ? line.slice(sign.length) : []));
}

export const MUTATIONS = parseTable(readFileSync(new URL('faults.diff', import.meta.url), 'utf8'));
