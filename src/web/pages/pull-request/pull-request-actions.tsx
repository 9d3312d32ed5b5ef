import { call } from '../../core/api.ts';
import { keyOf, queueBody, touches } from '../../core/places.ts';
import type { PullRequest } from '../../core/replies.ts';
import { useResource } from '../../core/resource.ts';
import type { QueuePlace } from '../../core/route.ts';
import { may } from '../../core/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Loaded } from '../../ui/page-states.tsx';
import { Sentence } from '../../ui/text.tsx';
import { useAsked } from '../../ui/use-asked.tsx';

interface Props {
  readonly place: QueuePlace;
  readonly entry: PullRequest;
  readonly onChange: () => void;
}

type Act = 'cancel' | 'restart' | 'submit' | 'urgent';

/** Acts on the pull request, for those who may. */
export function PullRequestActions({ place, entry, onChange }: Props) {
  const { asked, done, button } = useAsked<Act>(onChange);
  if (!may(place, 'submit', entry.prAuthor)) return null;
  const { prNumber, isCurrentlySubmittedToQueue: isLive, skipTheLine, state } = entry;
  const body = { ...queueBody(place), pr: { number: prNumber } };
  return (
    <div class="actions">
      {isLive && state === 'TESTING' && button('restart', 'Restart tests')}
      {isLive && !skipTheLine && button('urgent', 'Make urgent')}
      {/* In one place, so that the focus stays when one takes the place of the other. */}
      {isLive
        ? button('cancel', 'Cancel')
        : state !== 'MERGED' && button('submit', state === undefined ? 'Submit' : 'Submit again', 'main')}
      {asked === 'cancel' && (
        <Dialog
          title={`Take #${prNumber} out of the queue?`}
          action="Take it out"
          isDangerous
          onDone={done}
          act={() => call(place.org, 'cancelPullRequest', body)}
        >
          <p>It is not tested any more. It can be submitted again at any time.</p>
        </Dialog>
      )}
      {asked === 'restart' && (
        <Dialog
          title={`Test #${prNumber} again?`}
          action="Restart tests"
          onDone={done}
          act={() => call(place.org, 'restartTestsOnPullRequest', body)}
        >
          <p>Its run begins again, with every pull request in it. Runs that are built on it go on.</p>
        </Dialog>
      )}
      {asked === 'urgent' && (
        <Dialog
          title={`Make #${prNumber} urgent?`}
          action="Make urgent"
          onDone={done}
          act={() => call(place.org, 'submitPullRequest', { ...body, priority: 'urgent' })}
        >
          <Preview place={place} prNumber={prNumber} />
        </Dialog>
      )}
      {asked === 'submit' && (
        <Dialog
          title={`Submit #${prNumber}?`}
          action="Submit"
          onDone={done}
          act={() => call(place.org, 'submitPullRequest', body)}
        >
          <p>Sluice tests it with everything that is ahead of it, and lands it if that passes.</p>
        </Dialog>
      )}
    </div>
  );
}

/** The queue says itself what it would do. */
function Preview({ place, prNumber }: { readonly place: QueuePlace; readonly prNumber: number }) {
  const preview = useResource(
    `urgent ${keyOf(place)} ${prNumber}`,
    (signal) => {
      const body = { ...queueBody(place), pr: { number: prNumber }, priority: 'urgent' };
      return call(place.org, 'previewSubmission', body, { signal });
    },
    { isTouchedBy: (event) => touches(place, event) },
  );
  return (
    <Loaded of={preview} lines={2}>
      {({ text }) => (
        <p>
          <Sentence text={text} />
        </p>
      )}
    </Loaded>
  );
}
