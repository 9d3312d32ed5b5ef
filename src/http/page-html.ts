import { escapeHtml } from '../lib/text.ts';

/** Escaped markup. */
export interface Html {
  readonly markup: string;
}

type HtmlPart = Html | string | number | readonly Html[];

/** Escapes everything in the template that this function did not make. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return { markup: String.raw({ raw: strings }, ...parts.map(toMarkup)) };
}

export function renderPage(title: string, style: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${{ markup: style }}</style>
</head>
<body>
${body}
</body>
</html>
`.markup;
}

export const NOTHING: Html = { markup: '' };

function toMarkup(part: HtmlPart): string {
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part));
  if ('markup' in part) return part.markup;
  return part.map((each) => each.markup).join('');
}

/** Descriptions use no other markup than paragraphs and code between backticks. */
export function renderText(text: string): Html {
  return html`${text.split('\n\n').map((paragraph) => html`<p>${renderLine(paragraph)}</p>`)}`;
}

export function renderLine(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}

export function joinHtml(parts: readonly Html[], separator: string): Html {
  return { markup: parts.map(({ markup }) => markup).join(separator) };
}
