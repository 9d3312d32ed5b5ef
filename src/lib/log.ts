import { formatInstant } from './clock.ts';
import { activeSpan } from './trace.ts';

/** Structured log lines: fields in the object, a short text for people. */
export interface Log {
  debug(facts: object, text: string): void;
  info(facts: object, text: string): void;
  warn(facts: object, text: string): void;
  error(facts: object, text: string): void;
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Format = (level: LogLevel, facts: object, text: string) => string;

/** The line ends with a newline. */
type WriteLine = (line: string, level: LogLevel) => void;

/** One JSON object per line, for programs. */
export function createJsonLog(level: LogLevel, write: WriteLine): Log {
  return createLog(level, write, formatJson);
}

/** One readable line, for people at a terminal. */
export function createTextLog(level: LogLevel, write: WriteLine): Log {
  return createLog(level, write, formatText);
}

function createLog(level: LogLevel, write: WriteLine, format: Format): Log {
  const least = LOG_LEVELS.indexOf(level);
  const at = (own: LogLevel) =>
    LOG_LEVELS.indexOf(own) < least ? () => {} : (facts: object, text: string) => write(format(own, facts, text), own);
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function formatJson(level: LogLevel, facts: object, text: string): string {
  // The name is that of OpenTelemetry for logs of other forms.
  const trace_id = activeSpan()?.traceId;
  return `${JSON.stringify({ level, time: formatNow(), ...withoutErrors(facts), trace_id, text })}\n`;
}

let lastSecond = 0;
let lastText = '';

/** Lines of the same second share the formatted instant up to its point. */
function formatNow(): string {
  const now = Date.now();
  const second = Math.floor(now / 1_000);
  if (second !== lastSecond) lastText = formatInstant(now).slice(0, -'000Z'.length);
  lastSecond = second;
  return `${lastText}${String(now % 1_000).padStart(3, '0')}Z`;
}

/** JSON.stringify shows nothing of an error, so its message, stack and cause are copied. */
function withoutErrors(facts: object): object {
  return 'err' in facts ? { ...facts, err: describeError(facts.err) } : facts;
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const { name, message, stack, cause } = error;
  const code = 'code' in error ? String(error.code) : undefined;
  return { name, code, message, stack, cause: cause === undefined ? undefined : describeError(cause) };
}

const COLOURS: { readonly [Level in LogLevel]: string } = { debug: '90', info: '32', warn: '33', error: '31' };

function formatText(level: LogLevel, facts: object, text: string): string {
  const time = formatNow().slice(11, 23);
  const details = Object.entries(withoutErrors(facts))
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const words = withoutControls([text, ...details].join(' '));
  return `\u001b[90m${time}\u001b[0m \u001b[${COLOURS[level]}m${level}\u001b[0m ${words}\n`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Titles and names come from strangers, and a terminal obeys control characters. */
function withoutControls(text: string): string {
  return text.replace(CONTROLS, '\ufffd');
}
