import { useSignal } from '@preact/signals';
import { call } from '../../core/api.ts';
import { type RepoPlace, testScope } from '../../core/places.ts';
import type { Upload } from '../../core/replies.ts';
import { may } from '../../core/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ReasonField } from '../../ui/fields.tsx';

interface Props {
  readonly place: RepoPlace;
  readonly upload: Upload;
  readonly onChange: () => void;
}

/** Processes an upload again, or takes it back, for those who may. */
export function UploadActions({ place, upload, onChange }: Props) {
  const asked = useSignal<'again' | 'ignore' | undefined>(undefined);
  const reason = useSignal('');
  if (!may(place, 'maintain')) return null;
  const done = () => {
    asked.value = undefined;
    onChange();
  };
  const body = { ...testScope(place), upload_id: upload.id };
  const button = (act: 'again' | 'ignore', text: string) => (
    <button
      type="button"
      class="link"
      onClick={() => {
        asked.value = act;
      }}
    >
      {text}
    </button>
  );
  return (
    <div class="actions">
      {upload.status !== 'ACCEPTED' && button('again', 'Process again')}
      {upload.status === 'PROCESSED' && upload.ignored === undefined && button('ignore', 'Ignore')}
      {asked.value === 'again' && (
        <Dialog
          title="Process this upload again?"
          action="Process again"
          act={() => call(place.org, 'processUploadAgain', body)}
          onDone={done}
        >
          <p>The files are read again as they came. Nothing is counted twice.</p>
        </Dialog>
      )}
      {asked.value === 'ignore' && (
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
