/** Frames of others: of a runtime, or of a package. */
const FOREIGN = /node_modules|site-packages|dist-packages|\bnode:|^\/usr\/|\.cargo\/|go\/pkg\/mod|<frozen|\/rustc\//;
const PYTHON_FRAME = /File "([^"\n]{1,300})", line (\d{1,9})/;
const FRAME = /((?:[\w@.+~-]{1,100}\/|\/){0,30}[\w@.+-]{1,100}\.[a-zA-Z]{1,5}):(\d{1,9})\b/;
/** Where the built-in runner has the commit that it tests. */
const WORK_TREE = /^\/{1,3}check\/tree\//;
const MOST_READ = 20_000;

/** The first line of a stack that is of the project: `src/cart.js:12`. */
export function ownFrame(text: string): string | undefined {
  for (const line of text.slice(0, MOST_READ).split('\n')) {
    const [, file, number] = PYTHON_FRAME.exec(line) ?? FRAME.exec(line) ?? [];
    if (file !== undefined && !FOREIGN.test(line)) return `${file.replace(WORK_TREE, '')}:${number}`;
  }
  return undefined;
}

const FAILURE =
  /\b(?:FAIL|FAILED|FAILURE|ERROR|panic:|Traceback|Exception|not ok|error(?:\[E\d+\])?:)|Error\b|[✖✗×✕]|: command not found|\bnpm ERR!/;
const MOST_LINES = 200;
const BEFORE = 40;

export interface Excerpt {
  readonly text: string;
  readonly isCut: boolean;
  /** A line looked like one. */
  readonly isFailure: boolean;
}

/** The lines around the first failure; the end, if no line looks like one. */
// SPEC E92
export function failureLines(log: string, maxLength: number): Excerpt {
  const lines = log.split('\n');
  const found = lines.findIndex((line) => FAILURE.test(line.slice(0, 1_000)));
  const from = found < 0 ? Math.max(0, lines.length - MOST_LINES) : Math.max(0, found - BEFORE);
  const shown = lines.slice(from, from + MOST_LINES).map((line) => line.slice(0, 1_000));
  while (shown.length > 1 && shown.join('\n').length > maxLength) shown.pop();
  return { text: shown.join('\n').slice(0, maxLength), isCut: shown.length < lines.length, isFailure: found >= 0 };
}
