import { quote } from './core/quote.ts';

/** The line to copy that shows what a check printed. */
export function formatLogCommand(candidate: string, check?: string, flags = ''): string {
  const name = check === undefined ? '' : ` ${check.startsWith('-') ? '-- ' : ''}${quote(check)}`;
  return `sluice logs ${flags}${candidate}${name}`;
}
