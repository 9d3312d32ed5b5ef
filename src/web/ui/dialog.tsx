import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { ApiProblem } from '../core/api.ts';
import { useModal } from './use-modal.ts';

interface Asking {
  readonly title: string;
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly children?: ComponentChildren;
  readonly onDone: () => void;
  /** Does it. A problem keeps the dialog open and is shown. */
  readonly act: () => Promise<unknown>;
}

/** Asks before something is done. */
export function Dialog({ title, action, isDangerous = false, children, act, onDone }: Asking) {
  const element = useModal();
  const problem = useSignal<string | undefined>(undefined);
  const isBusy = useSignal(false);
  const titleId = useId();
  const close = () => element.current?.close();
  const run = async (event: Event) => {
    event.preventDefault();
    if (isBusy.value) return;
    isBusy.value = true;
    try {
      await act();
      close();
    } catch (error) {
      problem.value = error instanceof ApiProblem ? error.message : String(error);
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <dialog ref={element} onClose={onDone} aria-labelledby={titleId}>
      <form onSubmit={(event) => void run(event)}>
        <h2 id={titleId}>{title}</h2>
        {children}
        {problem.value !== undefined && (
          <p class="wrong" role="alert">
            {problem.value}
          </p>
        )}
        <div class="actions">
          <button type="button" onClick={close}>
            Not now
          </button>
          <button type="submit" class={isDangerous ? 'dangerous' : 'main'} disabled={isBusy.value}>
            {isBusy.value ? 'Working …' : action}
          </button>
        </div>
      </form>
    </dialog>
  );
}
