import { useSignal } from '@preact/signals';
import { call } from '../../core/api.ts';
import { type RepoPlace, testScope } from '../../core/places.ts';
import type { Upload } from '../../core/replies.ts';
import { may } from '../../core/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ReasonField } from '../../ui/fields.tsx';
import { useAsked } from '../../ui/use-asked.tsx';

interface Props {
  readonly place: RepoPlace;
  readonly upload: Upload;
  readonly onChange: () => void;
}

/** Processes an upload again, or takes it back, for those who may. */
export function UploadActions({ place, upload, onChange }: Props) {
  const { asked, done, button } = useAsked<'again' | 'ignore'>(onChange);
  const reason = useSignal('');
  if (!may(place, 'maintain')) return null;
  const body = { ...testScope(place), upload_id: upload.id };
  return (
    <div class="actions">
      {upload.status !== 'ACCEPTED' && button('again', 'Process again', 'link')}
      {upload.status === 'PROCESSED' && upload.ignored === undefined && button('ignore', 'Ignore', 'link')}
      {asked === 'again' && (
        <Dialog
          title="Process this upload again?"
          action="Process again"
          act={() => call(place.org, 'processUploadAgain', body)}
          onDone={done}
        >
          <p>The files are read again as they came. Nothing is counted twice.</p>
        </Dialog>
      )}
      {asked === 'ignore' && (
        <Dialog
          title="Take this upload back?"
          action="Ignore it"
          isDangerous
          act={() => call(place.org, 'ignoreUpload', { ...body, reason: reason.value.trim() })}
          onDone={done}
        >
          <p>Its runs are still shown. Statuses and quarantines that followed from them are restored.</p>
          <ReasonField value={reason} isNeeded />
        </Dialog>
      )}
    </div>
  );
}
