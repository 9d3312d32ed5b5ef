import { code, tame } from './markdown.ts';
import type { PageFacts } from './page-facts.ts';

/** Markdown, one line. */
export function renderHeadline({ headline: { icon, text }, branch, explanation, admitted }: PageFacts): string {
  const { position } = explanation;
  const place = position === undefined ? '' : `, number ${position} of ${Math.max(position, admitted)}`;
  return `### ${icon} ${text} · ${code(branch)}${place}`;
}

/** Plain text, one line. */
export function titleOf({ entry, run, headline: { text } }: PageFacts): string {
  const checks = run?.failed.filter(({ isWaived }) => !isWaived).map(({ name }) => tame(name, 60)) ?? [];
  if (entry.state === 'MERGED' && entry.landed !== undefined) return `${text} as ${entry.landed.sha.slice(0, 12)}`;
  if (entry.state !== 'FAILED' || checks.length === 0) return text;
  const more = checks.length > 2 ? ` and ${checks.length - 2} more` : '';
  return `${text}: ${checks.slice(0, 2).join(', ')}${more}`;
}
