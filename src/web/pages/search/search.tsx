import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { goTo } from '../../core/location.ts';
import { nameOf } from '../../core/places.ts';
import { useFormer, useResource } from '../../core/resource.ts';
import type { Repo, Route } from '../../core/route.ts';
import { LightDialog } from '../../ui/light-dialog.tsx';
import { Problem } from '../../ui/page-states.tsx';
import { Shape } from '../../ui/shape.tsx';
import { useSettled } from '../../ui/use-settled.ts';
import { askFor, type Catalog, findKnown, findQueues, type Group, readCatalog } from './find.ts';

interface Props {
  readonly shown: Extract<Route, { readonly org: string }>;
  readonly onDone: () => void;
}

const TYPING_MS = 150;

/** Finds pull requests, queues and tests of the repository that is shown. */
export function SearchDialog({ shown, onDone }: Props) {
  const { org } = shown;
  const repo = 'repo' in shown && typeof shown.repo !== 'string' ? shown.repo : undefined;
  const text = useSignal('');
  const list = useRef<HTMLElement>(null);
  const where = repo === undefined ? org : `${repo.host} ${nameOf(repo)}`;
  const catalog = useResource(`catalog ${org} ${where}`, (signal) => readCatalog(org, repo, signal));
  const groups = useGroups({ org, repo, where, catalog: catalog.value, text: text.value });
  const links = () => [...(list.current?.querySelectorAll<HTMLElement>('input, a') ?? [])];
  const onKeyDown = (event: KeyboardEvent) => {
    const all = links();
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      const next = all.indexOf(document.activeElement as HTMLElement) + step;
      all[Math.min(all.length - 1, Math.max(0, next))]?.focus();
    } else if (event.key === 'Enter' && document.activeElement === all[0]) {
      const href = all[1]?.getAttribute('href');
      if (typeof href !== 'string') return;
      goTo(href);
      onDone();
    } else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) all[0]?.focus();
  };
  return (
    <LightDialog label="Search" name="light finder" onDone={onDone}>
      <search ref={list} onKeyDown={onKeyDown}>
        <input
          type="search"
          autofocus
          aria-label="Search"
          placeholder={
            repo === undefined ? 'Pull requests and queues' : `In ${nameOf(repo)}: pull requests, tests, queues`
          }
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
        {catalog.problem !== undefined && <Problem problem={catalog.problem} />}
        {groups.map(({ name, found }) => (
          <section key={name} aria-label={name}>
            <h2>{name}</h2>
            <ul>
              {found.map(({ path, look, title, detail }) => (
                <li key={path}>
                  <a href={path} class={`tone-${look.tone}`} onClick={onDone}>
                    <Shape name={look.shape} />
                    <span class="title">{title}</span>
                    <span class="muted">{look.word}</span>
                    <span class="detail">{detail}</span>
                  </a>
                </li>
              ))}
            </ul>
          </section>
        ))}
        <p class="muted" role="status">
          {say(text.value, catalog.value, groups)}
        </p>
      </search>
    </LightDialog>
  );
}

function say(text: string, catalog: Catalog | undefined, groups: readonly Group[]): string {
  if (catalog === undefined) return 'Reading …';
  if (groups.length > 0) return '↑ ↓ to choose, Enter to open';
  return text.trim() === '' ? '' : 'Nothing fits.';
}

interface Asked {
  readonly org: string;
  readonly repo: Repo | undefined;
  readonly where: string;
  readonly catalog: Catalog | undefined;
  readonly text: string;
}

function useGroups({ org, repo, where, catalog, text }: Asked): readonly Group[] {
  const typed = useSettled(text.trim(), TYPING_MS);
  const isAsked = catalog !== undefined && typed !== '';
  const asked = useFormer(
    useResource(`search ${org} ${where} ${isAsked} ${typed}`, (signal) =>
      isAsked ? askFor(org, repo, catalog, typed, signal) : Promise.resolve({ pullRequests: [], tests: [] }),
    ),
  );
  if (catalog === undefined) return [];
  const { pullRequests, tests } = (typed === '' ? undefined : asked.value) ?? { pullRequests: [], tests: [] };
  const groups = [
    { name: 'Pull requests', found: text.trim() === '' ? [] : [...findKnown(catalog, text), ...pullRequests] },
    { name: 'Tests', found: tests },
    { name: 'Queues', found: findQueues(org, catalog, text) },
  ];
  return groups.filter(({ found }) => found.length > 0);
}
