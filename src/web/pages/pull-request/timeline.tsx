import type { PullRequest } from '../../core/replies.ts';
import { type QueuePlace, toPath } from '../../core/route.ts';
import { isStranger } from '../../core/stranger.ts';
import { lookOfEntry } from '../../model/state.ts';
import { Shape } from '../../ui/shape.tsx';
import { Ago, Sentence } from '../../ui/text.tsx';

interface Props {
  readonly place: QueuePlace;
  readonly prNumber: number;
  readonly timeline: NonNullable<PullRequest['timeline']>;
}

/** Every change of state, newest first. An instant leads to the queue as it was then. */
export function Timeline({ place, timeline }: Props) {
  return (
    <section aria-label="Timeline">
      <h2>Timeline</h2>
      <ol class="timeline">
        {timeline.map(({ at, state, text, actor }, index) => {
          const look = lookOfEntry(state);
          return (
            <li key={`${at} ${index}`} class={`tone-${look.tone}`}>
              <Shape name={look.shape} />
              {isStranger.value ? (
                <span class="at">
                  <Ago at={at} isClock />
                </span>
              ) : (
                <a
                  class="at"
                  href={`${toPath({ page: 'queue', ...place })}?at=${encodeURIComponent(at)}`}
                  title="The queue as it was then"
                >
                  <Ago at={at} isClock />
                </a>
              )}
              <span>
                <Sentence text={text} />
                {actor !== undefined && <span class="muted"> by {actor}</span>}
              </span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
