import { computed, signal } from '@preact/signals';
import { parseRoute } from './route.ts';

const address = signal({ path: location.pathname, search: location.search });

/** The page that is shown. */
export const route = computed(() => parseRoute(address.value.path, address.value.search));
export const query = computed(() => new URLSearchParams(address.value.search));

export function goTo(path: string, options: { readonly isReplaced?: boolean } = {}): void {
  if (options.isReplaced) history.replaceState(null, '', path);
  else history.pushState(null, '', path);
  update();
  if (!options.isReplaced) scrollTo(0, 0);
}

/** Changes what follows `?`; undefined removes a name. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const next = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  goTo(`${location.pathname}${text === '' ? '' : `?${text}`}`, { isReplaced: true });
}

function update(): void {
  address.value = { path: location.pathname, search: location.search };
}

/** Links of the dashboard change the page without loading it again. */
export function followLinks(): void {
  addEventListener('popstate', update);
  addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (link === null || !isPlain || event.defaultPrevented || link.target !== '' || link.hasAttribute('download'))
      return;
    const url = new URL(link.href, location.href);
    if (url.origin !== location.origin || /^\/(docs|v1|openapi\.json|assets|web)\b/.test(url.pathname)) return;
    if (url.pathname === location.pathname && url.hash !== '') return;
    event.preventDefault();
    goTo(`${url.pathname}${url.search}`);
  });
}
