import type { ComponentChildren } from 'preact';
import { useModal } from './use-modal.ts';

interface Props {
  readonly label: string;
  readonly name: string;
  readonly onDone: () => void;
  readonly children: ComponentChildren;
}

/** A dialog that asks for nothing: Escape and a click beside it close it. */
export function LightDialog({ label, name, onDone, children }: Props) {
  const element = useModal();
  return (
    <dialog ref={element} class={name} aria-label={label} onClose={onDone} {...{ closedby: 'any' }}>
      <div>{children}</div>
    </dialog>
  );
}
