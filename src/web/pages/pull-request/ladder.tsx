import { call } from '../../core/api.ts';
import { keyOf, queueBody, touches } from '../../core/places.ts';
import type { PullRequest } from '../../core/replies.ts';
import { useResource } from '../../core/resource.ts';
import { type QueuePlace, toPath } from '../../core/route.ts';
import { ladderOf } from '../../model/ladder.ts';
import { lookOfEntry } from '../../model/state.ts';
import { State } from '../../ui/shape.tsx';

interface Props {
  readonly place: QueuePlace;
  readonly entry: PullRequest;
  readonly isPast: boolean;
}

/** As many as the server answers at once. */
const MAX_READ = 50;

/** The pull requests that this one is built on, and those that are built on it. Their states of the past are not asked for. */
export function Ladder({ place, entry, isPast }: Props) {
  const numbers = ladderOf(entry, []).flatMap(({ prNumber }) => (prNumber === entry.prNumber ? [] : prNumber));
  const prs = numbers.slice(0, MAX_READ).map((number) => ({ number }));
  const members = useResource<readonly PullRequest[] | undefined>(
    `stack ${keyOf(place)} ${numbers.join()} ${isPast}`,
    async (signal) => {
      if (isPast || prs.length === 0) return undefined;
      return (await call(place.org, 'getSubmittedPullRequests', { ...queueBody(place), prs }, { signal })).pullRequests;
    },
    { isTouchedBy: (event) => touches(place, event) },
  );
  if (numbers.length === 0) return null;
  return (
    <section aria-label="Stack">
      <h2>Stack</h2>
      <ol class="ladder" reversed>
        {ladderOf(entry, members.value ?? []).map(({ prNumber, prTitle, state }) => {
          const look = lookOfEntry(state);
          const isShown = prNumber === entry.prNumber;
          return (
            <li key={prNumber} class={`tone-${look.tone}`} aria-current={isShown}>
              {isShown ? <b>#{prNumber}</b> : <a href={toPath({ page: 'pr', ...place, prNumber })}>#{prNumber}</a>}
              <span>{prTitle}</span>
              {(members.value ?? state) !== undefined && (
                <State look={state === 'MERGED' ? { ...look, word: 'Merged' } : look} />
              )}
            </li>
          );
        })}
      </ol>
      <p class="muted">The lower ones land on {place.branch} first.</p>
    </section>
  );
}
