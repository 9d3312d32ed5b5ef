import { lit } from '../core/lit.ts';
import type { Entry } from '../core/replies.ts';
import { type QueuePlace, toPath } from '../core/route.ts';
import { sentenceOf } from '../model/explanation.ts';
import { lookOfEntry } from '../model/state.ts';
import { State } from './shape.tsx';
import { Ago, Since } from './text.tsx';
import { VirtualList } from './virtual-list.tsx';

interface Props {
  readonly place: QueuePlace;
  readonly title: string;
  readonly entries: readonly Entry[];
  /** They are no longer in the queue. */
  readonly isLeft?: boolean;
}

const ROW_PX = 52;

export function EntryList({ place, title, entries, isLeft = false }: Props) {
  if (entries.length === 0) return null;
  return (
    <section class="list">
      <h2>
        {title} <span class="count">{entries.length}</span>
      </h2>
      <VirtualList label={title} items={entries} rowHeight={ROW_PX} keyOf={({ prNumber }) => prNumber}>
        {(entry, index) => <EntryRow place={place} entry={entry} isLeft={isLeft} index={index} />}
      </VirtualList>
    </section>
  );
}

function EntryRow({
  place,
  entry,
  isLeft,
  index,
}: {
  readonly place: QueuePlace;
  readonly entry: Entry;
  readonly isLeft: boolean;
  readonly index: number;
}) {
  const { prNumber, prTitle, prAuthor, state, stateChangedAt, explanation, forecast, skipTheLine } = entry;
  const light = () => {
    lit.value = new Set([prNumber, ...(explanation?.reasons ?? []).flatMap((reason) => reason.prNumber ?? [])]);
  };
  const dim = () => {
    lit.value = new Set();
  };
  return (
    <a
      class={`entry${lit.value.has(prNumber) ? ' lit' : ''}`}
      href={toPath({ page: 'pr', ...place, prNumber })}
      onMouseEnter={light}
      onMouseLeave={dim}
      onFocus={light}
      onBlur={dim}
    >
      <span class="what">
        <State look={lookOfEntry(state)} />
        <span class="number">#{prNumber}</span>
        <span class="title">{prTitle}</span>
        {skipTheLine && <span class="tag">urgent</span>}
      </span>
      {explanation !== undefined && <span class="why">{sentenceOf(explanation)}</span>}
      {/* The server explains the first hundred of a queue. */}
      {explanation === undefined && state === 'PENDING' && <span class="why">{index} wait before it.</span>}
      <span class="who">{prAuthor}</span>
      <span class="when">
        {isLeft ? (
          <Ago at={stateChangedAt} />
        ) : forecast?.landsAtP50 !== undefined ? (
          <>
            lands <Ago at={forecast.landsAtP50} />
          </>
        ) : (
          <Since at={stateChangedAt} />
        )}
      </span>
    </a>
  );
}
