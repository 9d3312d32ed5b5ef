import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { isOpenTab } from '../core/open-pages.ts';
import { nameOf } from '../core/places.ts';
import { type QueuePage, type QueuePlace, type Repo, type RepoPage, toPath } from '../core/route.ts';
import { isStranger } from '../core/stranger.ts';
import type { Tone } from '../model/state.ts';

const COLOURS: Readonly<Record<Tone, string>> = {
  quiet: '#6b7280',
  busy: '#2f5fd0',
  good: '#1a7f4b',
  bad: '#c4372c',
  warn: '#9a6700',
};

/** The title and the icon of the tab tell the state, for those who keep it open. */
export function useTitle(title: string, tone?: Tone): void {
  useEffect(() => {
    document.title = title === '' ? 'Sluice' : `${title} · Sluice`;
    const icon = document.getElementById('favicon');
    if (!(icon instanceof HTMLLinkElement)) return;
    const colour = COLOURS[tone ?? 'busy'];
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="${colour}"/>${GLYPHS[tone ?? 'busy']}</svg>`;
    icon.href = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  }, [title, tone]);
}

const STROKE = 'stroke="white" stroke-width="1.8" stroke-linecap="round" fill="none"';
const GLYPHS: Readonly<Record<Tone, string>> = {
  busy: `<path d="M4 5h8M4 8h8M4 11h5" ${STROKE}/>`,
  quiet: `<path d="M4 5h8M4 8h8M4 11h5" ${STROKE}/>`,
  good: `<path d="M4.5 8.3l2.4 2.4 4.6-5" ${STROKE}/>`,
  bad: `<path d="M5 5l6 6M11 5l-6 6" ${STROKE}/>`,
  warn: `<path d="M6 5v6M10 5v6" ${STROKE}/>`,
};

export function Crumbs({
  org,
  repo,
  children,
}: {
  readonly org: string;
  readonly repo?: Repo;
  readonly children?: ComponentChildren;
}) {
  return (
    <nav class="crumbs" aria-label="Where you are">
      <a href={toPath({ page: 'home', org })}>{org}</a>
      {repo !== undefined && (
        <>
          <span aria-hidden="true">›</span>
          {isStranger.value ? (
            <span title={repo.host}>{nameOf(repo)}</span>
          ) : (
            <a href={toPath({ page: 'repo', org, repo, tab: 'tests' })} title={repo.host}>
              {nameOf(repo)}
            </a>
          )}
        </>
      )}
      {children}
    </nav>
  );
}

interface Tab {
  readonly name: string;
  readonly path: string;
  readonly isHere: boolean;
}

function Tabs({ tabs, label }: { readonly tabs: readonly Tab[]; readonly label: string }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ name, path, isHere }) => (
        <a key={name} href={path} {...(isHere ? { 'aria-current': 'page' as const } : {})}>
          {name}
        </a>
      ))}
    </nav>
  );
}

const QUEUE_TABS: readonly (readonly [string, QueuePage | undefined])[] = [
  ['Queue', undefined],
  ['Health', 'health'],
  ['Landings', 'landings'],
  ['Simulator', 'simulator'],
  ['Settings', 'settings'],
];
const REPO_TABS: readonly (readonly [string, RepoPage])[] = [
  ['Tests', 'tests'],
  ['Cost of flakes', 'flakes'],
  ['Uploads', 'uploads'],
];

export function QueueHead({ place, tab }: { readonly place: QueuePlace; readonly tab: QueuePage | 'pr' | undefined }) {
  const { org, repo, branch } = place;
  const isOpen = (page: QueuePage | undefined) => !isStranger.value || isOpenTab(page);
  const here = QUEUE_TABS.filter(([, page]) => isOpen(page)).map(([name, page]) => ({
    name,
    path: toPath({ page: 'queue', org, repo, branch, ...(page === undefined ? {} : { tab: page }) }),
    isHere: page === tab,
  }));
  const beside = (isStranger.value ? [] : REPO_TABS).map(([name, page]) => ({
    name,
    path: toPath({ page: 'repo', org, repo, tab: page }),
    isHere: false,
  }));
  return (
    <header class="head">
      <Crumbs org={org} repo={repo}>
        <span aria-hidden="true">›</span>
        <a href={toPath({ page: 'queue', org, repo, branch })}>{branch}</a>
      </Crumbs>
      <Tabs label="Pages of the queue" tabs={[...here, ...beside]} />
    </header>
  );
}

export function RepoHead({ org, repo, tab }: { readonly org: string; readonly repo: Repo; readonly tab: RepoPage }) {
  const tabs = REPO_TABS.map(([name, page]) => ({
    name,
    path: toPath({ page: 'repo', org, repo, tab: page }),
    isHere: page === tab,
  }));
  return (
    <header class="head">
      <Crumbs org={org} repo={repo} />
      <Tabs label="Pages of the repository" tabs={tabs} />
    </header>
  );
}
