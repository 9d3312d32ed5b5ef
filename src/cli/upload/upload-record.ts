import { clean, paintNote, type Style } from '../core/terminal.ts';
import { formatFiles } from './progress.ts';

interface Issue {
  readonly level: string;
  readonly file?: string | null;
  readonly line?: number | null;
  readonly message: string;
  readonly hint: string;
}

export interface DescribedUpload {
  readonly status: string;
  readonly files: number;
  readonly test_runs: number;
  readonly issues: readonly Issue[];
}

const SENTENCES: Readonly<Record<string, string>> = {
  ACCEPTED: 'It waits to be processed.',
  PROCESSED: 'It has been processed.',
  SKIPPED: 'It counts nowhere: too many of its tests failed, which is more likely the machine than the tests.',
  FAILED: 'Nothing of it could be used.',
};

export function formatRecord(upload: DescribedUpload): string[] {
  const sentence = SENTENCES[upload.status] ?? upload.status;
  const runs = upload.test_runs === 1 ? '1 run' : `${upload.test_runs} runs`;
  return [
    `${sentence} ${formatFiles(upload.files)}, ${runs} of tests.`,
    ...upload.issues.flatMap((issue) => formatIssue(issue, paintNote)),
  ];
}

const STYLES: Readonly<Record<string, Style>> = { error: 'red', warning: 'yellow', info: 'gray' };

/** `colour` is that of the output stream. */
export function formatIssue(
  { level, file, line, message, hint }: Issue,
  colour: (style: Style, text: string) => string,
): string[] {
  const place = [file, line].filter((part) => part !== null && part !== undefined).join(':');
  const word = colour(STYLES[level.toLowerCase()] ?? 'gray', level.toLowerCase());
  return [`  ${word} ${place === '' ? '' : `${clean(place)}: `}${clean(message)}`, `    ${clean(hint)}`];
}
