import type { Manifest } from './manifest.ts';

/** Where a browser sends the manifest. */
export function creationUrl(webUrl: string, org: string | undefined, state: string): string {
  const owner = org === undefined ? '' : `/organizations/${encodeURIComponent(org)}`;
  return `${webUrl}${owner}/settings/apps/new?state=${state}`;
}

/** GitHub takes a manifest from a form only, so that a person sees what is made. */
export function renderSetupPage(action: string, manifest: Manifest): string {
  return page(
    'Connect Sluice to GitHub',
    `<p>GitHub shows the name of the App next, and asks you to create it.</p>
<form action="${escapeHtml(action)}" method="post">
<input type="hidden" name="manifest" value="${escapeHtml(JSON.stringify(manifest))}">
<button>Create the App on ${escapeHtml(new URL(action).host)}</button>
</form>`,
  );
}

export function renderEnd(title: string, text: string): string {
  return page(title, `<p>${escapeHtml(text)}</p>`);
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<style>body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem}button{font:inherit;padding:.5rem 1rem}</style>
</head><body><h1>${escapeHtml(title)}</h1>
${body}
</body></html>
`;
}

function escapeHtml(text: string): string {
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (char) => names[char] ?? char);
}
