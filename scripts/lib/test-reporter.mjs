// A reporter that prints nothing: it sends scripts/lib/test-child.mjs one JSON line per event, on file descriptor 3.
import { writeSync } from 'node:fs';
import { inspect } from 'node:util';
import { usedCpuMs } from './cpu-time.mjs';

/** A diff of two large values is longer than anyone reads. */
const longestError = 20_000;

/** The pipes of this process itself, and what ends by itself. */
const everOpen = new Set(['PipeWrap', 'TTYWrap', 'Immediate', 'CloseReq', 'FSReqPromise']);

/** The names of the tests around the present one; the outermost is the file. */
const names = [];

// biome-ignore lint/style/noDefaultExport: node:test finds a reporter by its default export.
export default async function* report(events) {
  for await (const { type, data } of events) {
    for (const message of toMessages(type, data)) writeSync(3, `${JSON.stringify(message)}\n`);
  }
  yield '';
}

function toMessages(type, data) {
  const isEnd = type === 'test:pass' || type === 'test:fail';
  if (type === 'test:dequeue' && data.nesting > 0) return [{ kind: 'running', name: data.name }];
  if (type === 'test:start') {
    names.length = data.nesting;
    names[data.nesting] = data.name;
  }
  if (!isEnd) return [];
  const messages = type === 'test:fail' ? toFailures(data) : toPasses(data);
  return data.nesting === 0 ? [...messages, describeProcess()] : messages;
}

function toPasses({ details, skip }) {
  if (details?.type === 'suite') return [];
  return [{ kind: skip === undefined ? 'passed' : 'skipped' }];
}

/** A suite fails if one of its tests fails. That is not a failure of its own. */
function toFailures({ nesting, name, details: { error } }) {
  if (error.failureType === 'subtestsFailed') return [];
  const path = nesting === 0 ? ['(the whole file)'] : [...names.slice(1, nesting), name];
  return [{ kind: 'failed', name: path.join(' > '), error: describeError(error) }];
}

function describeError(error) {
  const text = typeof error.cause === 'string' ? error.cause : inspect(error.cause ?? error, { depth: 6 });
  return text.length > longestError ? `${text.slice(0, longestError)}\n... (${text.length} characters)` : text;
}

function describeProcess() {
  const open = process.getActiveResourcesInfo().filter((kind) => !everOpen.has(kind));
  return { kind: 'ended', cpuMs: usedCpuMs(), bytes: process.memoryUsage.rss(), open };
}
