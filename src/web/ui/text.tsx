import { useComputed, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { shownNow } from '../core/clock.ts';
import { formatClock, formatDuration, formatExact, formatRelative } from '../model/time.ts';

/** An instant: from now, and exactly on hover. */
export function Ago({ at, isClock = false }: { readonly at: string; readonly isClock?: boolean }) {
  const instant = Date.parse(at);
  const text = useComputed(() =>
    isClock ? formatClock(instant, shownNow.value) : formatRelative(instant, shownNow.value),
  );
  return (
    <time dateTime={at} title={formatExact(instant)}>
      {text}
    </time>
  );
}

/** The time since an instant, which goes on. */
export function Since({ at }: { readonly at: string }) {
  const instant = Date.parse(at);
  const text = useComputed(() => formatDuration(shownNow.value - instant));
  return (
    <time dateTime={at} title={`since ${formatExact(instant)}`}>
      {text}
    </time>
  );
}

/** An id in short, which a click copies whole. */
export function Copy({ text, shown }: { readonly text: string; readonly shown?: ComponentChildren }) {
  const isCopied = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    isCopied.value = true;
    setTimeout(() => {
      isCopied.value = false;
    }, 1_500);
  };
  return (
    <button type="button" class="copy" title={`Copy ${text}`} onClick={() => void copy()}>
      <code {...(shown === undefined ? {} : { 'data-whole': text })}>{shown ?? text}</code>
      <span class="copied" aria-live="polite">
        {isCopied.value ? 'copied' : ''}
      </span>
    </button>
  );
}

export function Sha({ sha }: { readonly sha: string }) {
  return <Copy text={sha} shown={sha.slice(0, 10)} />;
}

/** Sentences of the server have code between backticks. */
export function Sentence({ text }: { readonly text: string }) {
  const parts = text.split(/`([^`\n]+)`/);
  return <>{parts.map((part, index) => (index % 2 === 1 ? <code key={`${index}`}>{part}</code> : part))}</>;
}
