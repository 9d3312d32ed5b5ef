import type { PullRequest } from '../../core/replies.ts';
import { type QueuePlace, toPath } from '../../core/route.ts';
import { External } from '../../ui/external.tsx';
import { Ago, Sentence } from '../../ui/text.tsx';

type Reason = NonNullable<PullRequest['explanation']>['reasons'][number];

/** The explanation as a tree: each reason with the reasons behind it. */
export function Reasons({ place, reasons }: { readonly place: QueuePlace; readonly reasons: readonly Reason[] }) {
  return (
    <ul class="reasons">
      {reasons.map((reason, index) => (
        <li key={`${reason.code} ${index}`}>
          <span>
            <Sentence text={reason.text} />{' '}
            {reason.prNumber !== undefined && (
              <a href={toPath({ page: 'pr', ...place, prNumber: reason.prNumber })}>#{reason.prNumber}</a>
            )}{' '}
            {reason.url !== undefined && reason.url !== '' && <External url={reason.url}>log</External>}{' '}
            {reason.since !== undefined && (
              <span class="muted">
                <Ago at={reason.since} />
              </span>
            )}
          </span>
          {reason.reasons.length > 0 && <Reasons place={place} reasons={reason.reasons} />}
        </li>
      ))}
    </ul>
  );
}
