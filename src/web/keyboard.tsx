import { useEffect } from 'preact/hooks';
import { call } from './core/api.ts';
import { goTo, route } from './core/location.ts';
import { opened, openSearch } from './core/opened.ts';
import { repoKey } from './core/places.ts';
import { type QueuePlace, type Route, toPath } from './core/route.ts';
import { sessionOf } from './core/session.ts';
import { type KeyAct, KeyReader, nextItem, takesText } from './model/keys.ts';
import { lazy } from './ui/lazy.tsx';

const SearchDialog = lazy(async () => (await import('./pages/search/search.tsx')).SearchDialog);
const KeysDialog = lazy(async () => (await import('./pages/search/keys-dialog.tsx')).KeysDialog);

/** The queue that was shown last. Pages of tests belong to no queue. */
let lastQueue: QueuePlace | undefined;

/** Listens to keys, and shows the dialogs that they open. */
export function Keyboard() {
  const { value: shown } = route;
  if (shown.page === 'queue' || shown.page === 'pr') {
    lastQueue = { org: shown.org, repo: shown.repo, branch: shown.branch };
  }
  useEffect(() => {
    const reader = new KeyReader();
    const onKey = (event: KeyboardEvent) => {
      if (event.target instanceof HTMLElement && takesText(event.target)) return;
      // A dialog that is being loaded is not there yet.
      if (opened.value !== undefined || document.querySelector('dialog[open]') !== null) return;
      const isModified = event.ctrlKey || event.altKey || event.metaKey;
      const act = reader.press({ key: event.key, at: event.timeStamp, isModified });
      if (act === undefined || !run(act, route.value)) return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const close = () => {
    opened.value = undefined;
  };
  if (opened.value === 'help') return <KeysDialog onDone={close} />;
  if (opened.value === 'search' && 'org' in shown) return <SearchDialog shown={shown} onDone={close} />;
  return null;
}

/** False: there is nothing to do here. */
function run(act: KeyAct, shown: Route): boolean {
  if (act === 'help') {
    opened.value = 'help';
    return true;
  }
  if (act === 'next' || act === 'previous') return moveFocus(act === 'next' ? 1 : -1);
  if (!('org' in shown) || sessionOf(shown.org) === undefined) return false;
  if (act === 'search') openSearch();
  else void goToPage(act, shown);
  return true;
}

type Within = Extract<Route, { readonly org: string }>;

async function goToPage(act: 'queue' | 'tests' | 'home', shown: Within): Promise<void> {
  const { org } = shown;
  const last = lastQueue?.org === org ? lastQueue : undefined;
  const place = 'repo' in shown && typeof shown.repo !== 'string' ? { org, repo: shown.repo } : last;
  if (act === 'home' || place === undefined) return goTo(toPath({ page: 'home', org }));
  if (act === 'tests') return goTo(toPath({ page: 'repo', org, repo: place.repo, tab: 'tests' }));
  const queue = 'branch' in shown ? shown : last;
  if (queue !== undefined && repoKey(queue) === repoKey(place)) {
    return goTo(toPath({ page: 'queue', org, repo: queue.repo, branch: queue.branch }));
  }
  const { queues } = await call(org, 'listQueues', { repo: place.repo });
  const [first] = queues;
  goTo(toPath(first === undefined ? { page: 'home', org } : { page: 'queue', ...place, branch: first.branch }));
}

/** One link of each row, so that `j` and `k` move by rows. */
const ROWS = '.rows .row, .cards .card, tbody tr, .things > li, .uploads > li';

function moveFocus(step: 1 | -1): boolean {
  const links = [...document.querySelectorAll<HTMLElement>(ROWS)].flatMap((row) => row.querySelector('a') ?? []);
  const present = links.indexOf(document.activeElement as HTMLAnchorElement);
  const next = nextItem(
    links.map((link) => link.getBoundingClientRect().top),
    present,
    step,
  );
  const link = next === undefined ? undefined : links[next];
  if (link === undefined) return false;
  link.scrollIntoView({ block: 'nearest' });
  link.focus();
  return true;
}
